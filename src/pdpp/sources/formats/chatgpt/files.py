"""Files of a ChatGPT export, found by the ids that messages name them by."""

import mimetypes
from collections.abc import Mapping
from typing import Any

from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.tree import FileEntry, Tree

_LARGEST = 64 << 20
_MAGIC = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
)


class ExportFiles:
    """The files of an export and their true names: since 2026 every one is called ``….dat``."""

    def __init__(self, tree: Tree) -> None:
        self._entries = {
            file_id(entry.base): entry for entry in tree.entries if entry.base.startswith("file")
        }
        self._names: dict[str, str] = {}
        self.shown_documents: set[str] = set()
        """The ids of documents on the canvas that conversations show."""
        self._made: dict[str, list[Mapping[str, Any]]] = {}
        for entry in tree.named("conversation_asset_file_names.json"):
            named = _document(entry)
            if isinstance(named, dict):
                pairs = ((name, true) for name, true in named.items() if isinstance(true, str))
                self._names.update((file_id(name), true) for name, true in pairs)
        for entry in tree.named("library_files.json"):
            listed = _document(entry)
            for file in listed if isinstance(listed, list) else ():
                if isinstance(file, dict) and isinstance(file.get("file_name"), str):
                    self._names.setdefault(file_id(str(file.get("file_id"))), file["file_name"])
                if isinstance(file, dict) and file.get("origination_message_id"):
                    self._made.setdefault(str(file["origination_message_id"]), []).append(file)

    def find(self, pointer: str) -> FileEntry | None:
        """Return the file that a pointer such as ``file-service://file-abc`` means."""
        return self._entries.get(file_id(bare(pointer)))

    def made_in(self, message: str) -> list[Mapping[str, Any]]:
        """Return the files that ChatGPT made in a message, in which only a link stands."""
        made = self._made.get(message, ())
        return [{"id": file["file_id"], **file} for file in made if file.get("file_id")]

    def show_document(self, canvas: object) -> None:
        """Take in what a message says of a document on the canvas."""
        if isinstance(canvas, Mapping) and canvas.get("textdoc_id"):
            self.shown_documents.add(str(canvas["textdoc_id"]))

    def name(self, pointer: str, given_name: Any = None) -> str:
        """Return the true name of a file, as far as the export tells it."""
        entry = self.find(pointer)
        known = self._names.get(file_id(bare(pointer)))
        return known or str(given_name or (entry.base if entry is not None else bare(pointer)))

    def media_type(self, pointer: str, given_type: Any = None) -> str:
        """Return what kind of file it is: as told, by its true name, or by its first bytes."""
        if isinstance(given_type, str) and "/" in given_type:
            return given_type
        guessed = mimetypes.guess_type(self.name(pointer))[0]
        entry = self.find(pointer)
        if guessed or entry is None:
            return guessed or "application/octet-stream"
        return sniffed(entry.head(16))


def _document(entry: FileEntry) -> Any:
    try:
        return read_json(entry.head(_LARGEST))
    except NotJson:
        return None


def sniffed(head: bytes) -> str:
    """Return the kind of file that its first bytes tell."""
    if head.startswith(b"RIFF"):
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12], "audio/wav")
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    return "application/octet-stream"


def bare(pointer: str) -> str:
    """Return the id in a pointer, without its scheme and what follows the id."""
    return pointer.rpartition("/")[2].partition("?")[0]


def file_id(name: str) -> str:
    """Return the id in a name: ``file-abc`` of ``file-abc-photo.png``, ``file_abc`` of itself."""
    stem = name.rpartition(".")[0] or name
    if stem.startswith("file_"):
        return stem.partition("-")[0]
    return "-".join(stem.split("-")[:2])


def asset_pointers(part: Mapping[str, Any]) -> list[str]:
    """Return the files that a part of a message points to.

    What was said and shown in a call is one part with several: its sound, its pictures, its film.
    """
    frames = part.get("frames_asset_pointers")
    inner = [part.get("audio_asset_pointer"), part.get("video_container_asset_pointer")]
    inner += [part, *(frames if isinstance(frames, list) else ())]
    pointers = (
        piece.get("asset_pointer") if isinstance(piece, Mapping) else piece for piece in inner
    )
    return list(dict.fromkeys(pointer for pointer in pointers if isinstance(pointer, str)))


def drawn_pictures(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the pictures that a program of ChatGPT drew; its answer names them nowhere else."""
    result = metadata.get("aggregate_result")
    shown = result.get("messages") if isinstance(result, Mapping) else None
    return [
        {"asset_pointer": picture["image_url"]}
        for picture in (shown if isinstance(shown, list) else ())
        if isinstance(picture, Mapping) and isinstance(picture.get("image_url"), str)
    ]


def named_files(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the uploads that a message names; documents stand nowhere else."""
    metadata = message.get("metadata")
    listed = metadata.get("attachments") if isinstance(metadata, Mapping) else None
    return [file for file in listed or () if isinstance(file, Mapping) and file.get("id")]
