"""Destinations: the connection that an export goes into, found by what its data says.

An account is known by an identity that its source reads in the data, and by its records: an export
that holds what a connection holds already is of the same account, whatever the file is called.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pdpp.model.errors import ImportRefused
from pdpp.sources.importing.known_folders import KnownFolders, known_around
from pdpp.sources.importing.overlap import find_overlap, holds_items
from pdpp.sources.importing.place import UPLOADED_FOLDER
from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.importing.state import ImportState
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import plain_name
from pdpp.store.catalogue import Catalogue, Connection, new_connection_id
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches

_IN_BRACKETS = re.compile(r" \([^()]*\)\Z")
"""Whose an account is, as sources write it behind what it is."""
_NAMELESS = (
    "nothing in it says whose it is, and no account of {label} holds the same: it is an account of "
    "its own; `pdpp connection merge` joins two, and --account NAME says whose the next one is"
)
_TOGETHER = (
    "{count:,} files are one account, because none says whose it is ({files}); if they are of "
    "different people, import each by itself, with --account NAME"
)
_UNKNOWN_ID = "no account has the id {chosen}: it is a new one"
_KNOWN_IDS = "; of {label} there is {accounts}; if you meant one of them, `pdpp connection merge`"
_MOST_NAMED = 5
_REMEMBERED = "it is of {name}, as you said of such a file before; --account NAME says otherwise"
_BY_PLACE = "which holds that folder, or the one around it"
_BUT_FOR = ", unless another one here is the same account"
_COLLECTED = (
    "what came in piece by piece before, without saying whose it is, is in {name}; if it is of the "
    "same person, `pdpp connection merge` joins the two, and nothing is there twice"
)


@dataclass(frozen=True, slots=True)
class Destination:
    """The connection that an export goes into, and how it was found."""

    connection_id: str
    display_name: str
    is_new: bool
    reason: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Remarks for the person on how the connection was chosen."""

    @property
    def is_proposed(self) -> bool:
        """Tell whether this is a new connection that nobody chose: another may be the same."""
        return self.is_new and not self.reason


_Found = TypeVar("_Found")


def in_turn(
    found: Iterable[_Found], export_of: Callable[[_Found], RecognisedExport]
) -> list[_Found]:
    """Return what was found source by source, first those that say whose they are.

    One that does not say it may hold what these bring in, and then goes into their account, which
    is called after its owner.
    """
    every = [*found]
    keys = [export_of(one).source.connector_key for one in every]

    def rank(one: _Found) -> tuple[int, bool]:
        export = export_of(one)
        return keys.index(export.source.connector_key), not identity_of(export)

    return sorted(every, key=rank)


def but_for(destination: Destination, export: RecognisedExport, above: Sequence[str]) -> str:
    """Return what a new account depends on: exports of the same source that come in before it."""
    known = export.source.connector_key in above
    return _BUT_FOR if destination.is_proposed and known else ""


def identity_of(export: RecognisedExport) -> str:
    """Return what an account is known by; nothing where an export does not tell.

    Two exports that tell nothing may be of two people, whatever both are called.
    """
    recognition = export.recognition
    if recognition.identity or not (recognition.owner_known or export.source.collects):
        return recognition.identity
    return recognition.account


def contents_of(tree: Tree, export: RecognisedExport) -> str:
    """Return a digest that changes when any of the files that are read does."""
    entries = (part.entry for part in export.source.parts(tree, export.recognition))
    return digest_key(*sorted(f"{entry.name} {entry.stamp}" for entry in entries))


def account_shape(tree: Tree, export: RecognisedExport) -> str:
    """Return the name under which the owner of an export is remembered.

    What the data does not tell is remembered of files of one name in one folder, month by month:
    elsewhere somebody else may have one that is called the same.
    """
    found = replace(tree, path=tree.path.resolve())
    named = export.recognition.identity or found.path.parent / plain_name(found.called)
    return f"account of {named}"


def of_account(export: RecognisedExport, tree: Tree, name: str) -> RecognisedExport:
    """Return an export with the account that the owner named; its file is remembered."""
    recognition = export.recognition
    account = _IN_BRACKETS.sub(lambda _: f" ({name})", recognition.account)
    account = account if account != recognition.account else name
    changed = replace(recognition, account=account, identity=name.casefold(), owner_known=True)
    shape = account_shape(tree, export)
    if recognition.shape:
        accounts = {**recognition.remember.get("accounts", {}), shape: name}
        remember = {**recognition.remember, "account": name, "accounts": accounts}
        return replace(export, recognition=replace(changed, remember=remember))
    changed = replace(changed, shape=shape, remember={"account": name})
    return replace(export, recognition=changed)


def as_remembered(state: ImportState, tree: Tree, export: RecognisedExport) -> RecognisedExport:
    """Return an export with the account that the owner named earlier for it, if there was one."""
    name = _remembered_account(state, tree, export)
    if name is None:
        return export
    named = of_account(export, tree, name)
    notes = (*named.recognition.notes, _REMEMBERED.format(name=name))
    return replace(named, recognition=replace(named.recognition, notes=notes))


def _remembered_account(state: ImportState, tree: Tree, export: RecognisedExport) -> str | None:
    recognition = export.recognition
    if recognition.owner_known:
        return None
    shape = account_shape(tree, export)
    if recognition.shape:
        name = recognition.remember.get("accounts", {}).get(shape)
    else:
        name = state.recall(export.source.connector_key, shape).get("account")
    return name if isinstance(name, str) else None


def connections_of(catalogue: Catalogue, connector_key: str) -> list[Connection]:
    """Return the connections that hold records of one source."""
    connections = catalogue.connections.values()
    return [connection for connection in connections if connection.connector_key == connector_key]


def find_destination(
    store: Store, state: ImportState, tree: Tree, export: RecognisedExport, chosen: str | None
) -> Destination:
    """Return the chosen connection, else the one of the same account, else a new one."""
    catalogue, key = store.catalogue(), export.source.connector_key
    if chosen:
        return _chosen(catalogue, export, chosen)
    identity = identity_of(export)
    connection = known_account(catalogue, state, export)
    if connection is not None:
        return _existing(connection, "of the same account")
    if not identity:
        around = known_around(KnownFolders(catalogue, state, key), tree, export)
        if around is not None:
            return _existing(catalogue.connections[around.connection_id], _BY_PLACE)
        cut_off = state.connection_cut_off(key, tree.path, contents_of(tree, export))
        connection = _living(catalogue, key, cut_off)
        if connection is not None:
            return _existing(connection, "where an import of the same files was cut off")
    # A restored store has no reports: its connections are known by their records alone. One whose
    # owner is known is not taken for another's, however much both hold.
    known = {*map(catalogue.account_of, state.imported_connections())}
    every = connections_of(catalogue, key)
    owned = export.recognition.owner_known
    candidates = [made for made in every if not (owned and made.connection_id in known)]
    others = known if identity else frozenset[str]()
    same = find_overlap(store, tree, export, candidates, others=others)
    if same is not None:
        return _existing(same, "which holds the same records")
    if not identity and export.source.in_place:
        connection = _living(catalogue, key, state.connection_at(key, tree.path))
        if connection is not None:
            return _existing(connection, "of the same place")
    empty = _empty_one(store, tree, export, every)
    if empty is not None:
        return _existing(empty, "which is as empty")
    return _new(catalogue, tree, export)


def known_account(
    catalogue: Catalogue, state: ImportState, export: RecognisedExport
) -> Connection | None:
    """Return the account that an export says it is of, or that the owner named, if there is one."""
    key, identity = export.source.connector_key, identity_of(export)
    remembered = state.connection_of(key, identity) if identity else None
    return _living(catalogue, key, remembered) or _called(catalogue, export)


def _chosen(catalogue: Catalogue, export: RecognisedExport, chosen: str) -> Destination:
    """Return the connection that the owner names, which may be a new one."""
    chosen, key = catalogue.account_of(chosen), export.source.connector_key
    connection = catalogue.connections.get(chosen)
    if connection is None:
        notes = (_made_by_id(catalogue, export, chosen),)
        return Destination(chosen, export.recognition.account, True, "as you said", notes)
    if connection.connector_key != key:
        raise ImportRefused(f"{chosen} holds {connection.connector_key}, not {key}; choose another")
    return _existing(connection, "as you said")


def _made_by_id(catalogue: Catalogue, export: RecognisedExport, chosen: str) -> str:
    """Return what tells a new account that the owner wants from an id that is misspelled."""
    told = _UNKNOWN_ID.format(chosen=chosen)
    others = connections_of(catalogue, export.source.connector_key)
    named = [f"{other.display_name} ({other.connection_id})" for other in others]
    if not named:
        return told
    listed = ", ".join([*named[:_MOST_NAMED], *("…" for _ in named[_MOST_NAMED:][:1])])
    return told + _KNOWN_IDS.format(label=export.source.label, accounts=listed)


def _living(catalogue: Catalogue, connector_key: str, remembered: str | None) -> Connection | None:
    """Return the connection of an earlier import, if it still exists."""
    connection = catalogue.connections.get(catalogue.account_of(remembered or ""))
    return connection if connection and connection.connector_key == connector_key else None


def _called(catalogue: Catalogue, export: RecognisedExport) -> Connection | None:
    """Return the connection that has the name the owner gave, whole or in brackets, if any."""
    said = str(export.recognition.remember.get("account") or "").casefold()
    others = connections_of(catalogue, export.source.connector_key) if said else []
    for name in (said, export.recognition.account.casefold()):
        for other in others:
            if other.display_name.casefold() == name:
                return other
    return None


def _empty_one(
    store: Store, tree: Tree, export: RecognisedExport, candidates: list[Connection]
) -> Connection | None:
    """Return the account that is called as an export and holds as little: nothing.

    Otherwise a calendar without an event would become one more account each time.
    """
    every = owner_reaches(store.catalogue())
    for connection in candidates:
        if connection.display_name == export.recognition.account:
            own = [reach for reach in every if reach.connection_id == connection.connection_id]
            if not sum(store.counts(own).values()) and not holds_items(tree, export):
                return connection
    return None


def _new(catalogue: Catalogue, tree: Tree, export: RecognisedExport) -> Destination:
    """Return a new connection; a second one of the same name gets a number."""
    others = connections_of(catalogue, export.source.connector_key)
    account = export.recognition.account.removesuffix(f" ({UPLOADED_FOLDER})")
    taken = {other.display_name for other in others}
    name, number = account, 1
    while name in taken:
        number += 1
        name = f"{account} {number}"
    alone = identity_of(export) or not others
    notes: tuple[str, ...] = () if alone else (_NAMELESS.format(label=export.source.label),)
    files = [part.entry.base for part in export.source.parts(tree, export.recognition)]
    if export.source.files_may_differ and not identity_of(export) and len(files) > 1:
        listed = ", ".join([*files[:_MOST_NAMED], *("…" for _ in files[_MOST_NAMED:][:1])])
        notes += (_TOGETHER.format(count=len(files), files=listed),)
    collection = _IN_BRACKETS.sub("", account)
    if export.source.collects and collection != account and collection in taken:
        notes = (_COLLECTED.format(name=collection),)
    return Destination(new_connection_id(), name, is_new=True, notes=notes)


def _existing(connection: Connection, reason: str) -> Destination:
    return Destination(connection.connection_id, connection.display_name, False, reason)
