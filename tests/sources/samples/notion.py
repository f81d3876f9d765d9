"""Exports of Notion, as Markdown with CSV and as HTML."""

from tests.sources.samples.sample import FormatSample

HOME = "1f0a" * 8
TRIP = "2b1c" * 8
PLAN = "3c2d" * 8
ROW = "4d3e" * 8
PHOTO = b"\xff\xd8\xff\xe0" + b"x" * 40
PART = "ExportBlock-5f1c0000-0000-4000-8000-000000000001-Part-1"


def markdown(more: bool = True) -> dict[str, bytes]:
    """Return the files of an export as Markdown."""
    files = {
        f"{PART}/Home {HOME}.md": (
            f"# Home\n\nWelcome aboard.\n\n[Trip](Home%20{HOME}/Trip%20{TRIP}.md)\n"
            f"![photo](Home%20{HOME}/quay%20wall.jpg)\n"
        ).encode(),
        f"{PART}/Home {HOME}/quay wall.jpg": PHOTO,
        f"{PART}/Home {HOME}/Trip {TRIP}.md": (
            b"# Trip to Berlenga\n\nCreated: January 5, 2026 10:30 AM\nTags: sea, birds\n"
            b"Status: planned\n\nThe boat to Berlenga leaves only when puffins nest.\n"
        ),
    }
    if more:
        table = "\ufeffName,Cost,Who\nRope,12.50,Ivo\nFlare,30,\n".encode()
        files |= {
            f"{PART}/Home {HOME}/Shopping {PLAN}.csv": table,
            f"{PART}/Home {HOME}/Shopping {PLAN}_all.csv": table,
            f"{PART}/Home {HOME}/Shopping {PLAN}/Rope {ROW}.md": (
                b"# Rope\n\nCost: 12.50\nWho: Ivo\n"
            ),
        }
    return files


HTML = {
    f"Home {HOME}.html": (
        f'<html><head><title>Home</title></head><body><article id="{HOME}" class="page sans">'
        '<header><h1 class="page-title">Home</h1><table class="properties"><tbody>'
        "<tr><th>Created</th><td><time>@January 5, 2026 10:30 AM</time></td></tr>"
        "<tr><th>Tags</th><td><span>sea</span></td></tr></tbody></table></header>"
        '<div class="page-body"><p>Cormorants dry their wings upon the northern buoy.</p>'
        f'<figure><img src="Home%20{HOME}/quay%20wall.jpg"/></figure></div></article></body></html>'
    ).encode(),
    f"Home {HOME}/quay wall.jpg": PHOTO,
    "index.html": b"<html><body>list</body></html>",
}

SAMPLES = (
    FormatSample(
        "notion",
        "Markdown and CSV",
        markdown(),
        units={"page": ["files .md"], "table": ["files .csv"]},
        uncut="a page may end anywhere",
        words='"only when puffins nest"',
        sentence="The boat to Berlenga leaves only when puffins nest.",
        earlier=markdown(more=False),
    ),
    FormatSample(
        "notion",
        "HTML",
        HTML,
        words='"Cormorants dry their wings"',
        sentence="Cormorants dry their wings upon the northern buoy.",
    ),
)
