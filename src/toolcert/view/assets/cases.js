// Every case of a run: a list that draws only what is in view, searched and counted by the server.
import { append, button, count, el, fill, outcome, plural, seconds } from "./dom.js";
import { address, after, get, quoted, state, terms } from "./net.js";
import { keyboard } from "./keys.js";

const ROW = 34;
const PAGE = 100;
const MOST_PAGES = 40;
const TALLEST = 8e6; // no browser draws a taller element whole; beyond it the scroll bar gets coarser
const FACETS = [["outcome", "Outcome"], ["finding", "Finding"], ["probe", "Probe"], ["model", "Model"], ["tool", "Tool"], ["tag", "Tag"], ["finish", "Finish reason"], ["endpoint", "Endpoint"]];
const ORDERS = [["", "As in the log"], ["-latency", "Slowest first"], ["latency", "Fastest first"], ["-first_token", "Slowest first token"], ["-tokens", "Most tokens out"], ["-tokens_in", "Most tokens in"], ["-attempts", "Most attempts"], ["outcome", "By outcome"], ["model", "By model"], ["-time", "Newest first"]];
const SHOWN = 12;

export function caseList(main, { run, go, from }) {
  const base = `/runs/${encodeURIComponent(run)}`;
  let reading = true, several = false, first = null, total = 0, selected = 0, moved = false, generation = 0, pages = new Map(), asked = new Set();
  const output = el("output", { role: "status" });
  const trouble = el("p.t-bad", { role: "alert" });
  const search = el("input", { type: "search", name: "q", "aria-label": "Search cases", placeholder: "Words, or outcome:failed finding:args.schema latency>2" });
  const order = el("select", { name: "sort", "aria-label": "Order" }, ORDERS.map(([value, text]) => el("option", { value }, text)));
  const facets = el("div.facets", {});
  const fold = el("details.facet-fold", {}, el("summary.button", {}, "Filters"), facets);
  if (innerWidth > 720) fold.open = true;
  const columns = ["Case", "Outcome", "Tool or model", "Findings and reason", "Time, s", "Tokens"];
  const head = el("div.vhead", { role: "row", "aria-rowindex": "1" }, columns.map((name, number) => el(`span${number > 3 ? ".num" : ""}`, { role: "columnheader" }, name)));
  const layer = el("div.vlayer", { role: "rowgroup" });
  const view = el("div.vgrid", { role: "grid", "aria-label": "Cases", "aria-rowcount": "0", tabindex: "0" }, el("div.vtop", { role: "rowgroup" }, head), layer);
  const none = el("p.none", { role: "status" }, "No case fits this search.");
  append(main, [el("section", { "aria-labelledby": "cases" },
    el("div.heading", {}, el("h2", { id: "cases" }, "Cases"), el("p", {}, "Fields: outcome, finding, tool, tag, model, probe, finish, mark, row, latency, first_token, tokens, attempts; -finding:x leaves out.")),
    el("form.controls", { role: "search", on: { submit: (event) => { event.preventDefault(); write(); } } }, el("label.whole.wide", {}, search), el("label", {}, "Order ", order), button("Reset", () => { search.value = ""; order.value = ""; write(); }), output),
    trouble, el("div.browse", {}, fold, el("div", {}, view, none)))]);

  /** What the address asks for; the fields may be ahead of it while somebody types. */
  const asking = () => { const { q = "", sort = "" } = state(); return { q: q.trim(), sort: ORDERS.some(([known]) => known === sort) ? sort : "" }; };
  const write = () => go(address(base, { q: search.value.trim(), sort: order.value }), { replace: true });
  search.addEventListener("input", after(50, write));
  order.addEventListener("change", write);

  /** The state of the address is the state of the list. */
  function read() {
    const { q, sort } = asking();
    if (document.activeElement !== search) search.value = q;
    order.value = sort;
    restart();
  }

  function restart() {
    generation += 1;
    pages = new Map();
    asked = new Set();
    selected = 0;
    view.scrollTop = 0;
    first = load(0);
    loadFacets();
  }

  async function load(page) {
    if (asked.has(page)) return;
    asked.add(page);
    const mine = generation;
    try {
      const told = await get(`/api${base}/cases`, { ...asking(), start: page * PAGE, count: PAGE });
      if (mine !== generation) return;
      trouble.textContent = "";
      pages.set(page, told.rows);
      if (pages.size > MOST_PAGES) { const first = pages.keys().next().value; pages.delete(first); asked.delete(first); }
      setTotal(told.total);
      output.textContent = `${plural(total, "case")}${asking().q ? " found" : ""} in ${Math.max(1, Math.round(told.took * 1000))} ms`;
      draw();
    } catch (error) {
      if (mine !== generation) return;
      asked.delete(page);
      trouble.textContent = error.message;
    }
  }

  function setTotal(number) {
    total = number;
    layer.style.height = `${Math.min(total * ROW, TALLEST)}px`;
    view.hidden = total === 0;
    view.style.height = `${Math.min(Math.max(total, 1) * ROW + head.offsetHeight, Math.max(320, innerHeight - 240))}px`;
    view.setAttribute("aria-rowcount", total + 1);
    none.classList.toggle("shown", total === 0);
    none.textContent = reading ? "The log is being read." : "No case fits this search.";
  }

  // Where the list is taller than an element can be, a step of the scroll bar is more than one pixel of it.
  const height = () => view.clientHeight - head.offsetHeight;
  const room = () => Math.max(1, layer.offsetHeight - height());
  const hidden = () => Math.max(0, total * ROW - height());
  const offset = () => (total * ROW <= TALLEST ? view.scrollTop : (view.scrollTop / room()) * hidden());

  function draw() {
    const top = offset();
    const first = Math.max(0, Math.floor(top / ROW) - 4);
    const last = Math.min(total, Math.ceil((top + height()) / ROW) + 4);
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) if (total) load(page);
    const rows = [];
    for (let at = first; at < last; at += 1) {
      const one = pages.get(Math.floor(at / PAGE))?.[at % PAGE];
      const row = one ? drawn(one, at) : el("div.vrow", { role: "row", "aria-rowindex": at + 2 }, el("span", { role: "gridcell" }, "…"));
      row.style.transform = `translateY(${at * ROW - top + view.scrollTop}px)`;
      rows.push(row);
    }
    layer.replaceChildren(...rows);
    const active = layer.querySelector(".selected");
    if (active) view.setAttribute("aria-activedescendant", active.id); else view.removeAttribute("aria-activedescendant");
  }

  function drawn(one, at) {
    const codes = one.codes ? one.codes.split("\n") : [];
    const tools = one.tools ? one.tools.split("\n") : [];
    const cell = (child, style = "") => el(`span${style}`, { role: "gridcell" }, child);
    const row = el("div.vrow", { role: "row", id: `case-${at}`, "aria-rowindex": at + 2, "aria-selected": at === selected ? "true" : "false", on: { click: () => open(at) } },
      cell(el("a.plain", { href: href(one), tabindex: "-1" }, one.probe ? `${one.probe} ${one.iteration}` : `${one.place}${one.name ? ` ${one.name}` : ""}`), ".vname"),
      cell(outcome(one.outcome)),
      cell(el("code", {}, one.probe ? `${several ? `${one.endpoint}: ` : ""}${one.model}` : tools.join(", ") || "–"), ".cut"),
      cell([one.marks.map((kind) => el("span.mark-sign", {}, kind)), codes.map((code) => el("code.tag", {}, code)), " ", codes.length && one.reason.startsWith(`${codes[0]}: `) ? one.reason.slice(codes[0].length + 2) : one.reason], ".cut.quiet"),
      cell(seconds(one.seconds), ".num"),
      cell(one.tokens_out === null ? "–" : count(one.tokens_out), ".num"));
    if (codes.length) row.classList.add("faulty");
    if (at === selected) row.classList.add("selected");
    return row;
  }

  const href = (one) => address(base, { ...asking(), case: one.key });
  function open(at) {
    const one = pages.get(Math.floor(at / PAGE))?.[at % PAGE];
    if (one) go(href(one));
  }

  function select(at) {
    moved ||= total > 0;
    selected = Math.max(0, Math.min(total - 1, at));
    const top = offset(), y = selected * ROW;
    if (y < top) move(y); else if (y + ROW > top + height()) move(y + ROW - height());
    draw();
  }
  const move = (y) => { view.scrollTop = total * ROW <= TALLEST ? y : (y / Math.max(1, hidden())) * room(); };

  view.addEventListener("scroll", () => requestAnimationFrame(draw));
  addEventListener("resize", resized);
  function resized() { setTotal(total); draw(); }

  async function loadFacets() {
    const mine = generation;
    try {
      const told = await get(`/api${base}/facets`, { q: asking().q });
      if (mine === generation) fill(facets, FACETS.map(([field, title]) => facet(field, title, told.facets[field] || [])));
    } catch { /* the list says what is wrong */ }
  }

  function facet(field, title, values) {
    if (!values.length || (values.length === 1 && !["outcome", "finding"].includes(field) && !terms(search.value).some((term) => term.startsWith(`${field}:`)))) return null;
    const line = ([value, number]) => {
      const word = quoted(field, value);
      const on = terms(search.value).includes(word);
      return el("li", {}, el("button.facet", { type: "button", "aria-pressed": String(on), title: value, on: { click: () => toggle(word, on) } }, el("span.cut", {}, value.replace(/^not_measured$/, "not measured")), el("span.faint", {}, count(number))));
    };
    const rest = values.slice(SHOWN);
    return el("div.facet-group", {}, el("h3", {}, title), el("ul", {}, values.slice(0, SHOWN).map(line)),
      rest.length ? el("details", {}, el("summary.label", {}, `${rest.length} more`), el("ul", {}, rest.map(line))) : null);
  }

  function toggle(word, on) {
    search.value = on ? terms(search.value).filter((term) => term !== word).join(" ") : `${search.value} ${word}`.trim();
    write();
  }

  keyboard.add({
    j: ["next case", () => select(selected + 1)], k: ["case before", () => select(selected - 1)],
    ArrowDown: ["next case", () => select(selected + 1)], ArrowUp: ["case before", () => select(selected - 1)],
    PageDown: ["a page down", () => select(selected + 15)], PageUp: ["a page up", () => select(selected - 15)],
    Home: ["first case", () => select(0)], End: ["last case", () => select(total - 1)],
    Enter: ["open the case", () => open(selected)],
    "/": ["search", () => { search.focus(); search.select(); }],
    Escape: ["back to the runs", () => go("/")],
  });
  addEventListener("filters", read);
  read();
  return {
    /** What is known of the run; the list may be there before it, and before all of its cases. */
    know({ index, size, endpoints, job }) {
      reading = index.searchable < size;
      several = endpoints.length > 1;
      head.children[2].textContent = job === "verify" ? "Tool called" : "Model";
      draw();
      if (total === 0 && none.classList.contains("shown")) setTotal(0);
    },
    /** Go to the case that was open before, unless somebody has moved or searched meanwhile. */
    async back() {
      if (!from) return;
      const [{ place }] = await Promise.all([get(`/api${base}/cases`, { ...asking(), case: from, count: 1 }), first]);
      if (place < 0 || moved || generation > 1 || view.scrollTop > 0) return;
      select(place);
      view.scrollIntoView({ block: "nearest" });
    },
    /** The log has grown: what is shown stays where it is. */
    grown() { const page = Math.floor(total / PAGE); asked.delete(page); for (const one of [...asked]) if (asking().q || asking().sort) asked.delete(one); load(asking().q || asking().sort ? Math.floor(offset() / ROW / PAGE) : page); loadFacets(); },
    close() { removeEventListener("filters", read); removeEventListener("resize", resized); },
  };
}
