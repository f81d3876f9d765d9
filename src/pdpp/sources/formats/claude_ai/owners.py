"""Owners: whose the zips of Claude's exports are. Every export calls them alike."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from itertools import islice
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.jsonstream import JsonElement, entry_elements, objects
from pdpp.sources.reading.structure import opening
from pdpp.sources.reading.tree import FileEntry, Tree

USERS = "users.json"
_PIECE = re.compile(
    r"(?:conversations|projects|memories|light_metadata|frames|design_chats|feedback|reflections)"
    r"-\d{3}(?!\d)",
    re.I,
)
"""How the name of a zip begins, or of the folder that it was unpacked into."""


def owners_apart(tree: Tree) -> list[Tree]:
    """Return the zips of each person by themselves; nothing where all are of one.

    What lies beside the zips stays with the first. An organisation's export tells of several
    people, and is one.
    """
    pieces: dict[str, list[FileEntry]] = {}
    for entry in tree.entries:
        pieces.setdefault(_piece(entry), []).append(entry)
    pieces.pop("", None)
    if any(map(_is_of_organisation, pieces.values())):
        return []
    owners = {name: owner for name, entries in pieces.items() if (owner := _owner(entries))}
    known = set(owners.values())
    if len(known) < 2:
        return []
    names: dict[str, set[str]] = {owner: set() for owner in (*sorted(known), "")}
    for name, entries in pieces.items():
        owner = owners.get(name) or _maker(entries, known)
        names[owner].update(entry.name for entry in entries)
    untold, (_, *others) = names.pop(""), names.values()
    trees = [tree.without(untold.union(*others)), *map(tree.these_only, others)]
    return [*trees, tree.these_only(untold)] if untold else trees


def _is_of_organisation(entries: Iterable[FileEntry]) -> bool:
    return any(len(list(islice(objects(entry), 2))) > 1 for entry in entries if entry.base == USERS)


def _piece(entry: FileEntry) -> str:
    """Return the zip or folder of a category that a file lies in, nothing where in none."""
    folders = entry.name.split("/")[:-1]
    found = (number for number, name in enumerate(folders, 1) if _PIECE.match(name))
    return "/".join(folders[: next(found, 0)])


def _owner(entries: Iterable[FileEntry]) -> str:
    told = (account_of(entry, value) for entry, value in _first_objects(entries))
    return next(filter(None, told), "")


def _maker(entries: Iterable[FileEntry], known: Set[str]) -> str:
    """Return who of some people made what a zip holds, if it is one; a colleague may have."""
    found: set[str] = set()
    for _, value in _first_objects(entries):
        creator = value.get("creator")
        maker = creator.get("uuid") if isinstance(creator, dict) else value.get("owner_account")
        found.add(str(maker))
    makers = found & known
    return makers.pop() if len(makers) == 1 else ""


def _first_objects(entries: Iterable[FileEntry]) -> Iterator[tuple[FileEntry, Mapping[str, Any]]]:
    for entry in entries:
        if entry.suffix == ".json":
            yield from ((entry, value) for value in first_object(entry))


def account_of(entry: FileEntry, value: Mapping[str, Any]) -> str:
    """Return the id of the account that an object of a file names."""
    if entry.base == USERS:
        return str(value.get("uuid") or "")
    account = value.get("account")
    uuid = account.get("uuid") if isinstance(account, dict) else value.get("account_uuid")
    return uuid if isinstance(uuid, str) else ""


def first_object(entry: FileEntry) -> Iterator[Mapping[str, Any]]:
    """Yield the first object of a file."""
    path = "item" if opening(entry) == b"[" else ""
    with suppress(DamagedFile):
        for element in entry_elements(entry, path):
            if isinstance(element, JsonElement) and isinstance(element.value, dict):
                yield element.value
            return
