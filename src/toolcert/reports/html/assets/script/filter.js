// Filters: a field concerns every element in its form's scope that has the attribute data-f-FIELD; values part at "|".
// A text filter looks at the attribute, or at all that the element says where the attribute is empty.
document.querySelectorAll("form[data-scope]").forEach((form) => {
  const scope = document.querySelector(form.dataset.scope);
  const fields = Array.from(new Set(Array.from(form.elements, (element) => element.name).filter(Boolean)));
  const concerned = Array.from(scope.querySelectorAll(fields.map((name) => `[data-f-${name}]`).join(",")));
  const counted = concerned.filter((element) => element.hasAttribute("data-counted"));
  const named = (name) => (form.dataset.key ? `${form.dataset.key}.${name}` : name);
  const texts = new Map();
  const textOf = (element) => {
    if (!texts.has(element)) texts.set(element, element.textContent.toLowerCase());
    return texts.get(element);
  };
  const fits = (element, name, wanted) => {
    const own = element.getAttribute(`data-f-${name}`);
    if (own === null || !wanted) return true;
    return ["text", "find"].includes(name) ? (own || textOf(element)).includes(wanted) : own.split("|").includes(wanted);
  };
  const apply = () => {
    const wanted = Object.fromEntries(new FormData(form));
    fields.forEach((name) => address.set(named(name), (wanted[name] || "").trim()));
    ["text", "find"].forEach((name) => { wanted[name] = (wanted[name] || "").trim().toLowerCase(); });
    concerned.forEach((element) => element.classList.toggle("away", !fields.every((name) => fits(element, name, wanted[name]))));
    const shown = counted.filter((element) => !element.classList.contains("away")).length;
    form.querySelector("output").textContent = `${shown} of ${counted.length} ${form.dataset.noun}`;
    form.closest("section").querySelectorAll(".none").forEach((note) => note.classList.toggle("shown", shown === 0));
    scope.dispatchEvent(new CustomEvent("filtered"));
  };
  const recall = () => fields.forEach((name) => {
    const field = form.elements[name];
    if (field.type === "checkbox") field.checked = address.get(named(name)) === field.value; else field.value = address.get(named(name));
    if (field.value !== address.get(named(name)) && field.tagName === "SELECT") field.value = "";
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  document.querySelectorAll("[data-set]").forEach((link) => link.addEventListener("click", () => {
    const field = form.elements[link.dataset.set];
    if (field) { field.value = link.dataset.to; apply(); }
  }));
  addEventListener("hashchange", () => { address.refresh(); recall(); apply(); });
  recall();
  apply();
});
