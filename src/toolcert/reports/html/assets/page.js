"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const one = (selector, from = document) => from.querySelector(selector);

  // Light or dark, remembered where the browser allows it.
  const remembered = { get: () => { try { return localStorage.getItem("toolcert-theme"); } catch { return null; } },
                       set: (value) => { try { localStorage.setItem("toolcert-theme", value); } catch { /* private mode */ } } };
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const theme = one("#theme");
  if (remembered.get()) root.dataset.theme = remembered.get();
  if (theme) {
    theme.setAttribute("aria-pressed", isDark());
    theme.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      theme.setAttribute("aria-pressed", isDark());
      remembered.set(root.dataset.theme);
    });
  }

  // Copy buttons take the text of the block they stand in.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const block = one("pre", button.parentElement);
    try { await navigator.clipboard.writeText(block.textContent); }
    catch { getSelection().selectAllChildren(block); document.execCommand("copy"); }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1200);
  });

  // Sorting: numbers by value, words by language, missing values last in both directions.
  const key = (row, column) => { const cell = row.cells[column]; return cell.dataset.value ?? cell.textContent.trim(); };
  const compare = (a, b, direction) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    return direction * (Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y);
  };
  all("table[data-sortable]").forEach((table) => all("thead th button", table).forEach((button) => {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const column = head.cellIndex;
      const before = head.getAttribute("aria-sort");
      const order = before ? (before === "ascending" ? "descending" : "ascending") : (head.dataset.first || "ascending");
      all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const direction = order === "ascending" ? 1 : -1;
      const body = table.tBodies[0];
      Array.from(body.rows).sort((a, b) => compare(key(a, column), key(b, column), direction)).forEach((row) => body.append(row));
    });
  }));

  // Filters: every element with data-name is a model (or a row) and is shown or not, wherever it stands.
  const form = one("#filters");
  if (form) {
    const has = (list, value) => (list || "").split(" ").includes(value);
    const apply = () => {
      const wanted = Object.fromEntries(new FormData(form));
      const text = (wanted.text || "").trim().toLowerCase();
      const fits = (data) => (!text || data.name.includes(text)) && (!wanted.verdict || data.verdict === wanted.verdict)
        && (!wanted.state || has(data.states, wanted.state)) && (!wanted.finding || has(data.codes, wanted.finding));
      let shown = 0;
      all("[data-name]").forEach((element) => {
        const fit = fits(element.dataset);
        element.classList.toggle("away", !fit);
        if (fit && element.matches("[data-counted]")) shown += 1;
      });
      all("[data-code]").forEach((element) => element.classList.toggle("away", Boolean(wanted.finding) && element.dataset.code !== wanted.finding));
      one("output", form).textContent = `${shown} of ${all("[data-counted]").length} ${form.dataset.noun}`;
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", apply);
    form.addEventListener("reset", () => setTimeout(apply));
    apply();
  }

  // Deep links open what they lead to.
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
  follow();
  addEventListener("beforeprint", () => all("details[data-print]").forEach((element) => { element.open = true; }));
  all("[data-expand]").forEach((button) => button.addEventListener("click", () => {
    const open = button.textContent.trim() === "Expand all";
    all("details:not(.away)", document.getElementById(button.dataset.expand)).forEach((element) => { element.open = open; });
    button.textContent = open ? "Collapse all" : "Expand all";
  }));

  // The matrix: one tab stop, arrow keys move, a tip says what a cell means. Text only, never markup.
  const matrix = one(".matrix");
  const tip = one("#tip");
  if (matrix && tip) {
    let lit = null;
    const heads = all("thead .probe", matrix);
    const hide = () => { tip.hidden = true; if (lit) lit.classList.remove("lit"); heads.forEach((head) => head.classList.remove("lit")); lit = null; };
    const line = (tag, text) => { if (text) { const element = document.createElement(tag); element.textContent = text; tip.append(element); } };
    const show = (cell) => {
      hide();
      lit = cell;
      cell.classList.add("lit");
      const head = heads[cell.cellIndex - 1];
      if (head) head.classList.add("lit");
      tip.replaceChildren();
      line("b", `${head ? head.textContent.trim() : ""}, ${cell.parentElement.cells[0].textContent.trim()}`);
      line("div", one(".hidden", cell).textContent);
      line("div", cell.dataset.reason);
      tip.hidden = false;
      const place = cell.getBoundingClientRect();
      const left = Math.max(8, Math.min(place.left + place.width / 2 - 140, innerWidth - 296));
      const above = place.top - tip.offsetHeight - 8;
      tip.style.left = `${left + scrollX}px`;
      tip.style.top = `${(above < 8 ? place.bottom + 8 : above) + scrollY}px`;
    };
    const cellOf = (event) => event.target.closest("tbody td");
    matrix.addEventListener("mouseover", (event) => { const cell = cellOf(event); if (cell) show(cell); else hide(); });
    matrix.addEventListener("mouseleave", hide);
    matrix.addEventListener("click", (event) => { const cell = cellOf(event); if (cell) show(cell); });
    matrix.addEventListener("focusin", (event) => { const cell = cellOf(event); if (cell) show(cell); });
    matrix.addEventListener("focusout", hide);
    const first = one("tbody td", matrix);
    if (first) first.tabIndex = 0;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    matrix.addEventListener("keydown", (event) => {
      const cell = cellOf(event);
      if (event.key === "Escape") hide();
      const step = steps[event.key];
      if (!cell || !step) return;
      event.preventDefault();
      let row = cell.parentElement;
      if (step[1]) do { row = step[1] > 0 ? row.nextElementSibling : row.previousElementSibling; } while (row && row.classList.contains("away"));
      const next = row && row.cells[cell.cellIndex + step[0]];
      if (next && next.tagName === "TD") { cell.tabIndex = -1; next.tabIndex = 0; next.focus(); }
    });
  }
})();
