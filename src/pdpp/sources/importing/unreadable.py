"""Files that cannot be read: they cost none of the others, and the import is not complete."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from pdpp.model.errors import DamagedFile
from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry, Tree

_UNREADABLE = "a file that cannot be read"


def unreadable_files(tree: Tree) -> dict[str, Skipped]:
    """Return the files whose beginning cannot be read, each with the reason."""
    return _failing(tree.entries, FileEntry.head)


def without_unreadable(tree: Tree) -> Tree:
    """Return a tree without the files that cannot be read, which are refused."""
    return _without(tree, unreadable_files(tree))


def still_readable(tree: Tree, export: RecognisedExport) -> Tree:
    """Return what can be read now of an export that was recognised a while ago.

    Its owner was asked meanwhile, or other exports came in, and files may have gone.
    """
    tree.meter.heads.clear()
    on_disk = (entry for entry in tree.entries if entry.on_disk)
    tree = _without(tree, _failing(on_disk, lambda entry: entry.open_exact().close()))
    try:
        for _ in export.source.parts(tree, export.recognition):
            pass
    except DamagedFile:
        return without_unreadable(tree)
    return tree


def _failing(
    entries: Iterable[FileEntry], read: Callable[[FileEntry], object]
) -> dict[str, Skipped]:
    failing: dict[str, Skipped] = {}
    for entry in entries:
        try:
            read(entry)
        except DamagedFile as problem:
            failing[entry.name] = Skipped(_UNREADABLE, problem.message, cut=True)
    return failing


def _without(tree: Tree, failing: Mapping[str, Skipped]) -> Tree:
    if not failing:
        return tree
    return replace(tree.without(failing.keys()), refused=(*tree.refused, *failing.values()))
