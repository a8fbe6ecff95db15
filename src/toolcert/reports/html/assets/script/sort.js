// Sorting: numbers by value, words by language, missing values last in both directions.
(() => {
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const compare = (a, b, direction) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    return direction * (Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y);
  };
  const next = (head) => {
    const before = head.getAttribute("aria-sort");
    if (before) return before === "ascending" ? "descending" : "ascending";
    return head.dataset.first || "ascending";
  };
  document.querySelectorAll("table[data-sortable]").forEach((table) => {
    table.querySelectorAll("thead th button").forEach((button) => button.addEventListener("click", () => {
      const head = button.closest("th");
      const order = next(head);
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const direction = order === "ascending" ? 1 : -1;
      const body = table.tBodies[0];
      Array.from(body.rows)
        .sort((a, b) => compare(value(a, head.cellIndex), value(b, head.cellIndex), direction))
        .forEach((row) => body.append(row));
    }));
  });
})();
