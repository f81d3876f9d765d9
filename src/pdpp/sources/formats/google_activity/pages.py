"""Activity pages: the entries of a Takeout page, cut out one at a time.

A page is one long line of cells. Each has a heading, what was done with links, and the time as the
account's language writes it, local, with the zone as a word.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pdpp.sources.formats.google_activity.files import is_address
from pdpp.sources.formats.takeout_time import read_time
from pdpp.sources.item import Skipped
from pdpp.sources.reading.flat_html import is_costly
from pdpp.sources.reading.page_pieces import page_pieces
from pdpp.sources.reading.tree import FileEntry

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_BEGIN = b'<div class="outer-cell'
_LONGEST_TIME = 80
_NO_FILES = ("#", "data:", "javascript:", "mailto:")
"""How links begin that lead neither to the web nor to a file."""
_BLOCKS = "p, li, h1, h2, h3, h4, tr, pre, blockquote"


class ActivityCell(NamedTuple):
    """One entry of a page."""

    product: str
    title: str
    link: str
    channel: str
    details: str
    done: str | None
    floating: bool
    files: tuple[str, ...] = ()


def is_activity_page(entry: FileEntry) -> bool:
    """Tell whether a page is a list of activities."""
    head = entry.head()
    return _BEGIN in head and b"content-cell" in head


def cells(entry: FileEntry) -> Iterator[ActivityCell | Skipped]:
    """Yield the entries of a page, however long it is."""
    html: bytes | None = b""
    for number, html in enumerate(page_pieces(entry, _BEGIN), 1):
        text = html.decode("utf-8", "replace") if html is not None else None
        if html is None or text is None or is_costly(text):
            yield Skipped("an activity too large", f"{entry.name} {number}")
        elif b"</div></div></div>" in b"".join(html.split()):
            yield _cell(text)
    if b"</html>" not in (html or b"").lower():
        yield Skipped("the page ends in the middle", entry.name, cut=True)


def _cell(html: str) -> ActivityCell:
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(f'<div class="outer-cell{html}')
    heading = page.css_first(".header-cell")
    product = heading.text(strip=True) if heading else ""
    body = page.css_first(".content-cell")
    links = [(node.attributes.get("href") or "", node.text(strip=True)) for node in page.css("a")]
    for line_break in page.css("br"):
        line_break.replace_with("\n")
    for block in page.css(_BLOCKS):
        block.insert_before("\n")
    lines = [line.strip() for line in (body.text() if body else "").split("\n") if line.strip()]
    timed, done, floating = _time_line(lines)
    more = page.css(".content-cell")[1:]
    own = [link for link in links if lines and link[1] and link[1] in lines[0]]
    channels = [name for link, name in links if name in lines[1:timed] and is_address(link)]
    # What Gemini answered stands behind the time.
    said = [line for line in lines[1:timed] if line not in channels[:1]]
    said += [*lines[timed + 1 :], *(node.text(separator=" ", strip=True) for node in more)]
    return ActivityCell(
        product=product or "Google",
        title=" ".join(lines[0].split()) if lines else "",
        link=own[0][0] if own else "",
        channel=channels[0] if channels else "",
        details="\n".join(said).strip(),
        done=done,
        floating=floating,
        files=tuple(dict.fromkeys(_files(page))),
    )


def _files(page: "LexborHTMLParser") -> Iterator[str]:
    """Yield what lies beside the page and is shown in an entry, or linked."""
    for node in page.css("a[href], img[src], audio[src], source[src]"):
        link = node.attributes.get("href") or node.attributes.get("src") or ""
        if link and not is_address(link) and not link.startswith(_NO_FILES):
            yield link


def _time_line(lines: list[str]) -> tuple[int, str | None, bool]:
    """Return which line is the time of an entry, and that time; the last one where none is."""
    for at, line in enumerate(lines[1:], 1):
        if len(line) <= _LONGEST_TIME:
            done, floating = read_time(line)
            if done is not None:
                return at, done, floating
    return len(lines) - 1, None, False
