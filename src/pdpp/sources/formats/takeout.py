"""Google Takeout: what its parts share, and whose account one is of."""

import re
from collections.abc import Mapping

from pdpp.sources.reading.overview import OVERVIEWS
from pdpp.sources.reading.structure import candidates, json_paths
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, Recognition

_ADDRESS = re.compile(rb"[A-Za-z0-9.+_-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_TAKEOUT = "Takeout"
_FOLDER = re.compile(rf"{_TAKEOUT}(?: \(?\d+\)?)?")
TAKEOUT_OWNER = OVERVIEWS
TAKEOUT_FILES = {
    **dict.fromkeys(OVERVIEWS, "Takeout's own list of contents"),
    "*.css": "the looks of a page",
}


def takeout_recognition(
    tree: Tree, label: str, version: str, detail: Mapping[str, object], address: str = ""
) -> Recognition:
    """Return what is seen, with the account as far as the overview of the Takeout tells it.

    Where the part itself tells an ``address``, that is the account.
    """
    match = next((_ADDRESS.search(page.head()) for page in tree.named(*OVERVIEWS)), None)
    address = address or (match.group().decode().lower() if match else "")
    return Recognition(
        Confidence.CERTAIN,
        version,
        account=f"{label} ({address})" if address else label,
        identity=address,
        owner_known=bool(address),
        detail=detail,
    )


def takeout_folder(name: str) -> str:
    """Return the folder of the Takeout that a file lies in, nothing where it lies in none."""
    if _TAKEOUT not in name:  # A folder may hold a hundred thousand files.
        return ""
    folders = name.split("/")[:-1]
    inside = (number for number, step in enumerate(folders, 1) if _FOLDER.fullmatch(step))
    return "/".join(folders[: next(inside, 0)])


def looks_like(
    entry: FileEntry, marks: tuple[bytes, ...], paths: frozenset[str], *, expected: bool
) -> frozenset[str]:
    """Return which paths a document has; an unexpected one must show a mark at its head."""
    if not expected and not any(mark in entry.head() for mark in marks):
        return frozenset()
    return json_paths(entry, paths)


def json_files(tree: Tree, *patterns: str) -> list[tuple[FileEntry, bool]]:
    """Return the JSON files of a tree, with whether their name is one of those expected."""
    named = {entry.name for entry in tree.named(*patterns)}
    single = tree.kind == "file"
    return [
        (entry, single or entry.name in named) for entry in candidates(tree, *patterns, "*.json")
    ]
