"""Apple Notes: the database of a Mac, whose notes are compressed messages of fields."""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.sqlitefile import databases_with, open_database
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_OBJECTS = "ZICCLOUDSYNCINGOBJECT"
_TABLES = frozenset({_OBJECTS, "ZICNOTEDATA"})
_SINCE_2001 = 978_307_200
_LONGEST_NOTE = 16 << 20
_GZIP = 31
_LENGTH_DELIMITED = 2
_FIXED = MappingProxyType({1: 8, 5: 4})
_WAY = (2, 3, 2)
"""The numbers of the fields that lead to the text: the document, the note in it, its words."""
_OBJECT = "\ufffc"
_CREATED = ("ZCREATIONDATE3", "ZCREATIONDATE2", "ZCREATIONDATE1", "ZCREATIONDATE")
_CHANGED = ("ZMODIFICATIONDATE1", "ZMODIFICATIONDATE")
_FIELDS = (
    *("ZIDENTIFIER", "ZTITLE1", "ZFOLDER", "ZISPASSWORDPROTECTED", "ZMARKEDFORDELETION"),
    *("ZISPINNED", *_CREATED, *_CHANGED),
)


class AppleNotes(Source):
    """``NoteStore.sqlite``, copied out of the folder group.com.apple.notes."""

    connector_key = "apple_notes"
    label = "Apple Notes"
    passed_over = MappingProxyType(
        {
            "*-shm": "an index that the program builds anew",
            "*.storedata*": "settings of the program",
            "*/Previews/*": "small copies of attachments",
            "*/Media/*": "files that notes hold",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for databases with the tables of notes."""
        stores = databases_with(tree, _TABLES)
        if not stores:
            return None
        return Recognition(
            Confidence.CERTAIN,
            "a database of notes" if len(stores) == 1 else f"{len(stores)} databases of notes",
            account="Apple Notes",
            identity="Apple Notes",
            owner_known=False,
            detail={"entries": [entry.name for entry in stores]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each database."""
        for entry in tree.these(recognition.detail["entries"]):
            yield ExportPart(entry, partial(_read, tree, entry))


def _read(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    with open_database(tree, entry) as database:
        names = database.pick(_OBJECTS, "o", "Z_PK", "ZTITLE2", "ZNAME", "ZACCOUNT4", "ZACCOUNT8")
        groups = {row["Z_PK"]: row for row in database.rows(f"SELECT {names} FROM {_OBJECTS} o")}
        fields = database.pick(_OBJECTS, "o", "Z_PK", *_FIELDS)
        query = f"SELECT {fields}, d.ZDATA FROM ZICNOTEDATA d JOIN {_OBJECTS} o ON o.Z_PK = d.ZNOTE"
        for row in database.rows(f"{query} ORDER BY o.Z_PK"):
            where = f"{entry.name} note {row['Z_PK']}"
            yield from account(_note(row, groups, where), where, "note")


def _note(row: sqlite3.Row, groups: dict[int, sqlite3.Row], where: str) -> Iterator[Finding]:
    if row["ZISPASSWORDPROTECTED"]:
        yield Skipped("a note that is locked", where)
        return
    if row["ZMARKEDFORDELETION"]:
        yield Skipped("a note that was deleted", where)
        return
    identifier, content = row["ZIDENTIFIER"], row["ZDATA"]
    if not identifier or not content:
        yield Unknown("a note without an id or a text", where)
        return
    text = note_text(content)
    if text is None:
        yield Unknown("a note that is written in another way", where)
        return
    folder = groups.get(row["ZFOLDER"])
    holder = groups.get((folder["ZACCOUNT4"] or folder["ZACCOUNT8"] or 0) if folder else 0)
    lines = [line for line in text.replace(_OBJECT, "").splitlines() if line.strip()]
    key = safe_key(str(identifier))
    data: dict[str, Any] = {
        "id": key,
        "title": row["ZTITLE1"] or (lines[0].strip()[:200] if lines else "(no title)"),
        "folder": folder["ZTITLE2"] if folder else None,
        "account": holder["ZNAME"] if holder else None,
        "created_at": _moment(row, _CREATED),
        "updated_at": _moment(row, _CHANGED),
        "pinned": True if row["ZISPINNED"] else None,
        "attachments": text.count(_OBJECT) or None,
    }
    yield Item("notes", key, {"body": text.replace(_OBJECT, "").strip(), **present(data, "")})
    if _OBJECT in text:
        yield Skipped("pictures, tables and files in a note", where)


def _moment(row: sqlite3.Row, names: tuple[str, ...]) -> str | None:
    """Return the first of some times, which count seconds since 2001."""
    for name in names:
        value = row[name]
        if isinstance(value, int | float):
            return epoch_text(value + _SINCE_2001)
    return None


def note_text(content: bytes) -> str | None:
    """Return the words of a compressed note, or None where it is none."""
    try:
        reader = zlib.decompressobj(_GZIP)
        message = reader.decompress(content, _LONGEST_NOTE)
    except zlib.error:
        return None
    for number in _WAY:
        inner = _field(message, number)
        if inner is None:
            return None
        message = inner
    return message.decode("utf-8", "replace")


def _field(message: bytes, wanted: int) -> bytes | None:
    """Return the first field of a number that has a length; a broken message has none."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _LENGTH_DELIMITED:
            length, at = _varint(message, at)
            if at + length > len(message):
                return None
            if tag >> 3 == wanted:
                return message[at : at + length]
            at += length
        elif kind == 0:
            _, at = _varint(message, at)
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            return None
    return None


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number of seven bits a byte and where it ends."""
    value = 0
    for shift in range(0, 64, 7):
        if at >= len(message):
            raise ValueError("a number that breaks off")
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number too long")
