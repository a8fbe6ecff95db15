// Copy buttons take the text of the block they stand in; link buttons the address of what is open around them.
(() => {
  const copy = async (text, block) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = document.createElement("textarea");
      field.value = text;
      if (block) getSelection().selectAllChildren(block); else { document.body.append(field); field.select(); }
      document.execCommand("copy");
      field.remove();
    }
  };
  const linkTo = (button) => {
    const around = button.closest("details[id], .case[id]");
    if (around) address.go(around.id);
    return location.href;
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-link]");
    if (!button) return;
    const block = button.hasAttribute("data-copy") ? button.parentElement.querySelector("pre") : null;
    await copy(block ? block.textContent : linkTo(button), block);
    const words = button.dataset.words || button.textContent;
    button.dataset.words = words;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; }, 1200);
  });
  // A row that is opened gets its link, and the address names it.
  const opened = (event) => {
    const row = event.target;
    if (row.tagName !== "DETAILS" || !row.id || !row.open) return;
    const inside = row.querySelector(":scope > .inside");
    if (!inside || inside.querySelector(":scope > .links")) return;
    const line = document.createElement("p");
    const button = document.createElement("button");
    line.className = "links";
    button.type = "button";
    button.className = "button";
    button.dataset.link = "";
    button.textContent = "Copy link";
    button.setAttribute("aria-label", `Copy link to ${row.id}`);
    line.append(button);
    inside.append(line);
  };
  document.addEventListener("toggle", opened, true);
  document.addEventListener("click", (event) => {
    const summary = event.target.closest("summary");
    const row = summary && summary.parentElement;
    if (row && row.id) setTimeout(() => { if (row.open) address.go(row.id); else if (address.place() === row.id) address.go(""); });
  });
  document.querySelectorAll("details[id][open]").forEach((row) => opened({ target: row }));
})();
