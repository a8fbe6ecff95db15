// Deep links open what they lead to; paper shows what is marked for it; long lists open on demand.
(() => {
  const follow = () => {
    const target = address.place() && document.getElementById(address.place());
    document.querySelectorAll(".aimed").forEach((element) => element.classList.remove("aimed"));
    if (!target) return;
    target.classList.add("aimed");
    for (let element = target; element; element = element.parentElement) {
      element.classList.remove("away", "limited");
      if (element.tagName === "DETAILS") element.open = true;
    }
    target.dispatchEvent(new CustomEvent("reveal", { bubbles: true }));
    if (target.tagName === "DETAILS" || target.classList.contains("case")) target.scrollIntoView();
    else if (location.hash.includes("?")) target.scrollIntoView();
    if (target.classList.contains("case")) target.focus({ preventScroll: true });
  };
  addEventListener("hashchange", () => { address.refresh(); follow(); });
  follow();
  // A link to the address already shown changes no hash, and must open its target all the same.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href").slice(1) === address.place()) follow();
  });
  addEventListener("beforeprint", () => document.querySelectorAll("details[data-print]").forEach((element) => { element.open = true; }));
  document.querySelectorAll("[data-expand]").forEach((button) => button.addEventListener("click", () => {
    const open = button.textContent.trim() === "Expand all";
    document.getElementById(button.dataset.expand).querySelectorAll(":scope > details:not(.away)").forEach((element) => { element.open = open; });
    button.textContent = open ? "Collapse all" : "Expand all";
  }));
})();
