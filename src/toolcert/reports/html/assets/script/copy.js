// Copy buttons take the text of the block they stand in.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const block = button.parentElement.querySelector("pre");
  try {
    await navigator.clipboard.writeText(block.textContent);
  } catch {
    getSelection().selectAllChildren(block);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1200);
});
