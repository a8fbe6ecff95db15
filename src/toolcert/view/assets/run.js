// A run: its certificate, its models, and all of its cases.
import { append, button, copyText, count, el, fill, icon, plural, prose, seconds, severity, sign } from "./dom.js";
import { address, get, listen, quoted, seldom } from "./net.js";
import { caseList } from "./cases.js";

const MOST_MODELS = 400;

export function runPage(main, { run, go, from }) {
  document.title = `${run} · toolcert view`;
  const base = `/runs/${encodeURIComponent(run)}`;
  const top = el("div");
  const models = el("div");
  append(main, [top, models]);
  const list = caseList(main, { run, go, from }); // not after the certificate, which may take longer
  let told = null, ended = false, listed = -1;

  async function load() {
    const first = told === null;
    try { told = await get(`/api${base}`); } catch (error) { fill(top, el("p.t-bad", { role: "alert" }, error.message)); return; }
    if (ended) return;
    draw();
    compare();
    if (first) list.back().catch(() => {}); // the list is shown from its beginning
  }

  /** The list is told once of every new number of cases, whoever brings it first. */
  function compare() {
    list.know(told);
    if (told.index.cases !== listed) grown();
    listed = told.index.cases;
  }

  function draw() {
    const { card } = told;
    fill(top, certificate(card), progress());
    fill(models, told.live.length ? liveTable() : "", card && card.models.length > 1 ? modelTable(card) : "", card && card.findings.length ? findings(card) : "", card && card.speeds.length ? speeds(card) : "");
  }

  const several = () => told.endpoints.length > 1;
  const casesOf = (one) => address(base, { q: quoted("model", one.model) + (several() ? ` ${quoted("endpoint", one.endpoint)}` : "") });

  function certificate(card) {
    const link = el("span", {}, "Copy link");
    const signs = card && !card.tally.length ? sign(card.role, card.word) : el("span", {}, `No. ${run}`);
    return el("div.certificate", {},
      el("p.kind", {}, el("span", {}, card ? card.kind + (card.unfinished ? ", run not finished" : "") : `${told.job} run`), signs),
      el("h1", {}, card ? card.headline : told.headline || `Reading the log of ${told.models.length === 1 ? told.models[0] : plural(told.models.length, "model")}.`),
      card && card.lines.length ? el("p.lines", {}, card.lines.join(" ")) : "",
      card && card.tally.length ? el("ul.tally", { "aria-label": "Models by verdict" }, card.tally.map((one) => el("li", {}, sign(one.role, one.word), el("b", {}, one.number)))) : "",
      el("dl.facts", {}, (card ? card.facts : [["Endpoint", told.addresses.join(", ")], ["Suite or dataset", told.suite]]).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
      el("p.actions", {}, el("a.button", { href: `${base}/report`, target: "_blank", rel: "noopener" }, "Full report"),
        el("button.button", { type: "button", on: { click: () => copyText(location.href, link) } }, link),
        told.job === "load" ? "" : button("Side by side with…", () => go(address("/sides", { runs: run }))),
        el("span.label", {}, told.folder)));
  }

  function progress() {
    const { index, size, state } = told;
    const share = size ? index.searchable / size : 1;
    const parts = [];
    if (state === "running") parts.push(el("span.sign.running", {}, el("i.dot"), el("span", {}, `running, ${count(index.cases)}${told.planned ? ` of ${count(told.planned)}` : ""} cases so far`)));
    if (share < 1) parts.push(`Search reads the log: ${Math.floor(share * 100)} %.`);
    else if (index.seconds >= 1) parts.push(`${plural(index.cases, "case")}, index made in ${seconds(index.seconds)} s and kept.`);
    if (index.damaged) parts.push(el("span.t-bad", {}, `${plural(index.damaged, "line")} of the log cannot be read.`));
    if (told.marks) parts.push(el("a", { href: address(base, { q: "mark:any" }) }, plural(told.marks, "mark")));
    return parts.length ? el("p.progress.label", { role: "status" }, parts.map((one) => el("span", {}, one))) : "";
  }

  /** Counts by model while the run goes on; verdicts come with the certificate. */
  function liveTable() {
    const lines = new Map();
    for (const [endpoint, model, outcome, number, mean] of told.live) {
      const key = JSON.stringify([endpoint, model]);
      const line = lines.get(key) || { endpoint, model, passed: 0, failed: 0, unsupported: 0, not_measured: 0, skipped: 0, time: 0, timed: 0 };
      line[outcome] = (line[outcome] || 0) + number;
      if (mean !== null) { line.time += mean * number; line.timed += number; }
      lines.set(key, line);
    }
    const card = told.card ? new Map(told.card.models.map((one) => [JSON.stringify([one.endpoint, one.model]), one])) : new Map();
    const row = (line) => {
      const known = card.get(JSON.stringify([line.endpoint, line.model]));
      const measured = line.passed + line.failed;
      return el("tr", {}, el("th.break", { scope: "row" }, el("a.plain", { href: casesOf(line) }, line.model), el("span.under", {}, line.endpoint)),
        el("td", {}, known && known.word ? sign(known.role, known.word) : sign("unknown", "not yet")),
        ...[["passed", `${count(line.passed)}/${count(measured)}`], ["failed", count(line.failed)], ["unsupported", count(line.unsupported)], ["not measured", count(line.not_measured)], ["skipped", count(line.skipped)], ["mean, s", line.timed ? seconds(line.time / line.timed) : "–"]].map(([name, value]) => el("td.num", { "data-label": name }, value)));
    };
    const heads = ["Model", "Verdict so far", "Passed", "Failed", "Unsupported", "Not measured", "Skipped", "Mean, s"];
    return el("section", { "aria-labelledby": "so-far" }, el("div.heading", {}, el("h2", { id: "so-far" }, "So far, by model ", el("span.faint", {}, count(lines.size))), el("p", {}, "Counts as they stand; the verdict is that of the last summing up.")),
      el("table.stack", { "aria-label": "So far, by model" }, el("thead", {}, el("tr", {}, heads.map((name, at) => el(`th${at > 1 ? ".num" : ""}`, { scope: "col" }, name)))), el("tbody", {}, [...lines.values()].slice(0, MOST_MODELS).map(row))));
  }

  function modelTable(card) {
    if (told.live.length) return "";
    const row = (one) => el("tr", {}, el("th.break", { scope: "row" }, el("a.plain", { href: casesOf(one) }, one.model), several() ? el("span.under", {}, one.endpoint) : ""),
      el("td.num.right", {}, el("b", {}, one.score)), el("td.verdict", {}, sign(one.role, one.word)), el("td.num", { "data-label": "reliable" }, one.reliable || "–"),
      el("td.num", { "data-label": "call" }, seconds(one.call)), el("td.num", { "data-label": "answer" }, seconds(one.answer)), el("td.quiet.reason.break", {}, one.reason));
    const heads = [["Model"], ["Score", 1], ["Verdict"], ["Reliable", 1], ["Call, s", 1], ["Answer, s", 1], ["Main reason"]];
    return el("section", { "aria-labelledby": "models" }, el("div.heading", {}, el("h2", { id: "models" }, "Models, best first ", el("span.faint", {}, count(card.models.length))), el("p", {}, "A name shows the cases of that model below.")),
      el("table.stack.ranking", { "aria-label": "Models" }, el("thead", {}, el("tr", {}, heads.map(([name, num]) => el(`th${num ? ".num" : ""}`, { scope: "col" }, name)))), el("tbody", {}, card.models.slice(0, MOST_MODELS).map(row))));
  }

  function findings(card) {
    const line = (one) => el("li", {}, el("a.plain", { href: address(base, { q: quoted("finding", one.code) }) }, severity(one.severity), el("code.code", {}, one.code), el("span.title", {}, prose(one.title)), el("span.num", {}, `${count(one.number)} `, el("span.faint", {}, one.number === 1 ? "case" : "cases")), icon("arrow", "turn")));
    const shown = card.findings.slice(0, 6), rest = card.findings.slice(6);
    return el("section", { "aria-labelledby": "found" }, el("div.heading", {}, el("h2", { id: "found" }, "Findings ", el("span.faint", {}, count(card.findings.length))), el("p", {}, "A finding shows its cases below.")),
      el("ul.found", {}, shown.map(line)), rest.length ? el("details.rest", {}, el("summary.button", {}, `${rest.length} more`), el("ul.found", {}, rest.map(line))) : "");
  }

  /** How fast it answers, as the pages say it. */
  function speeds(card) {
    const figures = ({ first_token: token, call, tokens_per_second: speed }) => [["first token", seconds(token.p50)], ["p95", seconds(token.p95)], ["whole call", seconds(call.p50)], ["p95", seconds(call.p95)], ["p99", seconds(call.p99)], ["tokens/s", speed.n ? count(Math.round(speed.p50)) : "–"]];
    const row = ([name, timings]) => el("tr", {}, el("th.break", { scope: "row" }, name), figures(timings).map(([label, value]) => el("td.num", { "data-label": label }, value)));
    const heads = [told.job === "load" ? "Load" : "Model", "First token p50", "p95", "Whole call p50", "p95", "p99", "Tokens/s p50"];
    const table = el("table.stack", { "aria-label": "Speed" }, el("thead", {}, el("tr", {}, heads.map((name, at) => el(`th${at ? ".num" : ""}`, { scope: "col" }, name)))), el("tbody", {}, card.speeds.slice(0, MOST_MODELS).map(row)));
    return el("section", { "aria-labelledby": "speed" }, el("div.heading", {}, el("h2", { id: "speed" }, "Speed"), el("p", {}, "Seconds per attempt, without queueing or back-off. p95: 95 % of the answers were not slower.")),
      card.speeds.length > 6 ? el("details.rest", {}, el("summary.button", {}, plural(card.speeds.length, "model")), table) : table);
  }

  const again = seldom(1000, load);
  const grown = seldom(1000, () => list.grown());
  const deaf = listen(run, { grown: (news) => {
    if (!told) return;
    told = { ...told, ...news };
    compare();
    again();
  } });
  load();
  return () => { ended = true; deaf(); list.close(); };
}
