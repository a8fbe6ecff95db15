// Filters: a field concerns every element in its form's scope that has the attribute data-f-FIELD; values part at "|".
document.querySelectorAll("form[data-scope]").forEach((form) => {
  const scope = document.querySelector(form.dataset.scope);
  const fields = Array.from(new Set(Array.from(form.elements, (element) => element.name).filter(Boolean)));
  const concerned = Array.from(scope.querySelectorAll(fields.map((name) => `[data-f-${name}]`).join(",")));
  const counted = concerned.filter((element) => element.hasAttribute("data-counted"));
  const fits = (element, name, wanted) => {
    const own = element.getAttribute(`data-f-${name}`);
    if (own === null || !wanted) return true;
    return name === "text" ? own.includes(wanted) : own.split("|").includes(wanted);
  };
  const apply = () => {
    const wanted = Object.fromEntries(new FormData(form));
    wanted.text = (wanted.text || "").trim().toLowerCase();
    concerned.forEach((element) => element.classList.toggle("away", !fields.every((name) => fits(element, name, wanted[name]))));
    const shown = counted.filter((element) => !element.classList.contains("away")).length;
    form.querySelector("output").textContent = `${shown} of ${counted.length} ${form.dataset.noun}`;
    scope.querySelectorAll(".none").forEach((note) => note.classList.toggle("shown", shown === 0));
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  document.querySelectorAll("[data-set]").forEach((link) => link.addEventListener("click", () => {
    const field = form.elements[link.dataset.set];
    if (field) { field.value = link.dataset.to; apply(); }
  }));
  apply();
});
