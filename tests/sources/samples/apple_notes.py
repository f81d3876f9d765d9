"""The database of Apple Notes, as far as notes are in it."""

import gzip
from typing import Any

from tests.sources.samples.sample import FormatSample, sqlite_bytes

SCHEMA = """
create table ZICNOTEDATA (Z_PK integer primary key, ZNOTE integer, ZDATA blob);
create table ZICCLOUDSYNCINGOBJECT (
  Z_PK integer primary key, ZIDENTIFIER text, ZTITLE1 text, ZTITLE2 text, ZNAME text,
  ZFOLDER integer, ZACCOUNT4 integer, ZCREATIONDATE3 real, ZMODIFICATIONDATE1 real,
  ZISPASSWORDPROTECTED integer, ZMARKEDFORDELETION integer, ZISPINNED integer);
"""


def _field(number: int, content: bytes) -> bytes:
    length, sizes = len(content), b""
    while length > 127:
        sizes += bytes([length & 127 | 128])
        length >>= 7
    return bytes([number << 3 | 2]) + sizes + bytes([length]) + content


def packed(text: str) -> bytes:
    """Return the text of a note as the program keeps it."""
    note = b"\x08\x01" + _field(2, text.encode()) + _field(5, b"\x08\x03")
    return gzip.compress(b"\x08\x00" + _field(2, b"\x10\x02" + _field(3, note)), mtime=0)


def note(number: int, title: str, text: str, **more: Any) -> tuple[tuple[Any, ...], ...]:
    """Return the rows of a note."""
    row = (
        number,
        f"ID-{number}",
        title,
        None,
        None,
        2,
        None,
        788_954_400.0,
        788_958_000.5,
        more.get("locked", 0),
        more.get("deleted", 0),
        more.get("pinned", 0),
    )
    return (number, number, packed(text)), row


BUOYS = note(
    10, "Buoys", "Buoys\nThe green one whistles when the swell turns \ufffc north\n", pinned=1
)
LOCKED = note(11, "Secret", "hidden", locked=1)
DELETED = note(12, "Gone", "gone", deleted=1)
LONG = note(13, "", "A first line\n" + "words " * 400)
_GROUPS = (
    (1, "A", None, None, "iCloud", None, None, None, None, None, None, None),
    (2, "F", None, "Harbour", None, None, 1, None, None, None, None, None),
)


def store(*notes: tuple[tuple[Any, ...], ...]) -> bytes:
    """Return a database."""
    rows = {
        "ZICNOTEDATA": [held[0] for held in notes],
        "ZICCLOUDSYNCINGOBJECT": [*_GROUPS, *(held[1] for held in notes)],
    }
    return sqlite_bytes(SCHEMA, rows)


SAMPLES = (
    FormatSample(
        "apple_notes",
        "the database of a Mac",
        {"NoteStore.sqlite": store(BUOYS, LOCKED, DELETED, LONG)},
        words='"whistles when the swell turns"',
        sentence="The green one whistles when the swell turns",
        earlier={"NoteStore.sqlite": store(BUOYS)},
        renamed={"NoteStore.sqlite": "NoteStore (1).sqlite"},
    ),
)
