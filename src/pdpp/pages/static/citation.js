// A citation names its passage after the "#", which browsers keep to themselves. Ask the server
// for the page with that passage marked.
const cited = new URLSearchParams(location.hash.slice(1));
if (cited.has("field") && cited.has("chars")) {
  const page = new URL(location.href);
  page.search = new URLSearchParams({ field: cited.get("field"), chars: cited.get("chars") });
  page.hash = "passage";
  location.replace(page);
}
