"""Text bundles: a note as a folder, with its files and a document that says more of it."""

from contextlib import suppress
from typing import NamedTuple

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.tree import FileEntry, Tree

_SUFFIX = ".textbundle"
_TEXT = "text"
_BEAR = "net.shinyfrog.bear"
_IDS = ("uniqueIdentifier", "bear-note-unique-identifier")


class TextBundle(NamedTuple):
    """What a bundle is called and says of its note: its id, and when it was made and changed.

    Bear calls a bundle by the title of its note, which changes; the id stays.
    """

    name: str
    id: str = ""
    created: object = None
    updated: object = None
    in_trash: bool = False


def bundle_of(tree: Tree, note: FileEntry) -> TextBundle | None:
    """Return the bundle whose text a note is; None where it lies in none."""
    folder = note.name.rpartition("/")[0].rpartition("/")[2] or tree.path.name
    if not folder.lower().endswith(_SUFFIX) or note.base.rpartition(".")[0] != _TEXT:
        return None
    told = _told(tree.beside(note, "info.json"))
    return TextBundle(
        folder[: -len(_SUFFIX)],
        next((str(told[name]) for name in _IDS if told.get(name)), ""),
        told.get("creationDate"),
        told.get("modificationDate"),
        in_trash=bool(told.get("trashed")),
    )


def _told(info: FileEntry | None) -> dict[str, object]:
    """Return what the program that wrote a bundle says of its note."""
    with suppress(DamagedFile, NotJson):
        document = read_json(info.head()) if info is not None else None
        told = document.get(_BEAR) if isinstance(document, dict) else None
        return told if isinstance(told, dict) else {}
    return {}
