// The timeline: a shorter or longer window, and a tip that says what a day was like. Text only, never markup.
(() => {
  const table = document.querySelector("table.timeline");
  const tip = document.getElementById("tip");
  if (!table) return;
  const days = table.dataset.days.split("|");
  let first = Math.min(0, days.length - 30);

  const place = (element) => {
    const width = days.length - first;
    const [from, to] = [Number(element.dataset.from), Number(element.dataset.to)];
    const at = (day) => Math.max(0, (day - first) / width);
    element.style.display = to > first ? "" : "none";
    const label = element.tagName === "text" ? element : element.querySelector("text");
    const middle = (at(from) + at(to)) / 2;
    label.setAttribute("x", `${100 * middle}%`);
    label.setAttribute("text-anchor", middle < 0.03 ? "start" : middle > 0.97 ? "end" : "middle");
    const line = element.querySelector("line");
    if (line) { line.setAttribute("x1", `${100 * at(from)}%`); line.setAttribute("x2", `${100 * at(to)}%`); }
  };
  const buttons = Array.from(document.querySelectorAll("[data-window]"));
  buttons.forEach((button) => button.addEventListener("click", () => {
    first = days.length - Number(button.dataset.window);
    buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
    table.querySelectorAll(".bars-of-days").forEach((bars) => bars.setAttribute("viewBox", `${first} 0 ${days.length - first} 24`));
    table.querySelectorAll("[data-from]").forEach(place);
  }));

  const hide = () => { tip.hidden = true; };
  const line = (tag, text) => { const element = document.createElement(tag); element.textContent = text; tip.append(element); };
  table.addEventListener("mousemove", (event) => {
    const cell = event.target.closest("td.days");
    if (!cell) { hide(); return; }
    const area = cell.querySelector(".chart").getBoundingClientRect();
    const share = (event.clientX - area.left) / area.width;
    const day = first + Math.floor(share * (days.length - first));
    if (share < 0 || share >= 1 || day < 0) { hide(); return; }
    tip.replaceChildren();
    line("b", days[day]);
    line("div", cell.dataset.said.split("|")[day]);
    tip.hidden = false;
    tip.style.left = `${Math.max(8, Math.min(event.clientX - tip.offsetWidth / 2, innerWidth - tip.offsetWidth - 16)) + scrollX}px`;
    tip.style.top = `${area.bottom + 8 + scrollY}px`;
  });
  table.addEventListener("mouseleave", hide);
})();
