// The list of runs, newest first, and a search through the cases of all of them.
import { append, button, count, el, fill, moment, outcome, plural, sign } from "./dom.js";
import { address, after, get, listen, state } from "./net.js";
import { keyboard } from "./keys.js";

const FIELDS = ["q", "job", "endpoint", "model", "verdict", "from", "to"];

export function runsPage(main, { go }) {
  document.title = "Runs · toolcert view";
  let all = [];
  let chosen = new Set();
  const places = el("p");
  const output = el("output");
  const body = el("tbody");
  const hits = el("section", { "aria-live": "polite" });
  const sides = button("Side by side", () => go(address("/sides", { runs: earliest([...chosen]).join(",") })), { disabled: true });
  const earliest = (names) => all.filter((run) => names.includes(run.run)).sort((one, other) => one.started_at - other.started_at).map((run) => run.run);
  const form = controls();
  const none = el("p.none", { role: "status" }, "No run fits these filters.");
  const heads = ["", "Started", "Verdict", "Target", "Suite or dataset", "Cases", "Cost", "What it says"];
  const head = heads.map((name, number) => el(`th${number === 5 || number === 6 ? ".num" : ""}`, { scope: "col" }, name || el("span.hidden", {}, "Choose")));
  append(main, [
    el("div.heading", {}, el("h1", {}, "Runs, newest first"), places),
    form, hits,
    el("table.stack.long.runs", { "aria-label": "Runs" }, el("thead", {}, el("tr", {}, head)), body), none,
  ]);

  function controls() {
    const change = () => { write(); draw(); };
    const select = (name, label) => el("label", {}, `${label} `, el("select", { name, on: { change } }, el("option", { value: "" }, "any")));
    const day = (name, label) => el("label", {}, `${label} `, el("input", { type: "date", name, on: { change } }));
    const search = el("input", { type: "search", name: "q", placeholder: "Search runs and all cases", "aria-label": "Search runs and all cases", on: { input: after(180, () => { change(); look(); }) } });
    return el("form.controls", { role: "search", "aria-label": "Filter runs", on: { submit: (event) => { event.preventDefault(); look(); } } },
      el("label.whole", {}, search), select("job", "Kind"), select("endpoint", "Endpoint"), select("model", "Model"), select("verdict", "Verdict"), day("from", "From"), day("to", "To"),
      button("Reset", () => { form.reset(); change(); fill(hits); }), sides, output);
  }

  function write() {
    const given = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value.trim()]));
    const now = address("/", given);
    if (now !== location.pathname + location.search) history.replaceState(null, "", now);
  }

  function options(name, values) {
    const field = form.elements[name];
    const wanted = field.value || state()[name] || "";
    const option = (value) => { const made = el("option", {}, value); made.value = value; return made; };
    fill(field, el("option", { value: "" }, "any"), [...new Set([...values, wanted])].filter(Boolean).sort().map(option));
    field.value = wanted;
  }

  const words = (run) => [run.run, run.folder, run.job, run.suite, run.headline, ...run.endpoints, ...run.addresses, ...run.models].join(" ").toLowerCase();
  const verdicts = (run) => [run.word, ...run.tally.map((one) => one.word)].filter(Boolean);

  function fits(run) {
    const { q, job, endpoint, model, verdict, from, to } = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value.trim()]));
    const day = moment(run.started_at).slice(0, 10);
    return (!job || run.job === job) && (!endpoint || run.endpoints.includes(endpoint)) && (!model || run.models.includes(model))
      && (!verdict || verdicts(run).includes(verdict)) && (!from || day >= from) && (!to || day <= to)
      && (!q || hitRuns.has(run.run) || q.toLowerCase().split(/\s+/).every((word) => words(run).includes(word)));
  }

  let hitRuns = new Set();
  async function look() {
    const q = form.elements.q.value.trim();
    hitRuns = new Set();
    if (q.length < 2) { fill(hits); draw(); return; }
    try {
      const found = await get("/api/search", { q });
      if (q !== form.elements.q.value.trim()) return;
      const cases = found.hits.reduce((sum, hit) => sum + hit.cases, 0);
      found.hits.forEach((hit) => hitRuns.add(hit.run));
      fill(hits, el("div.heading", {}, el("h2", {}, "In the cases ", el("span.faint", {}, `${plural(cases, "case")} in ${plural(found.hits.length, "run")}`)),
        found.unread ? el("p", {}, `${plural(found.unread, "run")} not read to the end yet; a large one is read when it is opened.`) : ""),
      el("ul.hits", {}, found.hits.slice(0, 20).map((hit) => el("li", {}, el("a", { href: address(`/runs/${hit.run}`, { q }) }, hit.run), ` ${plural(hit.cases, "case")} `,
        hit.first.map((one) => el("a.plain.hit", { href: address(`/runs/${hit.run}`, { q, case: one.key }) }, outcome(one.outcome), el("code", {}, one.key)))))));
    } catch (error) { fill(hits, el("p.t-bad", { role: "alert" }, error.message)); }
    draw();
  }

  function row(run) {
    const box = el("input", { type: "checkbox", "aria-label": `Choose run ${run.run}`, on: { change: () => { box.checked ? chosen.add(run.run) : chosen.delete(run.run); sides.disabled = chosen.size < 2; } } });
    box.checked = chosen.has(run.run);
    const models = run.models.length === 1 ? run.models[0] : `${count(run.models.length)} models`;
    const several = run.tally.length > 1;
    const verdict = run.state === "running" ? el("span.sign.running", {}, el("i.dot"), el("span", {}, "running"))
      : several ? run.tally.map((one) => el("span.standing", {}, sign(one.role, one.word), ` ${one.number}`)) : sign(run.role, run.word || "not read yet");
    return el("tr", { data: { run: run.run } },
      el("td.choose", {}, box),
      el("th", { scope: "row" }, el("a", { href: `/runs/${run.run}` }, moment(run.started_at) || run.run), el("span.under", {}, `${run.job} ${run.folder.split(/[/\\]/).pop()}`)),
      el("td.verdict", {}, verdict),
      el("td.break", {}, el("span.clamp", {}, models), el("span.under.clamp", {}, run.endpoints.join(", "))),
      el("td.break.quiet", { title: run.suite }, el("span.clamp", {}, run.suite.split(/[/\\]/).pop())),
      el("td.num", { "data-label": "cases" }, count(run.index.cases)),
      el("td.num", {}, run.cost),
      el("td.quiet.reason.break", {}, el("span.clamp", {}, run.headline)));
  }

  function draw() {
    const kept = document.activeElement && document.activeElement.closest ? document.activeElement.closest("tr[data-run]") : null;
    const shown = all.filter(fits);
    fill(body, shown.map(row));
    output.textContent = `${shown.length} of ${plural(all.length, "run")}`;
    none.classList.toggle("shown", shown.length === 0);
    if (kept) [...body.rows].find((one) => one.dataset.run === kept.dataset.run)?.querySelector("a").focus();
  }

  async function load() {
    try {
      const told = await get("/api/runs");
      all = told.runs;
      fill(places, told.places.length ? `Below ${told.places.join(", ")}. ` : "", told.troubles.map((one) => el("span.t-bad", {}, `${one.folder}: ${one.why} `)));
      options("job", all.map((run) => run.job));
      options("endpoint", all.flatMap((run) => run.endpoints));
      options("model", all.flatMap((run) => run.models));
      options("verdict", all.flatMap(verdicts));
      none.textContent = all.length ? "No run fits these filters." : "There is no run here yet. toolcert probe and toolcert verify write into toolcert-runs; a new run appears by itself.";
      draw();
    } catch (error) { fill(places, el("span.t-bad", { role: "alert" }, error.message)); }
  }

  const step = (by) => {
    const links = [...body.querySelectorAll("th a")];
    const at = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))]?.focus();
  };
  keyboard.add({
    j: ["next run", () => step(1)], k: ["run before", () => step(-1)], ArrowDown: ["next run", () => step(1)], ArrowUp: ["run before", () => step(-1)],
    Enter: ["open the run", () => {}],
    x: ["choose the run", () => { const box = document.activeElement.closest("tr")?.querySelector("input"); if (box) box.click(); }],
    s: ["show chosen runs side by side", () => { if (chosen.size > 1) sides.click(); }],
    "/": ["search", () => form.elements.q.focus()],
  });
  const wanted = state();
  FIELDS.forEach((name) => { if (wanted[name] && form.elements[name].tagName === "INPUT") form.elements[name].value = wanted[name]; });
  load().then(() => { if (wanted.q) look(); });
  return listen("", { runs: load, run: (run) => {
    const at = all.findIndex((one) => one.run === run.run);
    if (at < 0) load(); else { all[at] = run; draw(); }
  } });
}
