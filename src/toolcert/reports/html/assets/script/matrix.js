// The matrix: one tab stop, arrow keys move, groups fold, a tip says what a cell means. Text only, never markup.
(() => {
  const matrix = document.querySelector(".matrix");
  const tip = document.getElementById("tip");
  if (!matrix) return;
  const rows = () => Array.from(matrix.tBodies[0].rows);
  const heads = Array.from(matrix.querySelectorAll("thead tr:last-child > *"));

  // Folding: the columns of a group give way to one with its sum.
  const groups = Array.from(matrix.querySelectorAll("thead .group button"));
  const fold = (button, folded) => {
    const group = button.dataset.group;
    button.setAttribute("aria-expanded", String(!folded));
    button.closest("th").colSpan = folded ? 1 : Number(button.dataset.span);
    heads.forEach((head, column) => {
      if (head.dataset.group !== group) return;
      const hide = head.classList.contains("sum") !== folded;
      [head, ...rows().map((row) => row.cells[column]), matrix.tFoot.rows[0].cells[column]].forEach((cell) => { cell.hidden = hide; });
    });
  };
  // The one tab stop must never be in a folded column.
  const anchor = () => {
    const stop = matrix.querySelector('tbody td[tabindex="0"]');
    const first = matrix.querySelector("tbody tr:not(.away) td:not([hidden])");
    if (stop && !stop.hidden) return;
    if (stop) stop.tabIndex = -1;
    if (first) first.tabIndex = 0;
  };
  groups.forEach((button) => button.addEventListener("click", () => {
    hide();
    fold(button, button.getAttribute("aria-expanded") === "true");
    anchor();
  }));
  if (innerWidth < 720 && groups.length > 1) groups.forEach((button) => fold(button, true));
  anchor();

  let lit = null;
  function hide() {
    tip.hidden = true;
    if (lit) lit.classList.remove("lit");
    heads.forEach((head) => head.classList.remove("lit"));
    lit = null;
  }
  const line = (tag, text) => {
    if (!text) return;
    const element = document.createElement(tag);
    element.textContent = text;
    tip.append(element);
  };
  const show = (cell) => {
    hide();
    lit = cell;
    cell.classList.add("lit");
    const head = heads[cell.cellIndex];
    head.classList.add("lit");
    tip.replaceChildren();
    line("b", `${head.dataset.name || head.textContent.trim()}, ${cell.parentElement.cells[0].textContent.trim()}`);
    line("div", cell.querySelector(".hidden").textContent);
    line("div", cell.dataset.reason);
    if (cell.querySelector("a")) line("div", "Click or press Enter for the conversation.");
    tip.hidden = false;
    const place = cell.getBoundingClientRect();
    const left = Math.max(8, Math.min(place.left + place.width / 2 - tip.offsetWidth / 2, innerWidth - tip.offsetWidth - 16));
    const above = place.top - tip.offsetHeight - 8;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above < 8 ? place.bottom + 8 : above) + scrollY}px`;
  };
  const cellOf = (event) => { const cell = event.target.closest("tbody td"); return cell && !cell.hidden ? cell : null; };
  const showAt = (event) => { const cell = cellOf(event); if (cell) show(cell); else hide(); };
  matrix.addEventListener("mouseover", showAt);
  matrix.addEventListener("mouseleave", hide);
  matrix.addEventListener("click", showAt);
  matrix.addEventListener("focusin", showAt);
  matrix.addEventListener("focusout", hide);
  matrix.closest(".scroll").addEventListener("scroll", hide);

  // A conversation that is closed gives the focus back to its cell.
  const leave = (event) => {
    const open = event.target.closest(".case");
    if (!open || (event.type === "keydown" ? event.key !== "Escape" : !event.target.closest("[data-close]"))) return;
    event.preventDefault();
    open.classList.remove("aimed");
    location.hash = "capabilities";
    const link = matrix.querySelector(`a[href="#${CSS.escape(open.id)}"]`);
    const cell = link && link.closest("td");
    if (!cell || cell.hidden) return;
    matrix.querySelectorAll('td[tabindex="0"]').forEach((other) => { other.tabIndex = -1; });
    cell.tabIndex = 0;
    cell.focus();
  };
  document.addEventListener("click", leave);
  document.addEventListener("keydown", leave);

  matrix.setAttribute("role", "grid");
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const neighbour = (cell, [across, down]) => {
    let row = cell.parentElement;
    if (down) do { row = down > 0 ? row.nextElementSibling : row.previousElementSibling; } while (row && row.classList.contains("away"));
    let column = cell.cellIndex + across;
    while (across && row.cells[column] && row.cells[column].hidden) column += across;
    return row && row.cells[column];
  };
  matrix.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const cell = cellOf(event);
    if (cell && event.key === "Enter" && event.target === cell) { const link = cell.querySelector("a"); if (link) link.click(); }
    const step = steps[event.key];
    if (!cell || !step) return;
    event.preventDefault();
    const next = neighbour(cell, step);
    if (!next || next.tagName !== "TD" || next.hidden) return;
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
})();
