"""By account: the files of one folder, each with the account that holds what is in it already.

No address book says whose it is. Those of two people that came in one by one are two accounts, and
must stay so when somebody imports the folder in which both lie.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from pdpp.sources.importing.claims import FoundExport
from pdpp.sources.importing.destination import connections_of, identity_of
from pdpp.sources.importing.overlap import find_overlap, items_of
from pdpp.sources.importing.recognition import RecognisedExport, ask_source
from pdpp.sources.importing.state import ImportState
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import AnyPart, OwnerChoices, Recognition
from pdpp.store.catalogue import Connection
from pdpp.store.port import Store

_MOST_FILES = 20
"""Of more files nobody wants to see each; they are the cards of one address book."""

_FEW_RECORDS = 5
"""Fewer are an entry or two that came to what a folder held before, and no account of their own."""


def by_account(
    store: Store, state: ImportState, choices: OwnerChoices, exports: Iterable[FoundExport]
) -> list[FoundExport]:
    """Return exports, each divided where accounts hold some of its files already.

    Where the path does not tell which files are meant, these are named.
    """
    found = [
        piece for export in exports for piece in _divided(store, state, choices, export) or [export]
    ]
    places = Counter(map(_place, found))
    return [
        replace(one, files=_names(one)) if places[_place(one)] > 1 and not one.files else one
        for one in found
    ]


def with_files(found: FoundExport, choices: OwnerChoices, files: Sequence[str]) -> FoundExport:
    """Return the part of an export that some of its files are."""
    if set(_names(found)) == set(files):
        return found
    tree = found.tree.alone(files[0]) if len(files) == 1 else found.tree.these_only(files)
    seen = ask_source(found.export.source, tree, choices)
    if not isinstance(seen, Recognition):
        return found
    return FoundExport(tree, RecognisedExport(found.export.source, seen), tuple(files))


def _place(found: FoundExport) -> tuple[str, str]:
    return str(found.tree.path), found.export.source.connector_key


def _names(found: FoundExport) -> tuple[str, ...]:
    return tuple(part.entry.name for part in _parts(found.tree, found.export))


def _parts(tree: Tree, export: RecognisedExport) -> list[AnyPart]:
    return list(export.source.parts(tree, export.recognition))


def _divided(
    store: Store, state: ImportState, choices: OwnerChoices, found: FoundExport
) -> list[FoundExport]:
    """Return the files of an export that accounts hold, each alone, and the rest; else nothing."""
    source, parts = found.export.source, _parts(found.tree, found.export)
    candidates = connections_of(store.catalogue(), source.connector_key)
    told = found.export.recognition.owner_known or identity_of(found.export)
    if told or not source.files_may_differ or not candidates or not 1 < len(parts) <= _MOST_FILES:
        return []
    files = {part.entry.name: with_files(found, choices, [part.entry.name]) for part in parts}
    held = {
        name: find_overlap(store, one.tree, one.export, candidates) for name, one in files.items()
    }
    known = {account.connection_id for account in held.values() if account}
    rest = [part for part in parts if held[part.entry.name] is None]
    if not known or (len(known) == 1 and not _is_of_another(state, found, rest, held.values())):
        return []
    pieces = [one for name, one in files.items() if held[name]]
    names = [part.entry.name for part in rest]
    return [*pieces, with_files(found, choices, names)] if names else pieces


def _is_of_another(
    state: ImportState,
    found: FoundExport,
    rest: Sequence[AnyPart],
    held: Iterable[Connection | None],
) -> bool:
    """Tell whether files that an account holds nothing of are more than an addition to it."""
    before = state.connection_at(found.export.source.connector_key, found.tree.path)
    if before in {account.connection_id for account in held if account}:
        return False
    return any(len(list(islice(items_of(part), _FEW_RECORDS))) == _FEW_RECORDS for part in rest)
