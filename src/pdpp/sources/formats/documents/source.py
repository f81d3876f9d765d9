"""Documents in a folder: the text of PDF, Office, OpenDocument, EPUB, RTF and plain text files."""

import hashlib
import io
from collections.abc import Iterable, Iterator
from functools import partial
from types import MappingProxyType

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.documents.epub import read_epub
from pdpp.sources.formats.documents.opendocument import read_opendocument
from pdpp.sources.formats.documents.openxml import COMPOUND, read_openxml
from pdpp.sources.formats.documents.pdf import read_pdf
from pdpp.sources.formats.documents.plain import is_plain, read_plain
from pdpp.sources.formats.documents.rtf import read_rtf
from pdpp.sources.formats.documents.text import NotReadable, PagedText
from pdpp.sources.item import Attachment, Finding, Item, Skipped, present
from pdpp.sources.keys import RecordKey, SeenKeys
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.tree import FileEntry, Tree, is_hidden
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    FileSource,
    OwnerChoices,
    Recognition,
)

_MEDIA_TYPES = MappingProxyType(
    {
        "pdf": "application/pdf",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "docm": "application/vnd.ms-word.document.macroEnabled.12",
        "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
        "pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
        "odt": "application/vnd.oasis.opendocument.text",
        "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "epub": "application/epub+zip",
        "rtf": "application/rtf",
        "txt": "text/plain",
    }
)
_KINDS = MappingProxyType(
    {"pdf": "PDF", "epub": "book", "txt": "plain text"}
    | dict.fromkeys(("docx", "docm", "odt", "rtf"), "text document")
    | dict.fromkeys(("xlsx", "xlsm", "ods"), "spreadsheet")
    | dict.fromkeys(("pptx", "pptm", "odp"), "presentation")
)
_BY_THEMSELVES = MappingProxyType(
    {"pdf": read_pdf, "epub": read_epub, "rtf": read_rtf, "txt": read_plain}
)
_PLAIN = ".txt"
_OPEN_DOCUMENTS = frozenset({"odt", "ods", "odp"})
# The last one is that of Office files with a password.
_MARKS = (b"%PDF", b"PK\x03\x04", b"{\\rtf", COMPOUND)
_LARGEST = 64 << 20
_OFFICE_PARTS = (
    *("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"),
    *("META-INF/manifest.xml", "META-INF/container.xml"),
)


class Documents(FileSource):
    """Documents: a folder of nothing else, those among other files, or what the owner calls so."""

    connector_key = "documents"
    parts_depend = True
    collects = True
    endings = frozenset(f".{kind}" for kind in _MEDIA_TYPES) - {_PLAIN}
    label = "Documents (PDF, Word, Excel, PowerPoint)"
    passed_over = MappingProxyType(
        {
            **{f"*.{ending}": "an Office document of the older kind" for ending in ("doc", "xls")},
            "*.ppt": "an Office document of the older kind",
            "~$*": "a mark that a document is open",
            ".*": "a hidden file",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:
        """Look for documents; what holds anything else is taken only when the owner says so."""
        if tree.kind == "zip" and any(tree.get(name) for name in _OFFICE_PARTS):
            return ExportRefusal(
                f"{tree.path.name} is a document: import the folder that it lies in"
            )
        documents = _documents(tree, plain=choices.chosen)
        if not documents or not (choices.chosen or _is_all(tree, documents)):
            return None
        if not any(map(_is_document, documents[:50])):
            return None
        return Recognition(
            Confidence.LIKELY,
            counted(len(documents), "document"),
            account="Documents",
            identity="Documents",
            owner_known=False,
            records=len(documents),
            detail={"plain": choices.chosen},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each document."""
        reader = _DocumentReader(tree)
        documents = _documents(tree, plain=recognition.detail.get("plain", False))
        return [ExportPart(entry, partial(reader.read, entry)) for entry in documents]

    def pick(self, tree: Tree) -> list[FileEntry]:
        """Return the files that are documents by their first bytes too."""
        return [entry for entry in _documents(tree) if not is_hidden(entry) and _is_document(entry)]


def _kind(entry: FileEntry) -> str:
    return entry.suffix.removeprefix(".")


def _documents(tree: Tree, *, plain: bool = False) -> list[FileEntry]:
    """Return the documents of a tree.

    Plain texts are among them only where the owner calls them so: programs write many that nobody
    wants to read, and chats and tables may be plain texts too.
    """
    return [
        entry
        for entry in tree.entries
        if _kind(entry) in _MEDIA_TYPES
        and (plain or entry.suffix != _PLAIN)
        and not entry.base.startswith(("~$", "."))
    ]


def _is_all(tree: Tree, documents: list[FileEntry]) -> bool:
    """Tell whether a folder holds nothing else: chats and notes have documents among them too."""
    hidden = sum(entry.base.startswith(("~$", ".")) for entry in tree.entries)
    older = sum(entry.suffix in (".doc", ".xls", ".ppt") for entry in tree.entries)
    return len(documents) + hidden + older == len(tree.entries)


def _is_document(entry: FileEntry) -> bool:
    try:
        if entry.suffix == _PLAIN:
            return is_plain(entry.head())
        return entry.head(8).startswith(_MARKS)
    except DamagedFile:
        return False


def _read_text(content: bytes, kind: str) -> PagedText:
    if kind in _BY_THEMSELVES:
        return _BY_THEMSELVES[kind](content)
    read = read_opendocument if kind in _OPEN_DOCUMENTS else read_openxml
    return read(content, kind)


class _DocumentReader:
    """Reads documents; one that lies in two folders comes once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._seen = SeenKeys()

    def read(self, entry: FileEntry) -> Iterator[Finding]:
        """Yield a document with its text."""
        yield from account(self._document(entry), entry.name, "document")

    def _document(self, entry: FileEntry) -> Iterator[Finding]:
        with entry.open_exact() as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            yield Skipped("a document too large", entry.name)
            return
        # Names change with every copy: a document is known by its bytes.
        key = RecordKey(hashlib.sha256(content).hexdigest()[:32])
        if not self._seen.first(key):
            yield Skipped("a document that stands twice", entry.name)
            return
        kind = _kind(entry)
        try:
            document = _read_text(content, kind)
        except NotReadable as problem:
            yield Skipped(f"the text of {problem}", entry.name)
            document = PagedText()
        yield self._item(entry, key, document, content)
        if document.is_cut:
            yield Skipped("the end of a document that is very long", entry.name)
        if document.lost_parts:
            where = f"{entry.name}: {document.lost_parts:,}"
            yield Skipped("parts of a text that cannot be read", where, cut=True)
        if document.lost_pages:
            yield Skipped("pages that cannot be read", f"{entry.name}: {document.lost_pages:,}")
        if document.lost_notes:
            where = f"{entry.name}: {document.lost_notes:,}"
            yield Skipped("comments and fields that cannot be read", where)
        if document.offsets and not document.text.strip():
            yield Skipped("the text of a document that has none, perhaps a scan", entry.name)

    def _item(self, entry: FileEntry, key: RecordKey, document: PagedText, content: bytes) -> Item:
        kind = _kind(entry)
        offsets = {str(number): offset for number, offset in enumerate(document.offsets, 1)}
        data: dict[str, object] = {
            "id": key,
            "title": document.title or entry.base.rpartition(".")[0] or entry.base,
            "name": entry.base,
            "folder": self._tree.folder_of(entry),
            "kind": _KINDS[kind],
            "author": document.author,
            "created_at": document.created,
            "modified_at": document.modified,
            "pages": len(document.offsets) or None,
            "page_offsets": offsets or None,
            "size_bytes": entry.size,
        }
        file = Attachment("file", partial(io.BytesIO, content), _MEDIA_TYPES[kind])
        return Item("documents", key, {"body": document.text, **present(data, "")}, (file,))
