// Long tables show their first rows and a button for the rest; a filter looks at all of them.
document.querySelectorAll("[data-limit]").forEach((list) => {
  const entries = list.tBodies ? list.tBodies[0].rows.length : list.children.length;
  if (entries <= Number(list.dataset.limit) + 5) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button more";
  button.textContent = `Show all ${entries} ${list.dataset.noun}`;
  list.classList.add("limited");
  list.after(button);
  const open = () => { list.classList.remove("limited"); button.remove(); };
  button.addEventListener("click", open);
  const form = list.closest("section").querySelector("form[data-scope]");
  if (form) form.addEventListener("input", open);
});
