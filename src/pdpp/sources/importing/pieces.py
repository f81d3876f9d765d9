"""Pieces: archives and folders that a service hands out apart, though they are one export."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pdpp.sources.reading.overview import OVERVIEWS
from pdpp.sources.reading.tree import FileEntry, Tree, folders_around

_TAKEOUT = re.compile(r"(takeout-\d{8}T\d{6}Z)", re.IGNORECASE)
_CLAUDE = re.compile(
    r"(?:conversations|projects|memories|light_metadata|frames|design_chats)-\d{3}", re.IGNORECASE
)
_META = re.compile(
    r"((?:facebook|instagram)-.+-\d{4}-\d{2}-\d{2}|meta-\d{4}-\w{2,4}-\d{2})-[\w-]+\.zip",
    re.IGNORECASE,
)
_UNPACKED_TAKEOUT = re.compile(r"Takeout(?: \(?\d+\)?)?")


class Place(NamedTuple):
    """A path to look at; ``only`` names what of a folder, if not all of it."""

    path: Path
    only: tuple[str, ...] = ()


def places(paths: Sequence[Path]) -> list[Place]:
    """Return where to look for exports: paths of one folder that may be pieces of one together.

    Whoever writes ``takeout-*.zip`` names each of them, and means one export.
    """
    pieces: dict[Path, list[str]] = {}
    for path in dict.fromkeys(path.resolve() for path in paths):
        if _is_piece(path.name):
            pieces.setdefault(path.parent, []).append(path.name)
    chosen: list[Place] = []
    for path in paths:
        names = pieces.get(path.resolve().parent, [])
        together = len(names) > 1 and path.resolve().name in names
        place = Place(path.resolve().parent, tuple(names)) if together else Place(path)
        if place not in chosen:
            chosen.append(place)
    return chosen


def _is_piece(name: str) -> bool:
    return group_of(name) != name or bool(_UNPACKED_TAKEOUT.fullmatch(name))


def group_of(archive: str) -> str:
    """Return what the archives of one export have in common, or the archive's own name."""
    folder, _, base = archive.rpartition("/")
    if parts := _TAKEOUT.match(base) or _META.match(base):
        return f"{folder}/{parts.group(1)}".strip("/")
    return f"{folder}/claude-export".strip("/") if _CLAUDE.match(base) else archive


def manifest_archive(entry: FileEntry, archives: Iterable[str]) -> str | None:
    """Return an archive that a loose manifest of Claude's belongs to."""
    folder = entry.name.rpartition("/")[0]
    if not entry.base.startswith("manifest-") or entry.suffix != ".json":
        return None
    beside = (name for name in archives if name.rpartition("/")[0] == folder)
    return next((name for name in beside if _CLAUDE.match(name.rpartition("/")[2])), None)


def unpacked_pieces(tree: Tree, archives: Iterable[str]) -> Mapping[str, str]:
    """Return the folders in which pieces of an export lie unpacked, each with its group.

    Some people unpack one of the archives and leave the others as they are.
    """
    packed: dict[str, list[str]] = {}
    for archive in archives:
        if (group := group_of(archive)) != archive:
            packed.setdefault(group, []).append(archive)
    if not packed:
        return {}
    folders = {name for entry in tree.entries for name in folders_around(entry)}
    group_of_folder: dict[str, str] = {}
    for folder in folders.difference(*packed.values()):
        group = group_of(f"{folder}.zip")
        if group in packed or (group := _takeout_beside(tree, folder, packed)):
            group_of_folder[folder] = group
    return group_of_folder


def _takeout_beside(tree: Tree, folder: str, packed: Mapping[str, Sequence[str]]) -> str:
    """Return the only Takeout that lies packed beside a folder which a piece is unpacked into."""
    around, _, base = folder.rpartition("/")
    if not _UNPACKED_TAKEOUT.fullmatch(base):
        return ""
    beside = [group for group in packed if group.rpartition("/")[0] == around]
    takeouts = [group for group in beside if _TAKEOUT.fullmatch(group.rpartition("/")[2])]
    if len(takeouts) != 1 or _pages(tree, [folder, *packed[takeouts[0]]]) > 1:
        return ""
    return takeouts[0]


def _pages(tree: Tree, places: Iterable[str]) -> int:
    """Return how many Takeouts some folders and archives are pieces of, if they say so.

    Each Takeout has one page that lists what is in it, in one of its pieces.
    """
    inside = tuple(f"{place}/" for place in places)
    return sum(e.base in OVERVIEWS and e.name.startswith(inside) for e in tree.entries)
