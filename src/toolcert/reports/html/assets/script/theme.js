// Light or dark, remembered where the browser allows it.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const recall = () => { try { return localStorage.getItem("toolcert-theme"); } catch { return null; } };
  const keep = (value) => { try { localStorage.setItem("toolcert-theme", value); } catch { /* private mode */ } };
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = document.getElementById("theme");
  if (["light", "dark"].includes(recall())) root.dataset.theme = recall();
  button.setAttribute("aria-pressed", dark());
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    button.setAttribute("aria-pressed", dark());
    keep(root.dataset.theme);
  });
})();
