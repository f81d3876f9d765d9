"""Owners: exports of several people that lie unpacked in one folder, told apart.

Zipped, each is an export of its own, and so it must be unzipped: nobody's messages may come into
the account of somebody else because their folders lie beside each other.
"""

from collections.abc import Iterator, Sequence

from pdpp.sources.importing.recognition import ask_source
from pdpp.sources.reading.tree import Tree, common_folder
from pdpp.sources.source import ExportRefusal, OwnerChoices, Recognition, Source

OwnedPart = tuple[Tree, Recognition | ExportRefusal | None]


def owned_parts(tree: Tree, choices: OwnerChoices, source: Source) -> list[OwnedPart]:
    """Return the parts of a tree that are of different people, and what a source says of each.

    A tree whose files tell of one owner, or of none, is one part.
    """
    if apart := source.apart(tree):
        return [owned for part in apart for owned in owned_parts(part, choices, source)]
    files = [entry.name for entry in source.owner_entries(tree)]
    places = list(_places(files)) if len(files) > 1 else []
    folders = [place for place in places if tree.get(place) is None]
    # A file at the top is a mailbox, for instance; or it only says whose the folders are.
    alone = [place for place in places if tree.get(place)] if source.lies_among_others else []
    parts = [
        part
        for piece in (*map(tree.under, folders), *map(tree.alone, alone))
        for part in owned_parts(piece, choices, source)
        if _owner(part)
    ]
    if parts:
        rest = tree.without({entry.name for part, _ in parts for entry in part.entries})
        # To ask about a large folder costs time: not where nothing in it can tell of another owner.
        several = len({_owner(part) for part in parts}) > 1
        asked = (*(f"{folder}/" for folder in folders), *alone)
        if rest.entries and (several or not all(name.startswith(asked) for name in files)):
            parts.append((rest, ask_source(source, rest, choices)))
        if len({_owner(part) for part in parts} - {""}) > 1:
            return parts
    return [(tree, ask_source(source, tree, choices))]


def _owner(part: OwnedPart) -> str:
    seen = part[1]
    return seen.identity if isinstance(seen, Recognition) and seen.owner_known else ""


def _places(files: Sequence[str]) -> Iterator[str]:
    """Yield the folders in which the ways to some files part, and those of them that lie beside."""
    top = common_folder(files)
    start = len(top) + 1 if top else 0
    heads = dict.fromkeys(name[start:].partition("/")[0] for name in files)
    yield from (f"{top}/{head}".lstrip("/") for head in sorted(heads))
