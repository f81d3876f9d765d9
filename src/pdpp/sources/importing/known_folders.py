"""Known folders: which folder of notes went into which account, by its path and never by likeness.

Notes are known by where they lie below the folder that came in. A folder inside that one is a part
of the same account, and a folder around it leaves it to its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pdpp.sources.importing.claims import FoundExport
from pdpp.sources.importing.recognition import RecognisedExport, ask_source
from pdpp.sources.importing.state import ImportState
from pdpp.sources.reading.tree import Tree, composed
from pdpp.sources.source import Confidence, OwnerChoices, Recognition
from pdpp.store.catalogue import Catalogue


class KnownFolder(NamedTuple):
    """A folder whose notes an account holds, under their places below it."""

    path: Path
    connection_id: str


class KnownFolders:
    """The folders of one source that came in, each with the account that the last import chose."""

    def __init__(self, catalogue: Catalogue, state: ImportState, connector_key: str) -> None:
        self._catalogue = catalogue
        self._state = state
        self._connector_key = connector_key

    @cached_property
    def _accounts(self) -> Mapping[Path, str]:
        """Return what the reports of imports tell; an account that is gone holds no folder."""
        accounts: dict[Path, str] = {}
        for folder, remembered in self._state.folders_of(self._connector_key):
            account = self._catalogue.account_of(remembered)
            if account in self._catalogue.connections:
                accounts.setdefault(_written(Path(folder)), account)
        return accounts

    def around(self, place: Path, account: str | None = None) -> KnownFolder | None:
        """Return the nearest folder at or around a place, of any account or of one."""
        for folder in (place, *place.parents):
            known = self._accounts.get(folder)
            if known is not None and account in (None, known):
                return KnownFolder(folder, known)
        return None

    def inside(self, place: Path) -> list[str]:
        """Return the folders inside a place as they are called there, the deepest first."""
        names = [
            folder.relative_to(place).as_posix()
            for folder in self._accounts
            if folder != place and folder.is_relative_to(place)
        ]
        return sorted(names, key=lambda name: (-name.count("/"), name))


def place_of(tree: Tree) -> Path | None:
    """Return the folder that notes lie in; None for an archive, which is a folder of its own."""
    place = {"folder": tree.path, "file": tree.path.parent}.get(tree.kind)
    return None if place is None else _written(place)


def _written(path: Path) -> Path:
    """Return a path with its accents written in one way."""
    return Path(composed(str(path)))


def known_around(
    folders: KnownFolders, tree: Tree, export: RecognisedExport, account: str | None = None
) -> KnownFolder | None:
    """Return the folder that an export is a part of; one that shows where it begins is of none."""
    place = place_of(tree) if export.source.nests else None
    if place is None or export.recognition.confidence is Confidence.CERTAIN:
        return None
    return folders.around(place, account)


def without_known(
    catalogue: Catalogue, state: ImportState, choices: OwnerChoices, exports: Iterable[FoundExport]
) -> list[FoundExport]:
    """Return exports, those of notes without the known folders inside, which are each by itself."""
    return [
        piece
        for export in exports
        for piece in _divided(catalogue, state, choices, export) or [export]
    ]


def _divided(
    catalogue: Catalogue, state: ImportState, choices: OwnerChoices, found: FoundExport
) -> list[FoundExport]:
    """Return the known folders inside an export, as if each came alone, and the rest; or nothing.

    The files that notes show stay with the rest too: any note there may show them.
    """
    source, tree = found.export.source, found.tree
    if not source.nests or tree.kind != "folder":
        return []
    pieces: list[FoundExport] = []
    for name in KnownFolders(catalogue, state, source.connector_key).inside(_written(tree.path)):
        inside = _as_if_alone(tree, name)
        seen = ask_source(source, inside, choices) if inside.entries else None
        if isinstance(seen, Recognition):
            pieces.append(FoundExport(inside, RecognisedExport(source, seen)))
            own = {part.entry.name for part in source.parts(inside, seen)}
            tree = tree.without({f"{name}/{note}" for note in own})
    rest = ask_source(source, tree, choices) if pieces and tree.entries else None
    if isinstance(rest, Recognition):
        pieces.append(FoundExport(tree, RecognisedExport(source, rest)))
    return pieces


def _as_if_alone(tree: Tree, folder: str) -> Tree:
    """Return a folder of a tree with the names that its files have in it."""
    inside, start = tree.under(folder), len(folder) + 1
    entries = tuple(replace(entry, name=entry.name[start:]) for entry in inside.entries)
    return replace(inside, entries=entries)


def place_below(known: KnownFolder | None, tree: Tree) -> str:
    """Return what stands before the names of an export in the folder that it is a part of."""
    place = place_of(tree)
    if known is None or place is None or place == known.path:
        return ""
    return f"{place.relative_to(known.path).as_posix()}/"


def mirrored_place(known: KnownFolder | None, tree: Tree) -> str:
    """Return where what a mirror may delete lies: below the folder, or the file alone."""
    alone = tree.path.name if known is not None and tree.kind == "file" else ""
    return f"{place_below(known, tree)}{alone}"


def report_folder(
    known: KnownFolder | None, tree: Tree, export: RecognisedExport
) -> Mapping[str, str]:
    """Return what a report keeps: the folder in which the notes of an export have their names."""
    if known is not None:
        return {"folder": str(known.path)}
    return {"folder": str(tree.path)} if export.source.nests and tree.kind == "folder" else {}
