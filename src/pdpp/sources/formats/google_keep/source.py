"""Google Keep: notes and lists of a Takeout, a JSON file and a web page for each."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.takeout import TAKEOUT_FILES, TAKEOUT_OWNER, takeout_recognition
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.times import epoch_text, moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import ExportPart, OwnerChoices, Recognition, Source, folders_of

_EDITED = "userEditedTimestampUsec"
_PATHS = frozenset({_EDITED, "isTrashed", "isArchived"})
_MADE = re.compile(rb'"createdTimestampUsec"\s*:\s*(\d+)')
_NAMED_BY_TIME = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d)[_:](\d\d)[_:](\d\d(?:\.\d+)?)(Z|[+-]\d\d)(?:[_:]?(\d\d))?"
)
_LARGEST = 32 << 20
_TITLE_CHARS = 80


class GoogleKeep(Source):
    """The folder ``Keep`` of a Takeout."""

    connector_key = "google_keep"
    owner_files = TAKEOUT_OWNER
    label = "Google Keep"
    passed_over = MappingProxyType(
        {
            **TAKEOUT_FILES,
            "*.html": "a page that shows what a JSON file holds",
            "Labels.txt": "the list of labels, which the notes hold",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for notes: small documents with the times of Keep."""
        notes = _notes(tree)
        if not notes:
            return None
        version = counted(len(notes), "note")
        return takeout_recognition(tree, self.label, version, {})

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:  # noqa: ARG002
        """Return one part for each note."""
        notes = _notes(tree)
        files = _NoteFiles(tree, notes)
        for entry in notes:
            yield ExportPart(entry, partial(_read, files, entry))

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders of the notes: in a Takeout lie many things beside them.

        The files of a note may have come in another part of the Takeout, in a folder of that name.
        """
        names = {folder.rpartition("/")[2] for folder in folders_of(self.parts(tree, recognition))}
        folders = {entry.name.rpartition("/")[0] for entry in tree.entries}
        return [folder for folder in folders if folder.rpartition("/")[2] in names]


def _notes(tree: Tree) -> list[FileEntry]:
    """Return the files that are notes; the mark stands in their first or last kilobytes."""
    return [
        entry
        for entry in tree.entries
        if entry.suffix == ".json" and entry.size < _LARGEST and _is_note(entry)
    ]


def _is_note(entry: FileEntry) -> bool:
    if b'"isTrashed"' not in entry.head() and entry.size < 1 << 16:
        return False
    return json_paths(entry, _PATHS) >= _PATHS


class _NoteFiles:
    """The notes and their files; one may have come in another part of the Takeout than its note."""

    def __init__(self, tree: Tree, notes: Iterable[FileEntry]) -> None:
        self._tree = tree
        self._notes = notes
        self._by_place: dict[str, FileEntry] = {}
        for entry in tree.entries:
            self._by_place.setdefault(_place(entry, entry.base), entry)

    @cached_property
    def shared_times(self) -> frozenset[str]:
        """Return the times at which several notes of one folder were made, as programs do."""
        seen: set[tuple[str, str]] = set()
        shared: set[str] = set()
        for entry in self._notes:
            with suppress(DamagedFile):
                for made in _MADE.findall(entry.head(_LARGEST))[:1]:
                    place = (entry.name.rpartition("/")[0], made.decode())
                    shared.update({place[1]} if place in seen else ())
                    seen.add(place)
        return frozenset(shared)

    def find(self, note: FileEntry, name: str) -> FileEntry | None:
        """Return the file of a name beside a note, else in a folder that is called the same."""
        return self._tree.beside(note, name) or self._by_place.get(_place(note, name))


def _place(beside: FileEntry, name: str) -> str:
    return "/".join([*beside.name.split("/")[-2:-1], name])


def _read(files: _NoteFiles, entry: FileEntry) -> Iterator[Finding]:
    with entry.open() as stream:
        content = stream.read(_LARGEST).removeprefix(b"\xef\xbb\xbf")
    try:
        value = read_json(content)
    except NotJson:
        raise DamagedFile("it is not JSON") from None
    yield from account(_note(files, entry, value), entry.name, "note")


def _note(files: _NoteFiles, entry: FileEntry, value: Mapping[str, Any]) -> Iterator[Finding]:
    created = value.get("createdTimestampUsec")
    edited = _edited(value[_EDITED], created, entry)
    if edited is None:
        yield Unknown("a note without a time", entry.name)
        return
    told = [str(created)] if created else []
    if not created or told[0] in files.shared_times:
        told.append(f"file {entry.base}")
    key = digest_key("note", *told)
    listed = value.get("listContent")
    text = value.get("textContent") or _ticked(listed)
    title = str(value.get("title") or "").strip() or " ".join(text.split())[:_TITLE_CHARS]
    labels = [str(label["name"]) for label in value.get("labels") or ()]
    pages = [note for note in value.get("annotations") or () if note.get("url")]
    links = [str(page["url"]) for page in pages]
    people = [str(person.get("email")) for person in value.get("sharees") or ()]
    data = {
        "id": key,
        "title": title or "(no title)",
        "text": "\n".join([text, *_told_of(pages, text)]).strip() or None,
        "labels": labels or None,
        "label_names": ", ".join(labels) or None,
        "is_list": isinstance(listed, list),
        "color": str(value.get("color") or "default").lower(),
        "pinned": bool(value.get("isPinned")),
        "archived": bool(value.get("isArchived")),
        "trashed": bool(value.get("isTrashed")),
        "link": links[0] if links else None,
        "people": ", ".join(people) or None,
        "created_at": epoch_text(int(created) / 1e6) if created else None,
        "edited_at": edited,
    }
    yield Item("notes", key, present(data))
    for number, attachment in enumerate(value.get("attachments") or (), 1):
        yield _attachment(files, entry, attachment, key, edited, f"{entry.name} file {number}")


def _edited(edited: Any, created: Any, entry: FileEntry) -> str | None:
    """Return when a note was edited; of one that never was, when it was made.

    Older notes have zero for both, and their file is called by the time.
    """
    micros = int(edited or 0) or int(created or 0)
    if not micros and (named := _NAMED_BY_TIME.match(entry.base)):
        hour, minute, second, zone, rest = named.groups()
        return moment_text(f"{hour}:{minute}:{second}{zone}" + (f":{rest}" if rest else ""))
    return epoch_text(micros / 1e6)


def _told_of(pages: Iterable[Mapping[str, Any]], text: str) -> Iterator[str]:
    """Yield what a note shows of each page beside its text: the title and the address."""
    for page in pages:
        told = (str(page.get("title") or "").strip(), str(page["url"]))
        if line := " ".join(words for words in told if words and words not in text):
            yield line


def _ticked(listed: object) -> str:
    lines = listed if isinstance(listed, list) else []
    return "\n".join(
        f"[{'x' if line.get('isChecked') else ' '}] {line.get('text') or ''}" for line in lines
    )


def _attachment(
    files: _NoteFiles,
    entry: FileEntry,
    value: Mapping[str, Any],
    note: str,
    edited: str,
    where: str,
) -> Finding:
    """Return a file of a note; Takeout names some with another ending than they have."""
    name = str(value.get("filePath") or "")
    stem = name.rpartition(".")[0]
    others = (f"{stem}.jpg", f"{stem}.jpeg", f"{stem}.png")
    entries = (
        files.find(entry, candidate) for candidate in (name, *others) if candidate.strip(".")
    )
    file = next((candidate for candidate in entries if candidate is not None), None)
    if file is None:
        return Skipped("a file that is not in the export", where)
    key = digest_key("file", note, stem)
    media_type = str(value.get("mimetype") or file.media_type)
    data = {
        "id": key,
        "note_id": note,
        "name": file.base,
        "media_type": media_type,
        "edited_at": edited,
    }
    return Item("attachments", key, data, (Attachment("file", file.open_exact, media_type),))
