"""The census: what an export holds, counted without any source, to compare with a report.

A reader that overlooks a kind of thing cannot notice it by itself. The census knows no format: it
counts files and bytes by kind, the objects of JSON documents by their path, the elements of XML
documents by their name, lines, and the marks that begin a message, a card or a calendar entry.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import ijson

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.jsprefix import assigned_name, without_prefix
from pdpp.sources.reading.lines import lines
from pdpp.sources.reading.nesting import Nesting
from pdpp.sources.reading.sqlitefile import SQLITE_HEAD, count_rows
from pdpp.sources.reading.structure import opening
from pdpp.sources.reading.textfile import open_narrow, text_lines
from pdpp.sources.reading.tree import FileEntry, Tree

_MARK = b"\xef\xbb\xbf"
_MOST_PATHS = 200
_CELLS = {
    b'<div class="outer-cell': "cells of activities",
    b'<div class="message default': "messages of a page",
}
"""How the entries of pages that are one long list begin, as Takeout and Telegram write them."""
_TEXT_SUFFIXES = frozenset(
    {".txt", ".csv", ".tsv", ".mbox", ".eml", ".vcf", ".ics", ".vcs", ".md", ".jsonl"}
    | {".ndjson", ".ofx", ".qfx", ".qif", ".sta", ".mt940", ""}
)
_XML_SUFFIXES = frozenset({".xml", ".enex", ".gpx", ".kml"})
_BEGINNINGS = (
    (re.compile(rb"From (?:\S+.*\d{4}|\s*\Z)"), "messages of a mailbox"),
    (re.compile(rb"\s*<STMTTRN>", re.IGNORECASE), "transactions of a statement"),
    (re.compile(rb"\s*<POS(?:DEBT|MF|OPT|OTHER|STOCK)>", re.IGNORECASE), "holdings of a statement"),
    (
        re.compile(rb"\s*<(?:DEBT|MF|OPT|OTHER|STOCK)INFO>", re.IGNORECASE),
        "securities of a statement",
    ),
    (re.compile(rb":61:"), "lines of a statement"),
    (re.compile(rb"\^+\s*\Z"), "ends of entries"),
    (re.compile(rb"={10}\s*\Z"), "ends of clippings"),
    (re.compile(rb"(?:\xe2\x80\x8e)?\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? "), "lines with a date"),
    (re.compile(rb"BEGIN:(VCARD|VEVENT|VTODO|VJOURNAL)", re.IGNORECASE), ""),
)
_ID_LIKE = re.compile(r"[0-9a-fA-F-]{16,}|\d{4,}|(?=.*\d)[A-Za-z]+[-_][0-9A-Za-z-]{8,}")


@dataclass(slots=True)
class Census:
    """Counts of everything, by kind."""

    files: Counter[str] = field(default_factory=Counter)
    size: Counter[str] = field(default_factory=Counter)
    units: Counter[str] = field(default_factory=Counter)

    def document(self) -> dict[str, Any]:
        """Return the census as JSON data."""
        return {
            "files": dict(self.files.most_common()),
            "bytes": dict(self.size.most_common()),
            "units": dict(self.units.most_common(_MOST_PATHS)),
        }


def take_census(tree: Tree) -> Census:
    """Count what a tree holds; what is broken is counted as far as it can be read."""
    census = Census()
    for entry in tree.entries:
        kind = entry.suffix or "(no ending)"
        census.files[kind] += 1
        census.size[kind] += entry.size
        with suppress(DamagedFile, ijson.JSONError):
            if entry.head(len(SQLITE_HEAD)) == SQLITE_HEAD:
                for table, count in count_rows(tree, entry).items():
                    census.units[f"rows of {table}"] += count
            else:
                _count(entry, census)
    return census


def _count(entry: FileEntry, census: Census) -> None:
    if entry.suffix == ".json" or (not entry.suffix and opening(entry) in (b"{", b"[")):
        _count_objects(entry, census)
    elif entry.suffix in _XML_SUFFIXES:
        with entry.open() as stream:
            _count_tags(stream, census)
    elif assigned_name(entry) is not None:
        _count_objects(without_prefix(entry), census)
    elif entry.suffix == ".csv":
        _count_rows(entry, census)
    elif entry.suffix == ".html":
        _count_cells(entry, census)
    elif entry.suffix in _TEXT_SUFFIXES:
        with open_narrow(entry) as stream:
            for line in lines(stream):
                _count_line(line.text, census)


def _count_objects(entry: FileEntry, census: Census) -> None:
    """Count the objects of a document, of as many kinds as are told."""
    with entry.open() as stream:
        for path in object_paths(stream):
            unit = f"JSON objects at {path or 'the top'}"
            if unit in census.units or len(census.units) < _MOST_PATHS:
                census.units[unit] += 1


def _count_rows(entry: FileEntry, census: Census) -> None:
    """Count the lines of a table and the rows below its first one."""
    lines = [0]

    def texts() -> Iterator[str]:
        for line in text_lines(entry):
            lines[0] += bool(line.text.strip())
            yield f"{line.text}\n"

    with suppress(csv.Error):
        rows = sum(1 for row in csv.reader(texts()) if any(row))
        census.units["rows below a header"] += max(0, rows - 1)
    census.units["lines with text"] += lines[0]


def _count_cells(entry: FileEntry, census: Census) -> None:
    """Count the entries of a page that is one long list."""
    tails = dict.fromkeys(_CELLS, b"")
    with entry.open() as stream:
        while chunk := stream.read(1 << 20):
            for begin, name in _CELLS.items():
                looked_at = tails[begin] + chunk
                if count := looked_at.count(begin):
                    census.units[name] += count
                tails[begin] = looked_at[-len(begin) + 1 :]


def _count_line(text: bytes, census: Census) -> None:
    if text.strip():
        census.units["lines with text"] += 1
    for pattern, name in _BEGINNINGS:
        if match := pattern.match(text):
            census.units[name or match.group(1).decode().upper()] += 1


def object_paths(stream: BinaryIO) -> Iterator[str]:
    """Yield the path of every object of a document; members that are ids are one kind."""
    content = _Markless(stream)
    for prefix, event, _ in ijson.parse(content, use_float=True):
        if event == "start_map":
            yield ".".join("*" if _ID_LIKE.fullmatch(step) else step for step in prefix.split("."))


_TAG = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)[\s/>]")
_NO_TAGS = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
_LONGEST_TAIL = 1 << 20


def _count_tags(stream: BinaryIO, census: Census) -> None:
    """Count the tags that begin an element, as they stand there; nothing is parsed."""
    rest = b""
    while chunk := stream.read(1 << 18):
        text = _NO_TAGS.sub(b"", rest + chunk)
        cut = max(text.rfind(b"<!--"), text.rfind(b"<![CDATA["))
        cut = cut if cut >= 0 else max(text.rfind(b"<"), len(text) - _LONGEST_TAIL)
        text, tail = text[:cut], text[cut:]
        rest = tail[:9] + tail[9:][-_LONGEST_TAIL:]  # The mark that opens a section stays.
        _count_names(text, census)
    _count_names(rest, census)


def _count_names(text: bytes, census: Census) -> None:
    for name in _TAG.findall(text):
        census.units[f"XML elements {name.decode()}"] += 1


class _Markless:
    """A stream without the mark before it, up to where it goes deeper than exports do."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._begun = False
        self._nesting = Nesting()

    def read(self, size: int = 1 << 16) -> bytes:
        """Read on."""
        chunk = self._stream.read(size)
        if self._nesting.is_too_deep(chunk):
            return b""
        if not self._begun:
            self._begun = True
            return chunk.removeprefix(_MARK)
        return chunk
