"""Notebooks of Evernote as ``.enex`` files: XML with a page of markup in each note."""

import base64
import binascii
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from html import escape
from types import MappingProxyType
from typing import BinaryIO

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals, RecordKey, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.html import html_text
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree, common_folder
from pdpp.sources.reading.xmlstream import XmlElement, xml_elements, xml_root
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    part_of_each,
)

_MOST_CANDIDATES = 2_000
_SAMPLE_NOTES = 50
_SAMPLE_FILES = 5
_COPY = re.compile(r"\s*\(\d{1,3}\)$")
_DONE = re.compile(r"<en-todo[^>]*checked=[\"']true[\"'][^>]*/?>", re.IGNORECASE)
_TO_DO = re.compile(r"<en-todo[^>]*/?>", re.IGNORECASE)
_TICKED = re.compile(
    r"<li\b[^<>]{0,2000}--en-checked:\s*(true|false)[^<>]{0,2000}>(?:\s*<div\b[^<>]{0,2000}>)?",
    re.IGNORECASE,
)
"""An entry of a list to tick, as version 10 writes it: a style says whether it is done."""
_MEDIA = re.compile(r"</?en-media[^>]*>", re.IGNORECASE)
_SECRET = re.compile(r"<en-crypt[^>]*>.*?</en-crypt>", re.IGNORECASE | re.DOTALL)
_TASKS = re.compile(
    r"<div[^>]*--en-task-group:\s*true[^>]*--en-id:\s*([\w-]{1,80})[^>]*?(?:/>|>\s*</div>)",
    re.IGNORECASE,
)
"""The place of a group of tasks in a page; the tasks themselves stand beside the page."""
_ENDINGS = {"image/jpeg": "jpg", "image/png": "png", "application/pdf": "pdf", "audio/wav": "wav"}
_RECOGNISED = re.compile(r"<t w=[\"']?\d+[\"']?>([^<]{1,200})</t>")
_MOST_WORDS = 2_000


class Evernote(Source):
    """The files that Evernote writes, one for each notebook."""

    connector_key = "evernote"
    lies_among_others = True
    files_stand_alone = True
    collects = True
    parts_depend = True
    namesakes = MappingProxyType({"notes": "notebook"})
    label = "Evernote notebooks"

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return folders beside each other as exports where each has one author, and not the same.

        A name that changed over the years, or a notebook that somebody shared, stands in a folder
        with others; only who unpacked the exports of two people has them in folders apart.
        """
        folders = _folders(_candidates(tree))
        if len(folders) < 2 or "" in folders:
            return ("",)
        authors = [set(_authors(notebooks, own=True)) for notebooks in folders.values()]
        alone = all(len(found) == 1 for found in authors)
        return list(folders) if alone and len(set.union(*authors)) > 1 else ("",)

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for documents whose root only this export has."""
        notebooks = _candidates(tree)
        if not any(map(_is_notebook, notebooks)):
            return None
        authors = _authors(notebooks, own=True) or _authors(notebooks, own=False)
        author = authors.most_common(1)[0][0] if authors else ""
        count = f"{len(notebooks)} notebooks" if len(notebooks) > 1 else "a notebook"
        return Recognition(
            Confidence.CERTAIN,
            count,
            account=f"Evernote ({author})" if author else "Evernote",
            identity=author or "",
            # Clippings have other authors: of a newer export most notes may be theirs.
            owner_known=False,
            detail={"entries": [entry.name for entry in notebooks]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each notebook."""
        return part_of_each(tree.these(recognition.detail["entries"]), _read)


def _candidates(tree: Tree) -> list[FileEntry]:
    if tree.kind == "file":
        return list(tree.entries)
    return tree.named("*.[eE][nN][eE][xX]")[:_MOST_CANDIDATES]


def _is_notebook(entry: FileEntry) -> bool:
    root = xml_root(entry)
    return root is not None and root.name == "en-export"


def _folders(notebooks: list[FileEntry]) -> dict[str, list[FileEntry]]:
    """Return notebooks by the folder in which their ways part; "" are those in none."""
    top = common_folder(entry.name for entry in notebooks)
    start = len(top) + 1 if top else 0
    folders: dict[str, list[FileEntry]] = {}
    for entry in notebooks:
        head, inside, _ = entry.name[start:].partition("/")
        folder = f"{top}/{head}".lstrip("/") if inside else ""
        folders.setdefault(folder, []).append(entry)
    return folders


def _authors(notebooks: list[FileEntry], *, own: bool) -> Counter[str]:
    """Return who wrote the first notes; the export does not name the account.

    A page that was clipped may name its own author: it is none of the person's ``own`` notes.
    """
    authors: Counter[str] = Counter()
    for entry in notebooks[:_SAMPLE_FILES]:
        try:
            with entry.open() as stream:
                for note in xml_elements(stream, "note"):
                    if isinstance(note, XmlElement):
                        more = note.at("note-attributes")
                        if more is not None and not (own and _is_clipped(more)):
                            authors[more.text_at("author")] += 1
                        if note.number >= _SAMPLE_NOTES:
                            break
        except DamagedFile:
            continue
    del authors[""]
    return authors


def _is_clipped(more: XmlElement) -> bool:
    return bool(more.text_at("source-url")) or more.text_at("source").startswith("web.clip")


def _read(entry: FileEntry) -> Iterator[Finding]:
    notebook = _COPY.sub("", entry.base.rpartition(".")[0])
    with entry.open() as stream:
        for element in xml_elements(stream):
            if isinstance(element, Skipped):
                yield element
            elif isinstance(element, XmlElement):
                where = f"{entry.name} {element.name} {element.number}"
                finding = _element(element, notebook, where)
                yield from account(finding, where, element.name)


def _element(element: XmlElement, notebook: str, where: str) -> Iterator[Finding]:
    if element.name != "note":
        yield Unknown(f"an element {element.name[:40]}", where)
        return
    title = element.text_at("title") or "(no title)"
    created = element.text_at("created")
    # The export gives notes no id; when a note was made and its title are what stays.
    key = digest_key("note", created, title)
    page = element.at("content") or XmlElement("content", {})
    # Yinxiang, Evernote in China, encrypts whole pages; there is nothing to read in them.
    locked = "encoding" in page.attributes
    content = _with_tasks("" if locked else page.text.strip(), element.each("task"))
    more = element.at("note-attributes") or XmlElement("note-attributes", {})
    tags = [tag.text.strip() for tag in element.each("tag") if tag.text.strip()]
    data: dict[str, object] = {
        "id": key,
        "title": title,
        "notebook": notebook,
        "tags": tags,
        "tag_names": ", ".join(tags),
        "author": more.text_at("author"),
        "created_at": _moment(created),
        "updated_at": _moment(element.text_at("updated")),
        "source_url": more.text_at("source-url"),
        "source": more.text_at("source"),
        "latitude": _number(more.text_at("latitude")),
        "longitude": _number(more.text_at("longitude")),
        "reminder_at": _moment(more.text_at("reminder-time")),
    }
    yield Item("notes", key, {"body": _text(content), **present(data, "", [])})
    if locked:
        yield Skipped("the text of a note that is encrypted", where)
    if _SECRET.search(content):
        yield Skipped("a passage that is encrypted", where)
    files = Ordinals()
    for number, resource in enumerate(element.each("resource"), 1):
        yield from account(_resource(resource, key, files, number, where), where, "resource")


def _with_tasks(content: str, tasks: Iterable[XmlElement]) -> str:
    """Return a page with its tasks as boxes to tick, each group in its place or at the end."""
    groups: dict[str, list[XmlElement]] = {}
    for task in tasks:
        groups.setdefault(task.text_at("taskGroupNoteLevelID"), []).append(task)
    if not groups:
        return content
    page = _TASKS.sub(lambda place: _boxes(groups.pop(place[1], [])), content)
    rest = "".join(map(_boxes, groups.values()))
    before, end, after = page.rpartition("</en-note>")
    return f"{before}{rest}{end}{after}" if end else page + rest


def _boxes(tasks: list[XmlElement]) -> str:
    """Return a group of tasks in the order that the note shows them in."""
    return "".join(map(_box, sorted(tasks, key=lambda task: task.text_at("sortWeight"))))


def _box(task: XmlElement) -> str:
    done = "true" if task.text_at("taskStatus") == "completed" else "false"
    due = (_moment(task.text_at("dueDate")) or "")[:10]
    title = escape(task.text_at("title")) + (f" (due {due})" if due else "")
    return f'<div><en-todo checked="{done}"/>{title}</div>'


def _text(content: str) -> str:
    """Return the words of a note; boxes to tick become ``[ ]`` and ``[x]``."""
    markup = _TO_DO.sub("[ ] ", _DONE.sub("[x] ", _TICKED.sub(_with_box, content)))
    markup = _SECRET.sub("<div>[encrypted]</div>", _MEDIA.sub("", markup))
    return html_text(markup.partition("?>")[2] if markup.startswith("<?xml") else markup)


def _with_box(entry: re.Match[str]) -> str:
    return f"{entry[0]}[{'x' if entry[1].lower() == 'true' else ' '}] "


def _resource(
    resource: XmlElement, note: RecordKey, files: Ordinals, number: int, where: str
) -> Iterator[Finding]:
    """Yield a file; it is known by its bytes, because others may be put before it."""
    encoded = resource.text_at("data")
    try:
        content = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        yield Unknown("a file that is not written as base64", where)
        return
    if not content:
        yield Skipped("a file that is empty", where)
        return
    media_type = resource.text_at("mime") or "application/octet-stream"
    digest = hashlib.sha256(content).hexdigest()[:16]
    key = safe_key(note, digest, str(files.number(note, digest)))
    name = resource.text_at("resource-attributes", "file-name")
    words = _RECOGNISED.findall(resource.text_at("recognition"))[:_MOST_WORDS]
    data = {
        "id": key,
        "note_id": note,
        "name": name or f"file {number}.{_ENDINGS.get(media_type, 'bin')}",
        "media_type": media_type,
        "recognised_text": " ".join(dict.fromkeys(words)),
    }
    file = Attachment("file", partial(_opened, content), media_type)
    yield Item("attachments", key, present(data, ""), (file,))


def _opened(content: bytes) -> BinaryIO:
    return io.BytesIO(content)


def _moment(text: str) -> str | None:
    """Return a time such as ``20260131T080000Z``, or as other programs write it."""
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").isoformat() + "Z"  # noqa: DTZ007 - UTC
    except ValueError:
        return moment_text(text)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= 180 else None
