"""Activity pages: the entries of a Takeout page, cut out one at a time.

A page is one long line of cells. Each has a heading, what was done with links, and the time as the
account's language writes it, local, with the zone as a word.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry

_BEGIN = b'<div class="outer-cell'
_CHUNK = 1 << 18
_LARGEST = 4 << 20
_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2})[:.](\d{2})[:.](\d{2})(?!\d)(?:[\s\u202f\u00a0]*([AaPp])\.?[Mm]\.?)?"
)
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_DAY_FIRST = re.compile(r"\b(\d{1,2})[./-](\d{1,2})[./-](?:19|20)\d{2}\b")
_YEAR_FIRST = re.compile(r"\b(?:19|20)\d{2}[./-](\d{1,2})[./-](\d{1,2})\b")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MONTHS = (
    ("jan", "gen", "ene"),
    ("feb", "fév", "fev"),
    ("mar", "mär", "mrt"),
    ("apr", "avr", "abr"),
    ("may", "mai", "mei", "mag"),
    ("jun", "juin", "giu"),
    ("jul", "juil", "lug"),
    ("aug", "aoû", "ago"),
    ("sep", "set"),
    ("oct", "okt", "ott", "out"),
    ("nov",),
    ("dec", "dez", "déc", "dic"),
)
_HOURS = {
    **dict.fromkeys(("UTC", "GMT", "WET", "Z"), 0),
    **dict.fromkeys(("BST", "WEST", "CET", "MEZ", "IST"), 1),
    **dict.fromkeys(("CEST", "MESZ", "EET"), 2),
    **dict.fromkeys(("EEST", "MSK"), 3),
    **dict.fromkeys(("EST", "CDT"), -5),
    **dict.fromkeys(("CST", "MDT"), -6),
    **dict.fromkeys(("MST", "PDT"), -7),
    **dict.fromkeys(("JST", "KST"), 9),
    "BRT": -3,
    "EDT": -4,
    "PST": -8,
}
_AMBIGUOUS = frozenset({"IST", "BST", "CST"})
"""Words that mean several zones: a time with one of them floats."""
_OFFSET = re.compile(r"(?:UTC|GMT)([+-]\d{1,2})(?::?(\d{2}))?")


class ActivityCell(NamedTuple):
    """One entry of a page."""

    product: str
    title: str
    link: str
    channel: str
    details: str
    done: str | None
    floating: bool


def is_activity_page(entry: FileEntry) -> bool:
    """Tell whether a page is a list of activities."""
    head = entry.head()
    return _BEGIN in head and b"content-cell" in head


def cells(entry: FileEntry) -> Iterator[ActivityCell | Skipped]:
    """Yield the entries of a page, however long it is."""
    html: bytes | None = b""
    for number, html in enumerate(_pieces(entry), 1):
        if html is None:
            yield Skipped("an activity too large", f"{entry.name} {number}")
        elif b"</div></div></div>" in b"".join(html.split()):
            yield _cell(html.decode("utf-8", "replace"))
    if b"</html>" not in (html or b"").lower():
        yield Skipped("the page ends in the middle", entry.name, cut=True)


def _pieces(entry: FileEntry) -> Iterator[bytes | None]:
    rest, inside = b"", False
    with entry.open() as stream:
        while chunk := stream.read(_CHUNK):
            *whole, rest = (rest + chunk).split(_BEGIN)
            for piece in whole:
                if inside:
                    yield piece if len(piece) <= _LARGEST else None
                inside = True
            if len(rest) > 2 * _LARGEST:
                rest = rest[-_LARGEST - 1 :]
    if inside:
        yield rest


def _cell(html: str) -> ActivityCell:
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(f'<div class="outer-cell{html}')
    heading = page.css_first(".header-cell")
    product = heading.text(strip=True) if heading else ""
    body = page.css_first(".content-cell")
    links = [(node.attributes.get("href") or "", node.text(strip=True)) for node in page.css("a")]
    for line_break in page.css("br"):
        line_break.replace_with("\n")
    lines = [line.strip() for line in (body.text() if body else "").split("\n") if line.strip()]
    done, floating = read_time(lines[-1]) if lines else (None, False)
    more = page.css(".content-cell")[1:]
    details = "\n".join(node.text(separator=" ", strip=True) for node in more)
    own = [link for link in links if lines and link[1] and link[1] in lines[0]]
    channels = [name for _, name in links if name in lines[1:-1]]
    return ActivityCell(
        product=product or "Google",
        title=" ".join(lines[0].split()) if lines else "",
        link=own[0][0] if own else "",
        channel=channels[0] if channels else "",
        details=details.strip(),
        done=done,
        floating=floating,
    )


def read_time(text: str) -> tuple[str | None, bool]:
    """Return a time as it stands on a page, and whether it floats because of its zone's word."""
    clock, year = _CLOCK.search(text), _YEAR.search(text)
    day = _day(text)
    if clock is None or year is None or day is None:
        return None, False
    hour = int(clock[1])
    if clock[4]:
        hour = hour % 12 + (12 if clock[4] in "Pp" else 0)
    try:
        moment = datetime(int(year[0]), *day, hour, int(clock[2]), int(clock[3]))  # noqa: DTZ001
    except ValueError:
        return None, False
    zone = _zone(text[clock.end() :])
    if zone is None:
        return moment.isoformat(), True
    return moment.replace(tzinfo=zone).astimezone(UTC).isoformat().replace("+00:00", "Z"), False


def _day(text: str) -> tuple[int, int] | None:
    """Return the month and the day."""
    if match := _YEAR_FIRST.search(text):
        return int(match[1]), int(match[2])
    if match := _DAY_FIRST.search(text):
        return int(match[2]), int(match[1])
    for word in _WORD.findall(text):
        for number, beginnings in enumerate(_MONTHS, 1):
            if word.lower().startswith(beginnings):
                days = re.findall(r"\b\d{1,2}\b(?![:.]\d)", text[: _clock_start(text)])
                return (number, int(days[0])) if days else None
    return None


def _clock_start(text: str) -> int:
    clock = _CLOCK.search(text)
    return clock.start() if clock else len(text)


def _zone(text: str) -> timezone | None:
    if match := _OFFSET.search(text):
        minutes = int(match[1]) * 60 + (int(match[2] or 0) * (-1 if match[1][0] == "-" else 1))
        return timezone(timedelta(minutes=minutes)) if abs(minutes) < 24 * 60 else None
    words = [word for word in re.findall(r"\b[A-Z]{1,5}\b", text) if word in _HOURS]
    if not words or words[-1] in _AMBIGUOUS:
        return None
    return timezone(timedelta(hours=_HOURS[words[-1]]))
