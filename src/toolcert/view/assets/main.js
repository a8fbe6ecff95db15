// Which page the address means. Pages are functions that fill <main> and return what ends them.
import { el, fill } from "./dom.js";
import { keyboard, showKeys } from "./keys.js";
import { casePage } from "./case.js";
import { runPage } from "./run.js";
import { runsPage } from "./runs.js";
import { sidesPage } from "./sides.js";
import { state } from "./net.js";

const main = document.getElementById("main");
const trail = document.getElementById("trail");
let leave = () => {};
let shown = "";
let from = "";

function page() {
  const run = location.pathname.match(/^\/runs\/([^/]+)$/);
  if (run && state().case) return ["case", decodeURIComponent(run[1])];
  if (run) return ["run", decodeURIComponent(run[1])];
  return [location.pathname === "/sides" ? "sides" : "runs", ""];
}

/** Show what the address says; a page that only changes its own filters stays. */
export function show() {
  const [kind, run] = page();
  const now = `${kind} ${run} ${kind === "case" ? state().case : ""}${kind === "sides" ? location.search : ""}`;
  if (now === shown) { dispatchEvent(new Event("filters")); return; }
  const came = shown !== "";
  const left = shown.startsWith(`case ${run} `) ? from : "";
  from = kind === "case" ? state().case : "";
  shown = now;
  leave();
  keyboard.clear();
  fill(main);
  fill(trail, kind === "runs" ? "" : el("a", { href: "/" }, "Runs"), run ? el("a", { href: `/runs/${encodeURIComponent(run)}` }, run) : "");
  const open = { runs: runsPage, run: runPage, case: casePage, sides: sidesPage }[kind];
  leave = open(main, { run, go, from: left }) || (() => {});
  scrollTo(0, 0);
  if (came) main.focus({ preventScroll: true });
}

/** Go to another address of the viewer. */
export function go(address, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  show();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.target) return;
  if (link.getAttribute("href").startsWith("#") || link.pathname.endsWith("/report") || link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  const before = shown;
  go(link.pathname + link.search);
  if (shown === before && !link.closest(".browse")) document.getElementById("cases")?.scrollIntoView();
});
addEventListener("popstate", show);

const root = document.documentElement;
const theme = document.getElementById("theme");
const recall = () => { try { return localStorage.getItem("toolcert-theme"); } catch { return null; } };
const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
if (["light", "dark"].includes(recall())) root.dataset.theme = recall();
theme.setAttribute("aria-pressed", dark());
theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  theme.setAttribute("aria-pressed", dark());
  try { localStorage.setItem("toolcert-theme", root.dataset.theme); } catch { /* private mode */ }
});
document.getElementById("help").addEventListener("click", showKeys);
show();
