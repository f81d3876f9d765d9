"""Pages: what a page of Notion says, written as Markdown or as HTML."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from html import unescape
from urllib.parse import unquote

from pdpp.sources.reading.html import html_text, html_tree

_PROPERTY = re.compile(r"([^\W\d_][^:\n]{0,80}): (.*)\Z")
_HEADING = re.compile(r"\A\s*#\s+(.+?)\s*$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\[\]\n]*\]\(<?([^()\s<>]{1,600}(?:\([^()\s]*\)[^()\s<>]*)?)>?\)")
_SOURCE = re.compile(r"""(?:src|href)=["']([^"'#?]{1,600})["']""")
_TIMES = ("%B %d, %Y %I:%M %p", "%B %d, %Y %H:%M", "%B %d, %Y", "%Y-%m-%d %H:%M", "%Y-%m-%d")
_CREATED = ("created", "created time", "created at", "date", "date created")
_UPDATED = ("last edited time", "last edited", "updated", "edited")


@dataclass(slots=True)
class NotionPage:
    """A page taken apart."""

    title: str
    text: str
    properties: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)

    @property
    def created(self) -> datetime | None:
        """Return when the page was made, as far as a property says so."""
        return self._moment(_CREATED)

    @property
    def updated(self) -> datetime | None:
        """Return when the page was last changed, as far as a property says so."""
        return self._moment(_UPDATED)

    def _moment(self, names: tuple[str, ...]) -> datetime | None:
        by_name = {name.lower(): value for name, value in self.properties.items()}
        for name in names:
            if (moment := _time(by_name.get(name, ""))) is not None:
                return moment
        return None


def markdown_page(text: str, name: str) -> NotionPage:
    """Return a page of Markdown: a heading, lines of properties, an empty line, and the text."""
    heading = _HEADING.match(text)
    title = heading.group(1) if heading else name
    rest = text[heading.end() :] if heading else text
    properties: dict[str, str] = {}
    first, blank, after = rest.strip("\n").partition("\n\n")
    lines = [_PROPERTY.match(line) for line in first.split("\n")]
    if heading and all(lines):
        properties = {line.group(1): line.group(2).strip() for line in lines if line}
        rest = after if blank else ""
    # A property that holds files names them with commas between.
    named = [name for value in properties.values() for name in value.split(", ") if "." in name]
    links = [unquote(link) for link in [*_LINK.findall(rest), *named] if "://" not in link]
    return NotionPage(title, rest.strip(), properties, list(dict.fromkeys(links)))


def html_page(html: str, name: str) -> NotionPage:
    """Return a page of HTML: a title, a table of properties, and a body."""
    page = html_tree(html)
    title = page.css_first("h1.page-title") or page.css_first("title")
    properties: dict[str, str] = {}
    for row in page.css("table.properties tr"):
        label, value = row.css_first("th"), row.css_first("td")
        if label is not None and value is not None:
            properties[label.text().strip()] = value.text(separator=" ").strip().lstrip("@")
    body = page.css_first(".page-body") or page.body
    markup = (body.html or "") if body is not None else ""
    every = _SOURCE.findall(page.html or "")  # Covers and files of properties are not in the body.
    links = [unquote(unescape(link)) for link in every if "://" not in link]
    return NotionPage(
        (title.text().strip() if title is not None else "") or name,
        html_text(markup),
        properties,
        list(dict.fromkeys(links)),
    )


def _time(text: str) -> datetime | None:
    """Return a time as Notion writes it in English; other languages stay properties."""
    plain = " ".join(text.split()).removesuffix(" (GMT)").removesuffix(" (UTC)")
    for pattern in _TIMES:
        try:
            return datetime.strptime(plain, pattern)  # noqa: DTZ007 - its zone is not told
        except ValueError:
            continue
    return None
