// Elements made of text: nothing here reads text as markup, and no character of others is obeyed.
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu;
const NAMED = { "\u001b": "␛", "\u0000": "␀" };
const SVG = "http://www.w3.org/2000/svg";

/** Text with control, direction and surrogate characters shown instead of obeyed. */
export const visible = (text) => String(text).replace(UNSEEN, (one) => NAMED[one] || `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);

/** An element; `on` holds listeners, `data` data attributes, everything else is an attribute. */
export function el(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") Object.entries(value).forEach(([event, listener]) => element.addEventListener(event, listener));
    else if (key === "data") Object.entries(value).forEach(([field, text]) => { element.dataset[field] = text; });
    else if (key === "href") { if (/^[/#]/.test(value)) element.setAttribute("href", value); }
    else element.setAttribute(key, value === true ? "" : visible(value));
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

export function icon(name, style = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  if (style) svg.setAttribute("class", style);
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#${name}`);
  svg.append(use);
  return svg;
}

/** A drawing of numbers: shapes as [tag, attributes]. */
export function drawing(width, height, label, shapes) {
  const svg = document.createElementNS(SVG, "svg");
  const own = { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": visible(label), class: "chart sized" };
  Object.entries(own).forEach(([name, value]) => svg.setAttribute(name, value));
  for (const [tag, attributes, text] of shapes) {
    const shape = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => shape.setAttribute(name, value));
    if (text !== undefined) shape.textContent = visible(text);
    svg.append(shape);
  }
  return svg;
}

/** Our own sentences: text between backticks is code. */
export const prose = (text) => text.split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));

export const sign = (role, word, prefix = "v") => el(`span.sign.r-${/^[a-z]+$/.test(role) ? role : "unknown"}`, {}, icon(`${prefix}-${role}`), el("span", {}, word));
export const severity = (value) => sign(value, value, "s");

const OUTCOMES = { passed: "good", failed: "bad", unsupported: "cannot", not_measured: "unknown", skipped: "unknown" };
export const outcome = (value) => sign(OUTCOMES[value] || "unknown", value.replace("_", " "));

export const button = (text, click, attributes = {}) => el("button.button", { type: "button", ...attributes, on: { click } }, text);

/** Text that can be copied. */
export function copyable(label, text) {
  const said = el("span", {}, "Copy");
  const copy = el("button.button", { type: "button", "aria-label": `Copy: ${label}`, on: { click: () => copyText(text, said) } }, said);
  return el("div.copy", {}, el("p.label", {}, label), copy, el("pre", { tabindex: "0", "aria-label": label }, text));
}

export async function copyText(text, said) {
  const before = said.textContent;
  try { await navigator.clipboard.writeText(text); said.textContent = "Copied"; } catch { said.textContent = "Not allowed here"; }
  setTimeout(() => { said.textContent = before; }, 1500);
}

export const count = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
export function seconds(value) {
  if (value === null || value === undefined) return "–";
  return value < 0.01 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
}
/** An instant of a stream, whose events are milliseconds apart. */
export const instant = (value) => (value < 1 ? value.toFixed(3) : seconds(value));
/** A word of a command: no character of it is obeyed by a shell. */
export const shell = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
export const bytes = (number) => number < 1e3 ? `${number} B` : number < 1e6 ? `${(number / 1e3).toFixed(1)} kB` : `${(number / 1e6).toFixed(1)} MB`;
export const moment = (unix) => (unix ? new Date(unix * 1000).toISOString().slice(0, 16).replace("T", " ") : "");
