// A citation names its passage after the "#", which browsers keep to themselves. Ask the server
// for the page with that passage marked.
const cited = new URLSearchParams(location.hash.slice(1));
if (cited.has("field") && cited.has("chars")) {
  const page = new URL(location.href);
  page.search = new URLSearchParams({ field: cited.get("field"), chars: cited.get("chars") });
  page.hash = "passage";
  location.replace(page);
}
// "/" and Ctrl-K lead to the search, but not while something else is being typed.
addEventListener("keydown", (event) => {
  const box = document.getElementById("q");
  const typing = event.target.closest && event.target.closest("input, textarea, select");
  const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
  const control = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (box && (slash || control)) {
    event.preventDefault();
    box.focus();
    box.select();
  }
});
// A page about work that goes on is loaded again while it is looked at.
if (document.querySelector("[data-again]")) {
  setTimeout(() => { if (!document.hidden) location.reload(); }, 2000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) location.reload(); });
}
