// The keyboard: each page says which keys it knows; the list of them is shown by "?".
import { el, fill } from "./dom.js";

const known = new Map();
const dialog = document.getElementById("keys");

export const keyboard = {
  clear: () => known.clear(),
  /** `keys` maps a key to [what it does, the function]. */
  add: (keys) => Object.entries(keys).forEach(([key, entry]) => known.set(key, entry)),
};

const NAMES = { Enter: "Enter", Escape: "Esc", "/": "/", "?": "?" };

export function showKeys() {
  const rows = [...known, ["?", ["show these keys"]]].map(([key, [what]]) => el("div", {}, el("dt", {}, el("kbd", {}, NAMES[key] || key)), el("dd", {}, what)));
  fill(dialog, el("h2", { id: "keys-title" }, "Keys"), el("dl.keylist", {}, rows), el("form", { method: "dialog" }, el("button.button", {}, "Close")));
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  const field = event.target.closest("input, select, textarea");
  if (field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  if (event.key === "?") { event.preventDefault(); showKeys(); return; }
  const entry = known.get(event.key);
  if (entry) { event.preventDefault(); entry[1](event); }
});
