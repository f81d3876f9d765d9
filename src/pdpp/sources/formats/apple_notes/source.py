"""Apple Notes: the database of a Mac, whose notes are compressed messages of fields.

What Apple sends from privacy.apple.com is texts; it is read in ``icloud_export``.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType

from pdpp.sources.formats.apple_notes.attachments import (
    LATER,
    OBJECTS,
    PLACEHOLDER,
    NoteObjects,
    held_things,
    load_objects,
    note_content,
)
from pdpp.sources.formats.apple_notes.icloud_export import DETAILS, find_details, note_parts
from pdpp.sources.formats.program_database import recognise_databases
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.sqlitefile import SqliteCopy, open_database
from pdpp.sources.reading.times import epoch_text, zone_named
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    part_of_each,
)

_TABLES = frozenset({OBJECTS, "ZICNOTEDATA"})
_SINCE_2001 = 978_307_200
_CREATED = ("ZCREATIONDATE3", "ZCREATIONDATE2", "ZCREATIONDATE1", "ZCREATIONDATE")
_CHANGED = ("ZMODIFICATIONDATE1", "ZMODIFICATIONDATE")
_HOLDERS = ("ZACCOUNT4", "ZACCOUNT8", "ZOWNER")
"""What versions call the account of a folder."""
_FIELDS = (
    *("ZIDENTIFIER", "ZTITLE1", "ZFOLDER", "ZISPASSWORDPROTECTED", "ZMARKEDFORDELETION"),
    *("ZISPINNED", *_CREATED, *_CHANGED),
)
_GROUP_FIELDS = ("ZTITLE2", "ZNAME", "ZPARENT", "ZFOLDERTYPE", *_HOLDERS)
_MAYBE = frozenset({"ZPARENT", "ZFOLDERTYPE", *_CREATED, *_CHANGED, *_HOLDERS})
"""What early versions did not have, and what each version calls otherwise."""
_RECENTLY_DELETED = 1
_DEEPEST = 100


class AppleNotes(Source):
    """``NoteStore.sqlite`` of the folder group.com.apple.notes, or what Apple sends on request."""

    connector_key = "apple_notes"
    own_folders = (
        "Accounts",
        "Media",
        "Previews",
        "FallbackImages",
        "FallbackPDFs",
        "Notes",
        "Recently Deleted",
    )
    in_place = True
    named_by_place = True
    label = "Apple Notes"
    settings = MappingProxyType(
        {"time_zone": "Zone of the times in what Apple sends, such as Europe/Lisbon."}
    )
    passed_over = MappingProxyType(
        {
            "*-shm": "an index that the program builds anew",
            "*.storedata*": "settings of the program",
            "*/Previews/*": "small copies of attachments",
            "*/FallbackImages/*": "pictures of drawings in notes that are locked or gone",
            "*/FallbackPDFs/*": "pictures of scans",
            "*/Media/*": "files of notes that are locked or gone",
            DETAILS: "times of notes, kept in the notes",
            "Shared Notes Info*.csv": "with whom notes are shared",
            "Subscribed Notes Info*.csv": "who shares notes with you",
            "Recently Deleted/*": "files of notes that were deleted",
            "*/Recently Deleted/*": "files of notes that were deleted",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for databases with the tables of notes, and for tables of times beside texts."""
        zone_named(choices.given.get("time_zone"))
        seen = recognise_databases(tree, _TABLES, self.label, "notes database")
        details = [entry.name for entry in find_details(tree)]
        if seen is None and details:
            seen = Recognition(
                Confidence.CERTAIN, "notes as texts", account=self.label, owner_known=False
            )
        more = {"details": details, "time_zone": choices.given.get("time_zone")}
        return replace(seen, detail={"entries": [], **seen.detail, **more}) if seen else None

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each database, and for each text."""
        detail = recognition.detail
        yield from part_of_each(tree.these(detail["entries"]), partial(_read, tree))
        for details in tree.these(detail["details"]):
            yield from note_parts(tree, details, zone_named(detail["time_zone"]))

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders of the notes, and the folder that Apple put all of them into."""
        tops = {name.rpartition("/")[0] for name in recognition.detail["details"]}
        above = {""} & tops and self.at_top(tree)
        return {*super().belongings(tree, recognition), *(tops - {""}), *above}


def _read(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    with open_database(tree, entry) as database:
        for either in (_CREATED, _CHANGED, _HOLDERS):
            database.has_one(OBJECTS, *either)
        names = database.pick(OBJECTS, "o", "Z_PK", *_GROUP_FIELDS, maybe=_MAYBE)
        groups = {row["Z_PK"]: row for row in database.rows(f"SELECT {names} FROM {OBJECTS} o")}
        objects = load_objects(tree, database)
        fields = database.pick(OBJECTS, "o", "Z_PK", *_FIELDS, later=LATER, maybe=_MAYBE)
        query = f"SELECT {fields}, d.ZNOTE, d.ZDATA FROM ZICNOTEDATA d"
        query = f"{query} LEFT JOIN {OBJECTS} o ON o.Z_PK = d.ZNOTE ORDER BY o.Z_PK"
        for row in chain(database.rows(query), _without_texts(database, fields)):
            where = f"{entry.name} note {row['ZNOTE']}"
            yield from account(_note(row, groups, objects, where), where, "note")
        yield from database.lacking()


def _without_texts(database: SqliteCopy, fields: str) -> Iterator[sqlite3.Row]:
    """Yield the notes that have a title and no text, which may never have come from the cloud."""
    if "ZTITLE1" in database.columns[OBJECTS]:
        texts = "SELECT ZNOTE FROM ZICNOTEDATA WHERE ZNOTE IS NOT NULL"
        yield from database.rows(
            f"SELECT {fields}, o.Z_PK AS ZNOTE, NULL AS ZDATA FROM {OBJECTS} o"
            f" WHERE o.ZTITLE1 IS NOT NULL AND o.Z_PK NOT IN ({texts}) ORDER BY o.Z_PK"
        )


def _note(
    row: sqlite3.Row, groups: dict[int, sqlite3.Row], objects: NoteObjects, where: str
) -> Iterator[Finding]:
    if row["Z_PK"] is None:
        yield Unknown("a text whose note is not in the database", where)
        return
    if row["ZISPASSWORDPROTECTED"]:
        yield Skipped("a note that is locked", where)
        return
    folder = groups.get(row["ZFOLDER"])
    in_trash = folder is not None and folder["ZFOLDERTYPE"] == _RECENTLY_DELETED
    if row["ZMARKEDFORDELETION"] or in_trash:
        yield Skipped("a note that was deleted", where)
        return
    identifier, packed = row["ZIDENTIFIER"], row["ZDATA"]
    if not identifier or not packed:
        yield Unknown("a note without an id or a text", where)
        return
    content = note_content(packed)
    if content is None:
        yield Unknown("a note that is written in another way", where)
        return
    key = safe_key(str(identifier))
    holder = groups.get(next(filter(None, map(folder.__getitem__, _HOLDERS)), 0) if folder else 0)
    created = _moment(row, _CREATED)
    times = {"created_at": created} if created else {}
    things = list(held_things(objects, content, key, times, where))
    lines = [line for line in content.text.replace(PLACEHOLDER, "").splitlines() if line.strip()]
    data: dict[str, object] = {
        "id": key,
        "title": row["ZTITLE1"] or (lines[0].strip()[:200] if lines else "(no title)"),
        "folder": "/".join(_path(folder, groups)) or None,
        "account": holder["ZNAME"] if holder else None,
        "created_at": created,
        "updated_at": _moment(row, _CHANGED),
        "pinned": True if row["ZISPINNED"] else None,
        "attachments": len(things) or None,
    }
    body = _filled(content.text, [attached.words for attached in things])
    yield Item("notes", key, {"body": body, **present(data, "")})
    for attached in things:
        yield from attached.findings


def _path(folder: sqlite3.Row | None, groups: dict[int, sqlite3.Row]) -> list[str]:
    """Return the names of a folder and of those that it lies in, the outermost first."""
    names: list[str] = []
    while folder is not None and folder["ZTITLE2"] and len(names) < _DEEPEST:
        names.insert(0, str(folder["ZTITLE2"]))
        folder = groups.get(folder["ZPARENT"])
    return names


def _filled(text: str, words: list[str]) -> str:
    """Return a text with words in place of what is no text."""
    pieces = text.split(PLACEHOLDER)
    return "".join(chain.from_iterable(zip(pieces, [*words, ""], strict=True))).strip()


def _moment(row: sqlite3.Row, names: tuple[str, ...]) -> str | None:
    """Return the first of some times, which count seconds since 2001."""
    for name in names:
        value = row[name]
        if isinstance(value, int | float):
            return epoch_text(value + _SINCE_2001)
    return None
