"""Lost archives: those that cannot be opened, each told in the report of the export it lies in."""

from collections.abc import Sequence
from dataclasses import replace

from pdpp.model.errors import DamagedFile
from pdpp.sources.importing.claims import FoundExport
from pdpp.sources.item import Skipped
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.nested import UNREADABLE_ARCHIVE, archive_refused
from pdpp.sources.source import folders_of


def divide(
    refused: Sequence[Skipped], exports: Sequence[FoundExport]
) -> tuple[list[Skipped], list[FoundExport]]:
    """Return what lies in no export, and the exports with what lies in them."""
    left: list[Skipped] = []
    found = [*exports]
    for skip in refused:
        inside = [
            at
            for at, export in enumerate(found)
            if skip.reason == UNREADABLE_ARCHIVE and _holds(export, archive_refused(skip), found)
        ]
        for at in inside:
            tree = found[at].tree
            refusals = tuple(dict.fromkeys((*tree.refused, skip)))
            found[at] = replace(found[at], tree=replace(tree, refused=refusals))
        if not inside:
            left.append(skip)
    return left, found


def _holds(found: FoundExport, name: str, every: Sequence[FoundExport]) -> bool:
    """Tell whether an archive lies in an export, and not merely beside it.

    At the very top of a folder lies whatever else somebody downloaded.
    """
    tree, source = found.tree, found.export.source
    if tree.get(name) is not None:
        return True
    if source.lies_among_others or source.files_stand_alone:
        return False
    try:
        if "" in source.belongings(tree, found.export.recognition):
            return True
        folders = folders_of(source.parts(tree, found.export.recognition))
    except (DamagedFile, *SURPRISES):
        return False
    alone = len(every) == 1 and "/" in name
    return any(name.startswith(f"{folder}/") if folder else alone for folder in folders)
