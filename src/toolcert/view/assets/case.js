// A case: the conversation beside the wire, the judgement step by step, attempts, curl, marks.
import { append, button, bytes, copyText, copyable, count, drawing, el, fill, icon, instant, moment, outcome, plural, prose, seconds, severity, shell, sign } from "./dom.js";
import { address, get, post, state } from "./net.js";
import { keyboard } from "./keys.js";

const AROUND = 3;

export function casePage(main, { run, go }) {
  const { case: key, q = "", sort = "" } = state();
  const base = `/runs/${encodeURIComponent(run)}`;
  const back = () => go(address(base, { q, sort }));
  let near = { place: -1, total: 0, rows: [], start: 0 };
  document.title = `${key} · ${run} · toolcert view`;
  const steps = el("nav.case-steps", { "aria-label": "Cases" });
  const body = el("div");
  append(main, [steps, body]);

  const neighbour = (by) => near.rows[near.place - near.start + by];
  const to = (by) => { const one = neighbour(by); if (one) go(address(base, { q, sort, case: one.key })); };

  function drawSteps() {
    const link = el("span", {}, "Copy link");
    fill(steps, el("a.button", { href: address(base, { q, sort }) }, "All cases"),
      button("Before", () => to(-1), { disabled: !neighbour(-1), "aria-keyshortcuts": "k" }), button("Next", () => to(1), { disabled: !neighbour(1), "aria-keyshortcuts": "j" }),
      el("span.label", {}, near.place >= 0 ? `${count(near.place + 1)} of ${plural(near.total, "case")}${q ? ` of ${q}` : ""}` : ""),
      el("button.button", { type: "button", on: { click: () => copyText(location.href, link) } }, link));
  }

  function draw(one) {
    const wanted = { ...one };
    fill(body,
      el("div.case-head", {}, el("p.kind", {}, el("span.break", {}, `${wanted.model} at ${wanted.endpoint}`), outcome(wanted.outcome)), el("h1.break", {}, wanted.title), wanted.reason ? el("p.lines.break", {}, wanted.reason) : "",
        el("dl.facts.plain-facts", {}, [...wanted.facts, ["Finished", moment(wanted.at)]].filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))))),
      findings(one), conversation(one), judgement(one), marks(one), extras(one));
  }

  function findings(one) {
    if (!one.findings.length) return el("p.label.spaced", {}, "No finding.");
    const causes = one.findings.filter((found) => !found.because_of);
    const line = (found, follows) => el("details", { open: causes.length < 3 }, el("summary", {}, icon("arrow", "turn"), severity(found.severity), el("code.code", {}, found.code), el("span.title", {}, prose(found.title))),
      el("div.inside", {}, found.evidence ? el("pre", { tabindex: "0", "aria-label": `Evidence of ${found.code}` }, found.evidence) : "",
        el("p", {}, prose(found.meaning), " ", el("span.quiet", {}, prose(`Usual cause: ${found.cause}`))), el("p.quiet", {}, prose(`What to do: ${found.remedy}`)),
        follows.length ? el("ul.reasons", {}, follows.map((other) => el("li", {}, el("code", {}, other.code), " follows from it: ", prose(other.title), " Not counted."))) : ""));
    return el("section", { "aria-labelledby": "findings" }, el("div.heading", {}, el("h2", { id: "findings" }, "Findings")),
      el("div.rows.findings.case-findings", {}, causes.map((found) => line(found, one.findings.filter((other) => other.because_of && other.because_of === found.code)))));
  }

  function conversation(one) {
    if (!one.turns.length) return el("p.quiet.spaced", {}, "The run keeps no request and no answer of this case.");
    return one.turns.map((turn, number) => el("section.turn-pair", { "aria-label": `Turn ${number + 1}` },
      el("div", {}, el("h2", {}, one.turns.length > 1 ? `Turn ${number + 1}` : "Conversation"), turn.tools && turn.tools.length ? tools(turn.tools) : "", el("div.talk", {}, turn.messages.map((message) => said(message)), turn.answer ? said(turn.answer, true) : el("p.bubble.failed", {}, turn.wire.fault || "No answer that can be read."))),
      el("div", {}, el("h2", {}, "On the wire"), wire(turn.wire, number))));
  }

  function tools(offered) {
    return el("details.offered", {}, el("summary.label", {}, icon("arrow", "turn"), ` ${plural(offered.length, "tool")} offered: ${offered.slice(0, 8).map((tool) => tool.name).join(", ")}${offered.length > 8 ? ", …" : ""}`),
      offered.map((tool) => el("div.tool", {}, el("p", {}, el("code", {}, el("b", {}, tool.name)), " ", el("span.quiet", {}, tool.description)), el("pre", { tabindex: "0", "aria-label": `Schema of ${tool.name}` }, tool.schema))));
  }

  function said(message, answer = false) {
    return el(`article.bubble${answer ? ".answer" : ""}`, { "aria-label": message.role },
      el("p.who", {}, message.role, message.answers ? el("span.faint", {}, ` result of ${message.answers}`) : "", message.note ? el("span.faint", {}, ` ${message.note}`) : ""),
      message.reasoning ? el("details", {}, el("summary.label", {}, icon("arrow", "turn"), " Reasoning"), el("p.speech.quiet", {}, message.reasoning)) : "",
      message.text ? el("p.speech", {}, message.text) : "",
      (message.calls || []).map((call) => el(`div.call${call.sound === false ? ".unsound" : ""}`, {}, el("p", {}, el("code", {}, el("b", {}, call.name || "(no name)")), el("span.faint", {}, ` ${call.id || ""}`), call.sound === false ? sign("bad", (call.faults || []).join(", ") || "not valid") : call.sound === true ? sign("good", "valid") : ""),
        el("pre", { tabindex: "0", "aria-label": `Arguments of ${call.name || "the call"}` }, call.arguments))),
      !message.text && !(message.calls || []).length && !message.reasoning ? el("p.faint", {}, "(empty)") : "");
  }

  function wire(one, number) {
    const events = one.events || [];
    const event = eventLine(events);
    const shown = el("ol.events", { tabindex: "0", "aria-label": "Events of the stream" }, events.slice(0, 60).map(event));
    const more = events.length > 60 ? button(`Show all ${count(events.length)} events`, () => { fill(shown, events.map(event)); more.remove(); }) : "";
    return [
      waterfall(one.attempts || [], number, events),
      (one.notes || []).map((note) => el("p.label", {}, note)),
      one.fault ? el("p.t-bad.break", {}, one.fault) : "",
      el("details", {}, el("summary.label", {}, icon("arrow", "turn"), ` Request to ${one.url || "the server"}`), el("pre", { tabindex: "0", "aria-label": "Request as sent" }, one.sent)),
      (one.headers || []).length ? el("details", { open: true }, el("summary.label", {}, icon("arrow", "turn"), ` Answer: status ${one.status}, ${bytes(one.size || 0)}`), el("dl.headers", {}, one.headers.map(([name, value]) => el("div", {}, el("dt", {}, el("code", {}, name)), el("dd", {}, el("code", {}, value)))))) : el("p.label", {}, one.status ? `Answer: status ${one.status}, ${bytes(one.size || 0)}` : ""),
      events.length ? [el("p.label", {}, one.pace || plural(events.length + (one.more_events || 0), "event"), one.more_events ? ` The first ${count(events.length)} are shown.` : ""), shown, more]
        : one.body ? el("pre.body", { tabindex: "0", "aria-label": "Body of the answer" }, one.body) : "",
      one.curl ? copyable("Send it again", one.curl) : "",
    ];
  }

  /** Makes the line of an event: when it came, a bar for the wait before it, and what it says. */
  function eventLine(events) {
    const timed = events.filter((one) => one.at !== null);
    const first = timed.length ? timed[0].at : 0, whole = timed.length ? timed[timed.length - 1].at - first : 0;
    const share = (value) => `${whole ? (100 * value) / whole : 0}%`;
    const bar = (one) => {
      const wait = el(`i${one.signs.includes("longest pause") ? ".longest" : ""}`);
      wait.style.left = share(one.at - (one.after || 0) - first);
      wait.style.width = share(one.after || 0);
      return el("span.track", { "aria-hidden": "true" }, wait);
    };
    const told = (text, one) => el("span.event-sign", {}, text === "longest pause" ? `${text}, ${instant(one.after)} s` : text);
    return (one) => el("li", {}, el("details", {}, el(`summary${one.at === null ? "" : ".timed"}`, {}, one.at === null ? "" : [el("span.when", {}, `${instant(one.at)} s`), bar(one)],
      el("span.cut", {}, one.signs.map((text) => told(text, one)), one.name ? el("b", {}, `${one.name} `) : "", el("code", {}, one.says))), el("pre", { tabindex: "0", "aria-label": "The event as it came" }, one.data)));
  }

  /** Each attempt as a bar: waiting, connecting, until the first byte and token, until the end. */
  function waterfall(attempts, number, events) {
    const timed = attempts.map((one) => ({ ...one, timing: one.timing || {} }));
    const ends = timed.map((one) => (one.waited || 0) + (one.timing.queue || 0) + Math.max(one.timing.last_byte || 0, one.timing.first_byte || 0, one.timing.connect || 0));
    const whole = ends.reduce((sum, end) => sum + end, 0);
    if (!whole) return "";
    const width = 520, left = 0, high = 22, scale = (value) => left + (value / whole) * (width - left);
    const shapes = [];
    let at = 0;
    timed.forEach((one, row) => {
      const y = row * high + 4;
      const part = (from, until, style) => { if (until > from) shapes.push(["rect", { x: scale(from), y, width: Math.max(1, scale(until) - scale(from)), height: 12, class: style }]); };
      const begun = at + (one.waited || 0) + (one.timing.queue || 0);
      const { connect = 0, first_byte: byte = 0, first_token: token = 0, last_byte: last = 0 } = one.timing;
      part(at, begun, "w-wait");
      part(begun, begun + (connect || 0), "w-connect");
      part(begun + (connect || 0), begun + (byte || last || 0), "w-server");
      part(begun + (byte || 0), begun + (last || 0), byte ? "w-stream" : "w-server");
      if (row === timed.length - 1) for (const x of new Set(events.filter((each) => each.at !== null).map((each) => Math.round(Math.min(width, scale(begun + each.at)))))) shapes.push(["path", { d: `M${x} ${y + 12}v5`, class: "w-event" }]);
      const call = events.find((each) => each.signs.includes("first call"));
      if (row === timed.length - 1 && call && call.at !== null) shapes.push(["path", { d: `M${Math.min(width, scale(begun + call.at))} ${y - 3}v18`, class: "w-call" }]);
      if (token) shapes.push(["path", { d: `M${scale(begun + token)} ${y - 3}v18`, class: "p50" }]);
      at += ends[row];
    });
    const lines = timed.map((one) => el("tr", {}, el("th", { scope: "row" }, one.number), el("td", {}, one.status ?? "–"), ...[(one.waited || 0) + (one.timing.queue || 0), one.timing.connect, one.timing.first_byte, one.timing.first_token, one.timing.last_byte].map((value) => el("td.num", {}, seconds(value))), el("td.break.quiet", {}, one.fault ? `${one.fault.kind}: ${one.fault.message}` : "")));
    const heads = ["Attempt", "Status", "Waited, s", "Connected", "First byte", "First token", "End", ""];
    return el("div.waterfall", {}, drawing(width, timed.length * high, `Times of ${plural(timed.length, "attempt")} of turn ${number + 1}; the table below has the figures`, shapes),
      el("ul.keys", { "aria-hidden": "true" }, [["w-wait", "waited"], ["w-connect", "connect"], ["w-server", "until the first byte"], ["w-stream", "answer"]].map(([style, text]) => el("li", {}, el(`i.key.${style}`), text)), el("li", {}, el("i.key.w-token"), "first token"), events.some((one) => one.at !== null) ? [el("li", {}, el("i.key.w-call"), "first call"), el("li", {}, el("i.key.w-event"), "event")] : ""),
      el("div.scroll", { tabindex: "0", role: "region", "aria-label": "Attempts" }, el("table", { "aria-label": "Attempts" }, el("thead", {}, el("tr", {}, heads.map((name, at_) => el(`th${at_ > 1 && at_ < 7 ? ".num" : ""}`, { scope: "col" }, name || el("span.hidden", {}, "Fault"))))), el("tbody", {}, lines))));
  }

  const TONES = { ok: ["good", "v"], note: ["note", "s"], warning: ["warning", "s"], error: ["error", "s"], unknown: ["unknown", "v"] };
  const tone = (value, text) => { const [role, prefix] = TONES[value] || TONES.unknown; return sign(role, text, prefix); };
  function judgement(one) {
    return el("section", { "aria-labelledby": "judged" }, el("div.heading", {}, el("h2", { id: "judged" }, "Judgement, step by step"), el("p", {}, "The checks of this version over the recorded answer; the outcome is that of the run.")),
      el("ol.judgement", {}, one.steps.map((step) => el("li", {}, tone(step.tone || "ok", step.title), el("div", {}, el("p.break", {}, step.said), (step.points || []).length ? el("ul.points", {}, step.points.map(([severe, code, text]) => el("li", {}, tone(severe, ""), el("code", {}, code), " ", el("span.quiet.break", {}, text)))) : "")))));
  }

  function marks(one) {
    const finding = el("select", { name: "finding" }, el("option", { value: "" }, "the whole case"), one.findings.filter((found) => !found.because_of).map((found) => { const option = el("option", {}, found.code); option.value = found.code; return option; }));
    const note = el("input", { type: "text", name: "note", maxlength: "4000", placeholder: "Why", "aria-label": "Note" });
    const told = el("p.label", { role: "status" });
    const send = (kind) => async () => {
      try { await post(`/api${base}/marks`, { case: one.key, kind, note: note.value, ...(finding.value ? { finding: finding.value } : {}) }); told.textContent = "Kept in marks.jsonl beside the run."; load(); } catch (error) { told.textContent = error.message; }
    };
    return el("section", { "aria-labelledby": "marks" }, el("div.heading", {}, el("h2", { id: "marks" }, "Marks"), el("p", {}, "Kept in marks.jsonl beside the run; gates respect them with --known.")),
      (one.marks || []).length ? el("ul.marks", {}, one.marks.map((mark) => el("li", {}, el("span.mark-sign", {}, mark.kind === "wrong" ? "wrong finding" : "known"), " ", el("code", {}, mark.finding || "every finding"), " ", el("span.break", {}, mark.note || ""), " ", el("span.faint", {}, moment(mark.at))))) : "",
      el("form.controls.marking", { on: { submit: (event_) => event_.preventDefault() } }, el("label", {}, "About ", finding), note, button("Known", send("known")), button("Wrong finding", send("wrong")), told));
  }

  function extras(one) {
    const shown = [["What the row expects", one.expected], ["Figures of the probe", one.figures]].filter(([, text]) => text);
    return el("section", {}, shown.map(([title, text]) => el("div", {}, el("h3.sub", {}, title), el("pre", { tabindex: "0", "aria-label": title }, text))),
      el("p.label", {}, el("a", { href: address(`/api${base}/line`, { key: one.key }) }, "The whole line of the log"), ` · toolcert show RUN ${shell(one.key)}`));
  }

  async function load() {
    try { draw(await get(`/api${base}/case`, { key })); } catch (error) { fill(body, el("p.t-bad", { role: "alert" }, error.message)); }
  }
  async function place() {
    try { near = await get(`/api${base}/cases`, { q, sort, case: key, count: 2 * AROUND + 1 }); drawSteps(); } catch { /* the case is shown without its neighbours */ }
  }
  keyboard.add({
    j: ["next case", () => to(1)], k: ["case before", () => to(-1)], Escape: ["back to the list", back],
    c: ["copy the link", () => steps.querySelector("button:last-of-type")?.click()],
    m: ["mark", () => body.querySelector(".marking input")?.focus()],
    w: ["to the wire", () => body.querySelector(".turn-pair > div:last-child")?.scrollIntoView()],
  });
  drawSteps();
  load();
  place();
  return () => {};
}
