// Long lists are read in pages; a filter turns back to the first, and a link turns to the page of its target.
document.querySelectorAll("[data-pages]").forEach((list) => {
  const size = Number(list.dataset.pages);
  const all = Array.from(list.children);
  const bar = document.createElement("div");
  const words = document.createElement("span");
  const [back, on] = ["Previous", "Next"].map((label) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = label;
    return button;
  });
  bar.className = "pager";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", `Pages of ${list.dataset.noun}`);
  words.setAttribute("role", "status");
  bar.append(back, words, on);
  list.after(bar);
  let first = 0;
  const show = () => {
    const left = all.filter((entry) => !entry.classList.contains("away"));
    first = Math.max(0, Math.min(first, Math.floor((left.length - 1) / size) * size));
    const page = new Set(left.slice(first, first + size));
    all.forEach((entry) => entry.classList.toggle("off", !page.has(entry)));
    words.textContent = left.length ? `${first + 1} to ${Math.min(first + size, left.length)} of ${left.length}` : "";
    bar.hidden = left.length <= size;
    back.disabled = first === 0;
    on.disabled = first + size >= left.length;
  };
  const turn = (by) => { first += by; show(); list.scrollIntoView({ block: "start" }); };
  back.addEventListener("click", () => turn(-size));
  on.addEventListener("click", () => turn(size));
  list.closest("section").addEventListener("filtered", () => { first = 0; show(); });
  list.addEventListener("reveal", (event) => {
    const entry = all.find((one) => one.contains(event.target));
    const place = all.filter((one) => one === entry || !one.classList.contains("away")).indexOf(entry);
    first = Math.floor(place / size) * size;
    show();
  });
  show();
});
