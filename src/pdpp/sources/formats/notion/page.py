"""Pages: what a page of Notion says, written as Markdown or as HTML."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pdpp.sources.formats.takeout_time import read_time
from pdpp.sources.reading.html import html_text, html_tree

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_PROPERTY = re.compile(r"([^\W\d_][^:\n]{0,80}): (.*)\Z")
_HEADING = re.compile(r"\A\s*#\s+(.+?)\s*$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\[\]\n]*\]\(<?([^()\s<>]{1,600}(?:\([^()\s]*\)[^()\s<>]*)?)>?\)")
_SOURCE = re.compile(r"""(?:src|href)=["']([^"'#?]{1,600})["']""")
_BOX = re.compile(
    r'<(div|span|input)\b[^<>]{0,200}?class="checkbox checkbox-(on|off)"[^<>]{0,200}>(?:\s*</\1>)?'
)
_ROW_KIND = re.compile(r"property-row-(\w+)")
_SEVERAL = ".selected-value, .user, a"
"""What stands in a property that may have several values."""
_CLOCK = re.compile(r"(\d{1,2}:\d{2})(?!\d|:\d)")
_LONGEST_TIME = 60
_UNKNOWN_ORDER = re.compile(r"\b\d{1,2}[/.-]\d{1,2}[/.-]\d{4}\b")
"""A day that a person lets Notion show with the month first or the day first."""
_CREATED = ("created", "created time", "created at", "date", "date created")
_UPDATED = ("last edited time", "last edited", "updated", "edited")


@dataclass(slots=True)
class NotionPage:
    """A page taken apart."""

    title: str
    text: str
    properties: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    times: dict[str, str] = field(default_factory=dict)
    """When the page was made and changed, where that does not depend on a language."""
    lines: str = ""
    """The properties as they stand above the text, which in Markdown may be words of it."""

    @property
    def created(self) -> datetime | None:
        """Return when the page was made, as far as a property says so."""
        return self._moment("created_time", _CREATED)

    @property
    def updated(self) -> datetime | None:
        """Return when the page was last changed, as far as a property says so."""
        return self._moment("last_edited_time", _UPDATED)

    def _moment(self, kind: str, names: tuple[str, ...]) -> datetime | None:
        by_name = {name.lower(): value for name, value in self.properties.items()}
        if (moment := _time(self.times.get(kind, ""))) is not None:
            return moment
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
    told = ""
    first, blank, after = rest.strip("\n").partition("\n\n")
    lines = [_PROPERTY.match(line) for line in first.split("\n")]
    if heading and all(lines):
        properties = {line.group(1): line.group(2).strip() for line in lines if line}
        told, rest = first, after if blank else ""
    # A property that holds files names them with commas between.
    named = [name for value in properties.values() for name in value.split(", ") if "." in name]
    links = [unquote(link) for link in [*_LINK.findall(rest), *named] if "://" not in link]
    return NotionPage(title, rest.strip(), properties, list(dict.fromkeys(links)), lines=told)


def html_page(html: str, name: str) -> NotionPage:
    """Return a page of HTML: a title, a table of properties, and a body."""
    page = html_tree(_BOX.sub(lambda box: "[x] " if box[2] == "on" else "[ ] ", html))
    title = page.css_first("h1.page-title") or page.css_first("title")
    properties: dict[str, str] = {}
    times: dict[str, str] = {}
    for row in page.css("table.properties tr"):
        label, value = row.css_first("th"), row.css_first("td")
        if label is not None and value is not None:
            text = _value(value)
            properties[label.text().strip()] = text
            if kind := _ROW_KIND.search(row.attributes.get("class") or ""):
                times[kind[1]] = text
    about = page.css_first(".page-description")
    body = page.css_first(".page-body") or page.body
    markup = (body.html or "") if body is not None else ""
    every = _SOURCE.findall(page.html or "")  # Covers and files of properties are not in the body.
    links = [unquote(unescape(link)) for link in every if "://" not in link]
    return NotionPage(
        (title.text().strip() if title is not None else "") or name,
        "\n\n".join(filter(None, [about.text().strip() if about else "", html_text(markup)])),
        properties,
        list(dict.fromkeys(links)),
        times,
    )


def _value(cell: "LexborNode") -> str:
    """Return what a property says: several values with commas between, as in Markdown."""
    parts = [text for part in cell.css(_SEVERAL) if (text := part.text().strip())]
    is_all = "".join("".join(parts).split()) == "".join(cell.text().split())
    text = ", ".join(parts) if is_all else html_text(cell.html or "").lstrip("@")
    return {"[x]": "Yes", "[ ]": "No"}.get(text, text)


def _time(text: str) -> datetime | None:
    """Return a time in the words of one of many languages, or the beginning of a span of days."""
    plain = " ".join(text.partition("→")[0].split())
    if not plain or len(plain) > _LONGEST_TIME:
        return None
    with suppress(ValueError):
        return datetime.fromisoformat(plain)
    if _UNKNOWN_ORDER.search(plain):
        return None
    clocked = _CLOCK.sub(r"\1:00", plain)
    told, _ = read_time(clocked if clocked != plain else f"{plain} 00:00:00")
    return datetime.fromisoformat(told) if told is not None else None
