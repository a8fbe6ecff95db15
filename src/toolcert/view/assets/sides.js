// Two runs side by side.
import { append, el } from "./dom.js";

export function sidesPage(main) {
  document.title = "Side by side · toolcert view";
  append(main, [el("h1", {}, "Side by side")]);
  return () => {};
}
