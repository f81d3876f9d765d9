"""Tables of contacts: rows of Google, Outlook and Thunderbird, as the lines of cards."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from types import MappingProxyType

from pdpp.sources.formats.contacts_vcard.outlook_german import english
from pdpp.sources.formats.contacts_vcard.vcard import VcardLine
from pdpp.sources.reading.csvtable import CsvTable, find_table
from pdpp.sources.reading.textfile import plain_head
from pdpp.sources.reading.tree import FileEntry

PATTERNS = ("*.csv", "*.CSV")
_HINT = re.compile(rb"e-?mail|phone", re.IGNORECASE)
_MAKERS = MappingProxyType(
    {
        "Google": ({"e-mail 1 - value"}, {"phone 1 - value"}, {"given name", "group membership"}),
        "Outlook": tuple(
            {"first name", "last name", reach}
            for reach in ("e-mail address", "mobile phone", "home phone", "business phone")
        ),
        "Thunderbird": ({"display name", "primary email"},),
    }
)
"""Columns by which the tables of a program are known, each in several ways."""

_NUMBERED = re.compile(r"(.+?) (\d+) - (.+)")
_SEVERAL = " ::: "
"""What Google writes between several values of one kind."""
_PHONE = re.compile(r"(.*?)\s*(?:phone|number|(fax|pager|telex|callback|isdn))(?: number)?(?: \d)?")
_MAIL = re.compile(r"e-?mail(?: ?\d)?:? ?(?:address|adresse)|(?:primary|secondary) email")
_PLACE = re.compile(
    r"(home|business|work|other) (?:address )?"
    r"(po box|street|address|city|state|postal code|zipcode|country)(?:/region)?( [23])?"
)
_PLACE_PARTS = (
    *(("po box",), ("extended address",), ("street", "address")),
    *(("city",), ("region", "state"), ("postal code", "zipcode"), ("country",)),
)
"""The parts of an address in the order in which a card has them."""
_NAMES = (
    *(("last name", "family name"), ("first name", "given name")),
    *(("middle name", "additional name"), ("name prefix", "title"), ("name suffix", "suffix")),
)
"""The parts of a name in the order in which a card has them."""
_SINGLE = MappingProxyType(
    {
        "name": "FN",
        "display name": "FN",
        "nickname": "NICKNAME",
        "birthday": "BDAY",
        "anniversary": "ANNIVERSARY",
        "notes": "NOTE",
        "photo": "PHOTO",
        "imaddress": "IMPP",
        "screen name": "IMPP",
        "web page": "URL",
        "web page 1": "URL",
        "web page 2": "URL",
        "personal web page": "URL",
        "spouse": "X-SPOUSE",
        "children": "X-CHILD",
        "manager's name": "X-MANAGER",
        "assistant's name": "X-ASSISTANT",
        "job title": "TITLE",
        "organization title": "TITLE",
    }
)
_GROUPS = ("group membership", "labels", "categories")
_WORK = (
    ("company", "organization name", "organization"),
    ("department", "organization department"),
)
_EACH = MappingProxyType(
    {
        "e-mail": "EMAIL",
        "phone": "TEL",
        "website": "URL",
        "im": "IMPP",
        "event": "X-ABDATE",
        "relation": "RELATED",
    }
)
_SILENT = re.compile(
    r"priority|private|sensitivity|gender|file as"
    r"|e-?mail.*(?:typ|type|display name|angezeigter name)"
)
"""Columns that a program fills in by itself."""
_NO_DAY = re.compile(r"0+[/.-]0+[/.-]0+")

Cells = dict[str, str]


def find_contact_table(entry: FileEntry) -> tuple[CsvTable, str] | None:
    """Return how a table of contacts is written, and whose program wrote it."""
    first = plain_head(entry, 16_384).partition(b"\n")[0]
    table = find_table(entry) if _HINT.search(first) else None
    names = {_column(name) for name in table.header} if table else set()
    for maker, ways in _MAKERS.items():
        if table and any(way <= names for way in ways):
            return table, maker
    return None


def row_lines(header: Sequence[str], cells: Sequence[str]) -> list[VcardLine]:
    """Return a row as the lines of a card; a column that nothing knows is noted."""
    filled: Cells = {}
    for name, cell in zip(header, cells, strict=True):
        if cell.strip() and not _NO_DAY.fullmatch(cell.strip()):
            filled[_column(name)] = cell.strip()
    taken = chain(
        _whole_name(filled), _work(filled), _birthday(filled), _numbered(filled), _places(filled)
    )
    return [*taken, *chain.from_iterable(_one(name, text) for name, text in filled.items())]


def _column(name: str) -> str:
    """Return the name of a column in small letters, in English."""
    return english(" ".join(name.replace("\u2019", "'").split()).casefold())


def _line(name: str, *parts: str, kind: str = "") -> VcardLine:
    value = ";".join(re.sub(r"([\\;,])", r"\\\1", part) for part in parts)
    return VcardLine(name, {"TYPE": kind.replace(",", " ")} if kind else {}, value)


def _whole_name(filled: Cells) -> Iterator[VcardLine]:
    parts = [_taken(filled, names) for names in _NAMES]
    if any(parts):
        yield _line("N", *parts)


def _work(filled: Cells) -> Iterator[VcardLine]:
    parts = [_taken(filled, names) for names in _WORK]
    if any(parts):
        yield _line("ORG", *parts)


def _birthday(filled: Cells) -> Iterator[VcardLine]:
    """Take out the birthday of Thunderbird, which has a column for each part."""
    year, month, day = (filled.pop(f"birth {part}", "") for part in ("year", "month", "day"))
    if month and day:
        yield _line("BDAY", f"{year or '-'}-{month:0>2}-{day:0>2}")


def _taken(filled: Cells, names: Sequence[str]) -> str:
    """Take the cells of some columns out, and return the first that holds something."""
    return next(filter(None, [filled.pop(name, "") for name in names]), "")


def _numbered(filled: Cells) -> Iterator[VcardLine]:
    """Take out what Google writes in several columns with one number."""
    things: dict[tuple[str, str], Cells] = {}
    for name in list(filled):
        if match := _NUMBERED.fullmatch(name):
            what, number, part = match.groups()
            things.setdefault((what, number), {})[part] = filled.pop(name)
    for (what, _), parts in things.items():
        kind = (parts.pop("label", "") or parts.pop("type", "")).removeprefix("* ")
        yield from _thing(what, kind, parts)


def _thing(what: str, kind: str, parts: Cells) -> Iterator[VcardLine]:
    if what == "address":
        formatted = parts.pop("formatted", "")
        yield _address(parts, formatted, kind)
    elif what == "organization":
        yield _line("ORG", parts.pop("name", ""), parts.pop("department", ""))
        yield _line("TITLE", parts.pop("title", ""))
    elif what in _EACH:
        label = ", ".join(filter(None, (parts.pop("service", ""), kind)))
        for value in parts.pop("value", "").split(_SEVERAL):
            yield _line(_EACH[what], value, kind=label)
    elif value := parts.pop("value", ""):
        yield _line("NOTE", f"{kind or what}: {value}")
    yield from (_line("NOTE", f"{name}: {text}") for name, text in parts.items())


def _places(filled: Cells) -> Iterator[VcardLine]:
    """Take out the addresses of Outlook and Thunderbird, which have a column for each part."""
    places: dict[str, Cells] = {}
    for name in list(filled):
        if match := _PLACE.fullmatch(name):
            whose, part, more = match[1], match[2], match[3]
            parts = places.setdefault(whose, {})
            text = filled.pop(name)
            parts[part] = f"{parts.get(part, '')}\n{text}".strip() if more else text
    for whose, parts in places.items():
        formatted = parts.pop("address", "") if "street" in parts else ""
        yield _address(parts, formatted, whose)


def _address(parts: Cells, formatted: str, kind: str) -> VcardLine:
    places = [_taken(parts, names) for names in _PLACE_PARTS]
    return _line("ADR", *places, kind=kind) if any(places) else _line("LABEL", formatted, kind=kind)


def _one(name: str, text: str) -> Iterator[VcardLine]:
    """Yield the lines of a column that stands for itself."""
    if name in _SINGLE:
        yield _line(_SINGLE[name], text)
    elif name in _GROUPS:
        groups = re.split(r" ::: |;", text)
        yield VcardLine("CATEGORIES", {}, ",".join(group.strip().lstrip("* ") for group in groups))
    elif _MAIL.fullmatch(name):
        yield _line("EMAIL", text)
    elif phone := _PHONE.fullmatch(name):
        yield _line("TEL", text, kind=" ".join(filter(None, phone.groups())))
    elif not _SILENT.fullmatch(name):
        yield _line("NOTE", f"{name}: {text}")
