"""Titles: what a person calls an export and its import."""

from pathlib import Path

from pdpp.evidence.amount import counted
from pdpp.sources.importing.place import UPLOADED_FOLDER
from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.reading.tree import Tree, common_folder


def found_name(tree: Tree, export: RecognisedExport, within: Path | None) -> str:
    """Return what a person calls the files of an export that was found within a folder.

    It is their own name, or that of the folder around all: many exports of one folder would have
    its name.
    """
    if tree.kind != "folder" or within is None:
        return tree.path.name
    read = {part.entry.name for part in export.source.parts(tree, export.recognition)}
    inside = next(iter(read)) if len(read) == 1 else common_folder(read)
    around = within.resolve().name
    if around == UPLOADED_FOLDER:
        return inside or counted(len(read), "file")
    return f"{around}/{inside}".rstrip("/")


def import_title(export: RecognisedExport, found: str) -> str:
    """Return what a person calls an import; one archive may hold several exports."""
    return f"{export.source.label} from {found}"
