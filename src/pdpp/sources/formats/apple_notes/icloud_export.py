"""Notes as privacy.apple.com gives them: a folder with a text for each, and a table of times."""

import posixpath
import re
from collections.abc import Iterator
from datetime import datetime, tzinfo
from functools import partial

from pdpp.sources.formats.apple_notes.attachments import PLACEHOLDER
from pdpp.sources.item import Attachment, Finding, Item, Skipped, present
from pdpp.sources.keys import digest_key, safe_key
from pdpp.sources.reading.csvtable import Row, find_table, rows
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.times import local_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import ExportPart

DETAILS = "Notes Details*.csv"
_COLUMNS = ("Title", "Created On", "Modified On", "Pinned")
_NOTES, _BIN = "Notes", "Recently Deleted"
_LARGEST = 8 << 20
_NUMBERED = re.compile(r"-\d{1,4}\Z")
_UNTITLED = "(no title)"


def find_details(tree: Tree) -> list[FileEntry]:
    """Return the tables of times, one for each export."""
    return [entry for entry in tree.named(DETAILS) if _details(entry)]


def note_parts(tree: Tree, details: FileEntry, zone: tzinfo | None) -> Iterator[ExportPart]:
    """Yield a part for each note that lies beside a table of times."""
    export = _CloudExport(tree, details, zone)
    for entry in export.texts:
        yield ExportPart(entry, partial(export.read, entry))


def _details(entry: FileEntry) -> dict[str, list[dict[str, str]]]:
    """Return what the table says of notes, by their titles."""
    table = find_table(entry)
    names = [name.strip() for name in table.header] if table is not None else []
    if table is None or not set(_COLUMNS) <= set(names):
        return {}
    by_title: dict[str, list[dict[str, str]]] = {"": []}
    for row in rows(entry, table):
        if isinstance(row, Row):
            told = {name: cell.strip() for name, cell in zip(names, row.cells, strict=False)}
            by_title.setdefault(told.get("Title", ""), []).append(told)
    return by_title


class _CloudExport:
    """The notes of one export: each text lies in a folder of its own, with its files."""

    def __init__(self, tree: Tree, details: FileEntry, zone: tzinfo | None) -> None:
        self._top = details.name.removesuffix(details.base)
        self._zone = zone
        self._details = _details(details)
        entries = [entry for entry in tree.entries if entry.name.startswith(self._top)]
        own = [entry for entry in entries if "/" in entry.name.removeprefix(self._top)]
        texts = (entry for entry in own if entry.suffix == ".txt" and self._is_note(entry))
        self.texts = sorted(texts, key=lambda entry: entry.name)
        first_text: dict[str, FileEntry] = {}
        for text in self.texts:
            first_text.setdefault(posixpath.dirname(text.name), text)
        self._files: dict[str, list[FileEntry]] = {}
        for entry in own:
            note = _owner(entry, first_text) if entry.suffix != ".txt" else None
            if note is not None:
                self._files.setdefault(note.name, []).append(entry)

    def _is_note(self, entry: FileEntry) -> bool:
        """Tell whether a text is a note: it lies where notes do, or the table names it."""
        top = entry.name.removeprefix(self._top).partition("/")[0]
        stem = entry.base.removesuffix(entry.suffix)
        return top in (_NOTES, _BIN) or _NUMBERED.sub("", stem) in self._details

    def read(self, entry: FileEntry) -> Iterator[Finding]:
        """Yield a note and its files."""
        yield from account(self._note(entry), entry.name, "note")

    def _note(self, entry: FileEntry) -> Iterator[Finding]:
        top, *steps = entry.name.removeprefix(self._top).split("/")[:-1]
        if top == _BIN:
            yield Skipped("a note that was deleted", entry.name)
            return
        if top != _NOTES:
            # Nothing says that a note which lies elsewhere was deleted.
            steps = [top, *steps]
        with entry.open() as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            yield Skipped("a note too large", entry.name)
            return
        text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        key = digest_key("note", *steps, entry.base)
        body = _plain(text)
        title = next((line.strip() for line in body.splitlines() if line.strip()), _UNTITLED)
        files = self._files.get(entry.name, [])
        data: dict[str, object] = {
            "id": key,
            "title": title[:200],
            "folder": "/".join(steps[:-1]),
            **self._told(entry, title),
            "attachments": len(files) or None,
        }
        yield Item("notes", key, {"body": body, **present(data, "")})
        for file in files:
            own = safe_key(
                key, digest_key(posixpath.relpath(file.name, f"{self._top}{_NOTES}"))[:16]
            )
            named = {"id": own, "note_id": key, "name": file.base, "media_type": file.media_type}
            yield Item(
                "attachments", own, named, (Attachment("file", file.open_exact, file.media_type),)
            )

    def _told(self, entry: FileEntry, title: str) -> dict[str, object]:
        """Return what the table says of a note; of several with one title nobody can tell which."""
        stem = _NUMBERED.sub("", entry.base.removesuffix(".txt"))
        found = self._details.get(title) or self._details.get(stem) or []
        if len(found) != 1:
            return {}
        created, floating = self._moment(found[0].get("Created On", ""))
        updated, _ = self._moment(found[0].get("Modified On", ""))
        return {
            "created_at": created,
            "updated_at": updated,
            "floating": floating or None,
            "pinned": found[0].get("Pinned", "").casefold() == "yes" or None,
        }

    def _moment(self, text: str) -> tuple[str | None, bool]:
        """Return a time such as ``01-31-2026 08:00:00``, the month first."""
        try:
            return local_text(datetime.strptime(text, "%m-%d-%Y %H:%M:%S"), self._zone)  # noqa: DTZ007 - local
        except ValueError:
            return None, False


def _owner(entry: FileEntry, first_text: dict[str, FileEntry]) -> FileEntry | None:
    """Return the note whose folder a file lies in, at any depth."""
    folder = posixpath.dirname(entry.name)
    while folder and folder not in first_text:
        folder = posixpath.dirname(folder)
    return first_text.get(folder)


def _plain(text: str) -> str:
    """Return a text with boxes to tick written as elsewhere, and without marks of files."""
    lines = text.replace("\r\n", "\n").replace(PLACEHOLDER, "")
    return lines.replace("\t\u25e6\t", "[ ] ").replace("\t\u2713\t", "[x] ").strip()
