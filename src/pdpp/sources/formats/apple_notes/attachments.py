"""Attachments of notes: pictures, files, links, tables and tags, each in its place."""

import mimetypes
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pdpp.sources.formats.apple_notes.kinds import kind_words
from pdpp.sources.formats.apple_notes.tables import table_text
from pdpp.sources.item import Finding, Item, Skipped, present, with_file
from pdpp.sources.keys import RecordKey, safe_key
from pdpp.sources.reading.protobuf import Message, unpacked
from pdpp.sources.reading.sqlitefile import SqliteCopy
from pdpp.sources.reading.tree import FileEntry, Tree

PLACEHOLDER = "\ufffc"
"""What stands in a text where something else than text is."""
OBJECTS = "ZICCLOUDSYNCINGOBJECT"
LATER = (
    frozenset({"ZISPINNED", "ZOCRSUMMARY", "ZPARENTATTACHMENT"}),
    frozenset({"ZALTTEXT", "ZTYPEUTI1"}),
)
"""Columns that came with macOS 10.13, and with macOS 12."""

_TABLE = "com.apple.notes.table"
_GALLERY = "com.apple.notes.gallery"
_INLINE = "com.apple.notes.inlinetextattachment"
_DRAWINGS = frozenset({"com.apple.paper", "com.apple.drawing", "com.apple.drawing.2"})
_FIELDS = (
    *("ZIDENTIFIER", "ZTYPEUTI", "ZTYPEUTI1", "ZTITLE", "ZURLSTRING", "ZALTTEXT", "ZMEDIA"),
    *("ZFILENAME", "ZOCRSUMMARY", "ZHANDWRITINGSUMMARY", "ZPARENTATTACHMENT"),
)
_MAYBE = frozenset({"ZHANDWRITINGSUMMARY"})
_TABLES = ("ZMERGEABLEDATA1", "ZMERGEABLEDATA")
_NO_PICTURE = "the lines of a drawing, of which no picture is there"
_NOT_BESIDE = "a file that does not lie beside the database"


class NoteContent(NamedTuple):
    """The words of a note, and the ids of what stands at each placeholder, in order."""

    text: str
    attachments: list[str]


def note_content(content: bytes) -> NoteContent | None:
    """Return what a compressed note holds, or None where it is none."""
    plain = unpacked(content)
    note = Message(plain or b"").message(2, 3)
    text = note.text(2)
    if text is None:
        return None
    runs = (run.message(12).text(1) for run in note.messages(5))
    return NoteContent(text, [identifier for identifier in runs if identifier])


@dataclass(frozen=True, slots=True)
class NoteObjects:
    """What notes of one database hold besides words."""

    database: SqliteCopy
    by_identifier: Mapping[str, sqlite3.Row]
    by_number: Mapping[int, sqlite3.Row]
    children: Mapping[int, list[sqlite3.Row]]
    files: Mapping[str, FileEntry]

    def inner(self, row: sqlite3.Row) -> Iterable[sqlite3.Row]:
        """Return the attachments inside an attachment, such as the pages of a scan."""
        return self.children.get(row["Z_PK"], ())

    def media(self, row: sqlite3.Row) -> sqlite3.Row | None:
        """Return what says how the file of an attachment is called."""
        return self.by_number.get(row["ZMEDIA"] or 0)

    def table(self, row: sqlite3.Row) -> str | None:
        """Return a table as Markdown."""
        self.database.has_one(OBJECTS, *_TABLES)
        columns = self.database.pick(OBJECTS, "o", *_TABLES, maybe=frozenset(_TABLES))
        query = f"SELECT {columns} FROM {OBJECTS} o WHERE o.Z_PK = ?"
        for data in self.database.rows(query, row["Z_PK"]):
            for name in _TABLES:
                if isinstance(data[name], bytes) and (text := table_text(data[name])):
                    return text
        return None


def load_objects(tree: Tree, database: SqliteCopy) -> NoteObjects:
    """Read what there is, without the tables themselves."""
    columns = database.pick(OBJECTS, "o", "Z_PK", *_FIELDS, later=LATER, maybe=_MAYBE)
    rows = list(database.rows(f"SELECT {columns} FROM {OBJECTS} o WHERE o.ZIDENTIFIER IS NOT NULL"))
    children: dict[int, list[sqlite3.Row]] = {}
    for row in rows:
        if row["ZPARENTATTACHMENT"]:
            children.setdefault(row["ZPARENTATTACHMENT"], []).append(row)
    return NoteObjects(
        database,
        {str(row["ZIDENTIFIER"]): row for row in rows},
        {row["Z_PK"]: row for row in rows},
        children,
        dict(_media_files(tree)),
    )


def _media_files(tree: Tree) -> Iterator[tuple[str, FileEntry]]:
    """Yield files by the folder of ``Media`` that they are in; a version may lie between.

    The picture of a drawing lies in ``FallbackImages``, in a folder or, before macOS 14, under a
    name that is the drawing's own.
    """
    for entry in tree.entries:
        steps = entry.name.split("/")
        if "Media" in steps[:-2]:
            yield steps[steps.index("Media") + 1], entry
        elif "FallbackImages" in steps[:-1]:
            name = steps[steps.index("FallbackImages") + 1]
            yield (name.rpartition(".")[0] if name == steps[-1] else name), entry


class HeldThing(NamedTuple):
    """What a placeholder stands for: words for the text, and records of their own."""

    words: str
    findings: list[Finding]


def held_things(
    objects: NoteObjects,
    content: NoteContent,
    note: RecordKey,
    times: Mapping[str, object],
    where: str,
) -> Iterator[HeldThing]:
    """Yield what stands at each placeholder."""
    identifiers = iter(content.attachments)
    for _ in range(content.text.count(PLACEHOLDER)):
        row = objects.by_identifier.get(next(identifiers, ""))
        if row is None:
            yield HeldThing("", [Skipped("something in a note that is not in the database", where)])
        else:
            yield _held(objects, row, note, times, where)


def _held(
    objects: NoteObjects, row: sqlite3.Row, note: RecordKey, times: Mapping[str, object], where: str
) -> HeldThing:
    kind = str(row["ZTYPEUTI"] or row["ZTYPEUTI1"] or "")
    if kind == _TABLE:
        table = objects.table(row)
        if table is None:
            return HeldThing("", [Skipped("a table that cannot be read", where)])
        return HeldThing(f"\n{table}\n", [])
    if kind.startswith(_INLINE):
        return HeldThing(str(row["ZALTTEXT"] or ""), [])
    if kind == _GALLERY:
        pages = [_held(objects, page, note, times, where) for page in objects.inner(row)]
        findings = [finding for page in pages for finding in page.findings]
        return HeldThing(" ".join(page.words for page in pages), findings)
    return _file(objects, row, kind, note, times, where)


def _file(
    objects: NoteObjects,
    row: sqlite3.Row,
    kind: str,
    note: RecordKey,
    times: Mapping[str, object],
    where: str,
) -> HeldThing:
    media = objects.media(row)
    drawn = kind in _DRAWINGS
    holder = row if drawn else media
    entry = objects.files.get(str(holder["ZIDENTIFIER"])) if holder is not None else None
    name = (media["ZFILENAME"] if media is not None else None) or row["ZTITLE"]
    link = str(row["ZURLSTRING"]) if row["ZURLSTRING"] else None
    media_type = mimetypes.guess_type(str(name or ""))[0] if media is not None else None
    key = safe_key(str(row["ZIDENTIFIER"]))
    data = {
        "id": key,
        "note_id": note,
        "name": str(name or link or ("Drawing" if drawn else "(no name)")),
        "kind": kind_words(kind),
        "media_type": media_type,
        "link": link,
        "text": row["ZOCRSUMMARY"] or row["ZHANDWRITINGSUMMARY"],
        **times,
    }
    item = Item("attachments", key, present(data, ""))
    findings: list[Finding] = []
    if entry is not None:
        item = with_file(item, entry.open_exact, media_type or entry.media_type)
    elif drawn or media is not None:
        item = with_file(item, None, "")
        findings = [Skipped(_NO_PICTURE if drawn else _NOT_BESIDE, where)]
    words = f"{data['name']} ({link})" if link else f"[{data['name']}]"
    return HeldThing(words, [item, *findings])
