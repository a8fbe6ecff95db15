// Runs side by side: what changed from the first to each of the others, by the tests of `toolcert diff`.
import { append, button, copyText, count, el, fill, moment, plural, prose, seconds, severity, sign } from "./dom.js";
import { address, get, state } from "./net.js";
import { keyboard } from "./keys.js";

const TONES = { worse: "bad", changed: "half", improved: "good", no_evidence: "cannot", not_measured: "unknown", only_before: "unknown", only_after: "unknown" };
const WORDS = { no_evidence: "no evidence of change", not_measured: "not measured", only_before: "only before", only_after: "only after" };
const FOUND = { new: "bad", more: "bad", same: "cannot", rare: "unknown", known: "cannot", less: "good", gone: "good" };
const FOUND_WORDS = { more: "more often", less: "less often", rare: "too rare to tell" };
const change = (value) => sign(TONES[value] || "unknown", WORDS[value] || value);
const rate = (one) => (one.n ? `${count(one.k)}/${count(one.n)}` : "–");
// As the page of `toolcert diff` says it.
const speed = (one) => (one.change === "worse" ? sign("bad", "slower") : one.change === "improved" ? sign("good", "faster") : sign("cannot", one.p !== null && one.p <= 0.05 ? "less than a fifth" : "no evidence of change"));
const value = (one) => (one === null ? "not set" : typeof one === "string" ? one : Array.isArray(one) && one.every((each) => typeof each === "string") ? one.join(", ") : JSON.stringify(one));
const chance = (p) => (p === null ? "–" : p < 0.0001 ? "< 0.0001" : p.toPrecision(2));

export function sidesPage(main, { go }) {
  document.title = "Side by side · toolcert view";
  const { runs = "", at = "0" } = state();
  const names = runs.split(",").filter(Boolean);
  const top = el("div");
  const body = el("div", { "aria-live": "polite" });
  append(main, [top, body]);
  let all = [], words = {}, ended = false;
  const show = (chosen, place = 0) => go(address("/sides", { runs: chosen.join(","), at: place ? String(place) : "" }));
  const label = (run) => `${moment(run.started_at)} ${run.models.length === 1 ? run.models[0] : plural(run.models.length, "model")} (${run.folder.split(/[/\\]/).pop()})`;

  function chooser() {
    const select = (place, title) => {
      const option = (run) => { const made = el("option", {}, label(run)); made.value = run.run; return made; };
      const job = place ? all.find((run) => run.run === names[0])?.job : "";
      const field = el("select", { "aria-label": title, on: { change: () => { const next = [...names]; next[place] = field.value; show(next.filter(Boolean), Math.max(0, place - 1)); } } },
        el("option", { value: "" }, "choose a run"), all.filter((run) => ["probe", "verify"].includes(run.job) && (!job || run.job === job)).map(option));
      field.value = names[place] || "";
      return el("label", {}, `${title} `, field);
    };
    const link = el("span", {}, "Copy link");
    const others = Math.max(1, names.length - 1);
    return el("form.controls", { on: { submit: (event) => event.preventDefault() } }, select(0, "Before"), Array.from({ length: others }, (_, number) => select(number + 1, others > 1 ? `After ${number + 1}` : "After")),
      names.length > 1 ? button("One more", () => { others < 6 && fill(top, heading(), append(chooser(), [select(names.length, `After ${others + 1}`)])); }) : "",
      names.length === 2 ? button("Swap", () => show([names[1], names[0]])) : "",
      el("button.button", { type: "button", on: { click: () => copyText(location.href, link) } }, link));
  }
  const heading = () => el("div.heading", {}, el("h1", {}, "Side by side"), el("p", {}, "Tests share one chance of a false alarm; 3/5 to 4/5 is no evidence of anything."));

  function certificate(one) {
    const side = (run) => `${moment(run.started_at)}, ${run.models.length === 1 ? run.models[0] : plural(run.models.length, "model")}, ${run.about}`;
    return el("div.certificate", {}, el("p.kind", {}, el("span", {}, `Difference of two ${one.job} runs`), change(one.change)), el("h2.verdict-line", {}, one.headline), el("p.lines", {}, prose(one.advice.includes(one.shows) ? one.advice : `${one.advice} ${one.shows}`)),
      el("dl.facts", {}, [["Before", side(one.before)], ["After", side(one.after)], ["Tests", count(one.tests)], ["Chance of a false alarm", String(one.alpha)], ...one.settings.map((setting) => [`Asked differently: ${setting.name}`, `${value(setting.before)} → ${value(setting.after)}`])].map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
  }

  const verdict = (value) => (value ? sign(...(words[value.word] || ["unknown", value.word])) : "–");
  const table = (name, heads, rows) => (rows.length ? el("div.scroll", { tabindex: "0", role: "region", "aria-label": name }, el("table", { "aria-label": name }, el("thead", {}, el("tr", {}, heads.map(([text, num]) => el(`th${num ? ".num" : ""}`, { scope: "col" }, text)))), el("tbody", {}, rows))) : "");
  const num = (text) => el("td.num", {}, text);

  function model(one, sides) {
    const abilities = [...one.abilities].sort((a, b) => (a.p ?? 2) - (b.p ?? 2));
    const [before, after] = sides;
    const times = one.times.filter((time) => time.before_n || time.after_n);
    return el("details", { open: one.change === "worse" || one.change === "changed" || sides.single }, el("summary", {}, el("span.break", {}, el("b", {}, one.name), one.before_name ? el("span.under", {}, `before: ${one.before_name}`) : ""), change(one.change), el("span", {}, verdict(one.before_verdict), " → ", verdict(one.after_verdict)), el("span.num", {}, `${rate(one.before)} → ${rate(one.after)}`)),
      el("div.inside", {},
        table(`What ${one.name} can do`, [[sides.job === "probe" ? "Probe" : "Of the rows"], ["Before", 1], ["After", 1], ["Lost", 1], ["Gained", 1], ["p", 1], ["Change"]], abilities.map((ability) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, ability.name)), num(rate(ability.before)), num(rate(ability.after)), num(count(ability.lost)), num(count(ability.gained)), num(chance(ability.p)), el("td", {}, change(ability.change))))),
        one.findings.length ? el("h3.sub", {}, "Findings") : "",
        table(`Findings of ${one.name}`, [["Severity"], ["Code"], ["Before", 1], ["After", 1], ["p", 1], ["Change"]], one.findings.map((found) => el("tr", {}, el("td", {}, severity(found.severity)), el("th", { scope: "row" }, el("code", {}, found.code)), num(rate(found.before)), num(rate(found.after)), num(chance(found.p)), el("td", {}, sign(FOUND[found.change] || "unknown", FOUND_WORDS[found.change] || found.change))))),
        times.length ? el("h3.sub", {}, "Times") : "",
        table(`Times of ${one.name}`, [["Seconds"], ["p50 before", 1], ["p50 after", 1], ["p95 before", 1], ["p95 after", 1], ["p", 1], ["Change"]], times.map((time) => el("tr", {}, el("th", { scope: "row" }, time.label), num(seconds(time.before_p50)), num(seconds(time.after_p50)), num(seconds(time.before_p95)), num(seconds(time.after_p95)), num(chance(time.p)), el("td", {}, speed(time))))),
        one.cases.length ? el("h3.sub", {}, "Cases with another outcome ", el("span.faint", {}, `${count(one.lost)} lost, ${count(one.gained)} gained of ${plural(one.pairs, "pair")}; the first ${one.cases.length}`)) : el("p.label", {}, `${plural(one.pairs, "pair")}; no case has another outcome.`),
        one.cases.map((pair) => el("details.pair-of-cases", {}, el("summary", {}, el("span", {}, el("code", {}, pair.name)), el("span", {}, `${pair.before.replace("_", " ")} → ${pair.after.replace("_", " ")}`), el("span.quiet.cut", {}, pair.after_codes.join(", ") || pair.before_codes.join(", "))),
          el("p.label", {}, el("a", { href: address(`/runs/${before}`, { case: pair.before_case }) }, "Case before"), " · ", el("a", { href: address(`/runs/${after}`, { case: pair.after_case }) }, "Case after")),
          pair.answer.length ? el("pre.sides-diff", { tabindex: "0", "aria-label": `Both answers of ${pair.name}` }, pair.answer.map((line) => el(`span${line.startsWith("+") ? ".plus" : line.startsWith("-") ? ".minus" : ""}`, {}, line, "\n"))) : el("p.faint", {}, "An answer was not kept.")))));
  }

  async function load() {
    try { all = (await get("/api/runs")).runs; } catch (error) { fill(body, el("p.t-bad", { role: "alert" }, error.message)); return; }
    if (ended) return;
    fill(top, heading(), chooser());
    if (names.length < 2) { fill(body, el("p.quiet", {}, "Choose two runs of the same kind: the one before and the one after a change.")); return; }
    const shown = Math.min(names.length - 2, Math.max(0, Number(at) || 0));
    const told = [];
    for (let place = 1; place < names.length; place += 1) {
      fill(body, el("p.quiet", { role: "status" }, `Holding run ${place} of ${names.length - 1} against the first…`));
      try { const one = await get("/api/sides", { before: names[0], after: names[place] }); words = one.words; told.push(one.difference); } catch (error) { told.push({ trouble: error.message }); }
      if (ended) return;
    }
    const one = told[shown];
    fill(body,
      told.length > 1 ? el("ul.found.sides-list", {}, told.map((each, place) => el("li", {}, el("a.plain", { href: address("/sides", { runs, at: place ? String(place) : "" }), "aria-current": place === shown ? "true" : null }, each.trouble ? sign("unknown", "not compared") : change(each.change), el("span", {}, each.trouble || each.headline))))) : "",
      one.trouble ? el("p.t-bad", { role: "alert" }, one.trouble) : [certificate(one), el("section", { "aria-labelledby": "sides-models" }, el("div.heading", {}, el("h2", { id: "sides-models" }, "By model"), el("p", {}, "The most urgent first. p: adjusted for all tests; lost: passed before and not now.")),
        el("div.rows.sides", {}, one.models.map((each) => model(each, Object.assign([names[0], names[shown + 1]], { single: one.models.length === 1, job: one.job })))))]);
  }

  const step = (by) => {
    const lines = [...body.querySelectorAll(".sides summary")];
    const place = lines.indexOf(document.activeElement);
    lines[Math.max(0, Math.min(lines.length - 1, place + by))]?.focus();
  };
  keyboard.add({ j: ["next", () => step(1)], k: ["before", () => step(-1)], Enter: ["open or close", () => {}], Escape: ["back to the runs", () => go("/")] });
  load();
  return () => { ended = true; };
}
