"""By account: the files of one folder, each with the account that holds what is in it already.

No address book says whose it is. Those of two people that came in one by one are two accounts, and
must stay so when somebody imports the folder in which both lie; so must mailboxes, though most of
a folder are of one person.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from pdpp.sources.importing.claims import FoundExport
from pdpp.sources.importing.destination import connections_of, identity_of, known_account
from pdpp.sources.importing.known_folders import without_known
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
        piece
        for export in without_known(store.catalogue(), state, choices, exports)
        for piece in _divided(store, state, choices, export)
        or _of_other_owners(store, state, choices, export)
        or [export]
    ]
    places = Counter(map(_place, found))
    return [
        replace(one, files=_names(one)) if places[_place(one)] > 1 and not one.files else one
        for one in found
    ]


def with_files(found: FoundExport, choices: OwnerChoices, files: Sequence[str]) -> FoundExport:
    """Return the part of an export that some of its files are, with what lies beside them.

    That may be the files of a message, or its labels.
    """
    others = set(_names(found)) - set(files)
    if not others:
        return found
    source, tree = found.export.source, found.tree
    if len(files) == 1 and files[0] in _whole_files(found):
        tree = tree.alone(files[0])
    else:
        tree = tree.these_only({entry.name for entry in tree.entries} - others)
    seen = ask_source(source, tree, choices)
    if not isinstance(seen, Recognition):
        return found
    return FoundExport(tree, RecognisedExport(source, seen), tuple(files))


def _whole_files(found: FoundExport) -> Sequence[str]:
    """Return the files that are all of an export when they come alone."""
    source = found.export.source
    return (
        _names(found) if source.files_may_differ else source.owned_files(found.export.recognition)
    )


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


def _of_other_owners(
    store: Store, state: ImportState, choices: OwnerChoices, found: FoundExport
) -> list[FoundExport]:
    """Return the files that came alone into accounts of their owners, and the rest; else nothing.

    Who sorts mail into boxes has some that look like another person's, such as those of a list:
    only what an account of that name holds already goes there, and not what all others go into.
    """
    catalogue, source = store.catalogue(), found.export.source
    files = source.owned_files(found.export.recognition)
    whole = known_account(catalogue, state, found.export)
    others = [one for one in connections_of(catalogue, source.connector_key) if one != whole]
    if not others or not 1 < len(files) <= _MOST_FILES:
        return []
    files_of: dict[str, list[str]] = {}
    for name in files:
        one = with_files(found, choices, [name])
        account = known_account(catalogue, state, one.export)
        candidates = [account, *([whole] if whole else [])] if account in others else []
        if account and find_overlap(store, one.tree, one.export, candidates) == account:
            files_of.setdefault(account.connection_id, []).append(name)
    taken = {name for names in files_of.values() for name in names}
    rest = [name for name in _names(found) if name not in taken]
    pieces = [*files_of.values(), *([rest] if rest else [])]
    return [with_files(found, choices, names) for names in pieces] if taken else []


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
