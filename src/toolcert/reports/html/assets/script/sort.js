// Sorting: numbers by value, words by language, missing values last in both directions. The address names the column.
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
    const sort = (head, order) => {
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const direction = order === "ascending" ? 1 : -1;
      const body = table.tBodies[0];
      Array.from(body.rows)
        .sort((a, b) => compare(value(a, head.cellIndex), value(b, head.cellIndex), direction))
        .forEach((row) => body.append(row));
      address.set(table.dataset.sortable, `${head.cellIndex}${order === "ascending" ? "" : "-"}`);
    };
    table.querySelectorAll("thead th button").forEach((button) => button.addEventListener("click", () => {
      const head = button.closest("th");
      sort(head, next(head));
    }));
    const asked = /^(\d+)(-?)$/.exec(address.get(table.dataset.sortable));
    const head = asked && table.tHead.rows[0].cells[Number(asked[1])];
    if (head && head.querySelector("button")) sort(head, asked[2] ? "descending" : "ascending");
  });
})();
