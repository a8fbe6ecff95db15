// The timeline: a shorter or longer window, a tip that says what a day was like, and the run behind a day.
// Text only, never markup.
(() => {
  const table = document.querySelector("table.timeline");
  const tip = document.getElementById("tip");
  if (!table) return;
  const days = table.dataset.days.split("|");
  const reports = table.dataset.reports.split("|");
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
  const choose = (button) => {
    first = days.length - Number(button.dataset.window);
    buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
    table.querySelectorAll(".bars-of-days").forEach((bars) => bars.setAttribute("viewBox", `${first} 0 ${days.length - first} 24`));
    table.querySelectorAll("[data-from]").forEach(place);
  };
  buttons.forEach((button, number) => button.addEventListener("click", () => {
    choose(button);
    address.set("days", number < buttons.length - 1 ? button.dataset.window : "");
  }));
  const asked = buttons.find((button) => button.dataset.window === address.get("days"));
  if (asked) choose(asked);

  const hide = () => { tip.hidden = true; };
  const line = (box, tag, text) => { const element = document.createElement(tag); element.textContent = text; box.append(element); return element; };
  const said = (cell, day) => cell.dataset.said.split("|")[day];
  const tell = (cell, day) => {
    const area = cell.querySelector(".chart").getBoundingClientRect();
    const x = area.left + area.width * (day + 0.5 - first) / (days.length - first);
    tip.replaceChildren();
    line(tip, "b", days[day]);
    line(tip, "div", said(cell, day));
    tip.hidden = false;
    tip.style.left = `${Math.max(8, Math.min(x - tip.offsetWidth / 2, innerWidth - tip.offsetWidth - 16)) + scrollX}px`;
    tip.style.top = `${area.bottom + 8 + scrollY}px`;
  };
  const dayAt = (event, cell) => {
    const area = cell.querySelector(".chart").getBoundingClientRect();
    const share = (event.clientX - area.left) / area.width;
    const day = first + Math.floor(share * (days.length - first));
    return share < 0 || share >= 1 || day < 0 ? -1 : day;
  };
  const cellOf = (event) => event.target.closest("td.days");
  table.addEventListener("mousemove", (event) => {
    const cell = cellOf(event);
    const day = cell ? dayAt(event, cell) : -1;
    if (day < 0) hide(); else tell(cell, day);
  });
  table.addEventListener("mouseleave", hide);

  // The run behind a day: its page where it stands beside this one, else the command that opens it in the viewer.
  const card = table.parentElement.querySelector(".day-card");
  const open = (cell, day) => {
    const run = cell.dataset.runs.split("|")[day];
    const dated = /^daily-(\d{4}-\d{2}-\d{2})-/.exec(run);
    card.replaceChildren();
    line(card, "b", `${days[day]}, ${cell.parentElement.cells[0].firstChild.textContent.trim()}`);
    line(card, "span", said(cell, day));
    if (reports[day]) line(card, "a", "Open the page of that day").setAttribute("href", reports[day]);
    if (run) line(card, "code", `toolcert view ${dated ? `toolcert-runs/daily-${dated[1]}` : run}`);
    else if (!reports[day]) line(card, "span", "No run of it is kept.").className = "quiet";
    card.hidden = false;
    card.scrollIntoView({ block: "nearest" });
  };
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("a") ? null : cellOf(event);
    const day = cell ? dayAt(event, cell) : -1;
    if (day >= 0) open(cell, day);
  });
  let at = days.length - 1;
  table.addEventListener("focusin", (event) => { if (event.target.matches("td.days")) tell(event.target, Math.max(at, first, 0)); });
  table.addEventListener("focusout", hide);
  table.addEventListener("keydown", (event) => {
    const cell = event.target;
    if (!cell.matches("td.days")) return;
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: days.length - 1 };
    if (event.key === "Escape") hide();
    if (event.key === "Enter") open(cell, at);
    if (!(event.key in steps)) return;
    event.preventDefault();
    at = Math.max(0, first, Math.min(days.length - 1, steps[event.key]));
    tell(cell, at);
  });
})();
