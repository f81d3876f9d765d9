"""Kindle: the file of clippings, with what was marked and noted in books, in any language."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo
from functools import partial
from types import MappingProxyType

from pdpp.sources.formats.takeout_time import read_time
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.textfile import plain_head, text_lines
from pdpp.sources.reading.times import local_text, zone_named
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    part_of_each,
)

_END = "=========="
_FIRST = re.compile(rb"\A[^\n]{1,500}\n(?:-|\xe2\x80\x93) [^\n]{1,300}\|[^\n]{1,300}\n")
"""A book and a line on what was marked in it, which begins with a long dash in Russian."""
_NOTE = re.compile(
    r"\b(?:note|notiz|nota|notitie|notatka|anotação|заметка|not)\b|笔记|筆記|メモ|메모",
    re.IGNORECASE,
)
_PAGE = re.compile(
    r"(?:page|seite|página|pagina|str\.|стр\.|страниц|sayfa|ページ)\D{0,12}(\d+(?:-\d+)?)"
    r"|(?:page|seite|página|pagina) ([ivxlc]+)\b"
    r"|(?:第\s*|#)?(\d+(?:-\d+)?)\s*(?:页|頁|ページ|페이지)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:-\d+)?")
_TO = re.compile(r"(?<=\d)(?:–| t/m )(?=\d)")
"""What stands between two numbers in Russian and in Dutch."""
_SHORT_YEAR = re.compile(r"(?<=[^\W\d] )(\d{2})(?=,? \d{1,2}:)")
"""A year behind a month, as Kindles wrote it until 2013."""
_NO_SECONDS = re.compile(r"(?<![\d:])(\d{1,2}:\d{2})(?![\d:])")
_BOOK = re.compile(r"(?P<title>.*\S)\s*\((?P<author>[^()]*(?:\([^()]*\))?[^()]*)\)\s*\Z")
_MOST_LINES = 10_000


class Kindle(Source):
    """The file ``My Clippings.txt`` of a Kindle."""

    connector_key = "kindle"
    label = "Kindle clippings"
    lies_among_others = True
    files_stand_alone = True
    settings = MappingProxyType({"time_zone": "Zone of the Kindle's clock, such as Europe/Lisbon."})

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for files that begin with a book and a line on what was marked in it."""
        zone = choices.given.get("time_zone") or ""
        zone_named(zone)
        names = [entry.name for entry in tree.named("*.txt") if _is_clippings(entry)]
        if not names:
            return None
        return Recognition(
            Confidence.CERTAIN,
            "clippings",
            account=self.label,
            owner_known=False,
            detail={"entries": names, "time_zone": zone},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        zone = zone_named(recognition.detail["time_zone"])
        entries = tree.these(recognition.detail["entries"])
        return part_of_each(entries, partial(_read, zone))


def _is_clippings(entry: FileEntry) -> bool:
    head = plain_head(entry, 65_536)
    return bool(_FIRST.match(head)) and f"\n{_END}\n".encode() in head


def _read(zone: tzinfo | None, entry: FileEntry) -> Iterator[Finding]:
    """Yield every clipping; a line of signs ends each."""
    ordinals, number, lines = Ordinals(), 0, list[str]()
    for line in text_lines(entry):
        if line.text.strip() != _END:
            if len(lines) < _MOST_LINES:
                lines.append(line.text.strip("\ufeff"))
            continue
        number += 1
        where = f"{entry.name} clipping {number}"
        yield from account(_clipping(lines, zone, ordinals, where), where, "clipping")
        lines = []
    if any(map(str.strip, lines)):
        yield Skipped("a clipping without its end", f"{entry.name} clipping {number + 1}", cut=True)


def _clipping(
    lines: list[str], zone: tzinfo | None, ordinals: Ordinals, where: str
) -> Iterator[Finding]:
    about = lines[1].strip() if len(lines) > 1 else ""
    place, bar, day = about.rpartition("|")
    moment, _ = read_time(_NO_SECONDS.sub(r"\1:00", _SHORT_YEAR.sub(r"20\1", day)))
    if not bar or not lines[0].strip():
        yield Unknown("a clipping without a book or a place", where)
        return
    text = "\n".join(lines[2:]).strip()
    added, floating = None, False
    if moment is not None:
        added, floating = local_text(datetime.fromisoformat(moment), zone)
    book = _BOOK.match(lines[0].strip())
    place = _TO.sub("-", place)
    page = _PAGE.search(place)
    rest = place[page.end() :] if page else place
    location = _NUMBER.search(rest)
    key = ordinals.key(lines[0].strip(), about, text)
    data = {
        "id": key,
        "book": book["title"] if book else lines[0].strip(),
        "author": book["author"] if book else "",
        "kind": _kind(place, text, location[0] if location else ""),
        "text": text,
        "page": next(filter(None, page.groups()), "") if page else "",
        "location": location[0] if location else "",
        "added_at": added,
        "floating": floating if added else None,
    }
    yield Item("clippings", key, present(data, ""))
    if moment is None:
        yield Skipped("a time in words that are not known", where)


def _kind(place: str, text: str, location: str) -> str:
    """Return what was marked; a passage without words, as in a scanned page, has two ends."""
    if not text and "-" not in location:
        return "bookmark"
    return "note" if _NOTE.search(place) else "highlight"
