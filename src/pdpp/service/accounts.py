"""Accounts: the owner renames, merges and removes them, in the program and on the pages alike."""

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from pdpp.authz.account_changes import (
    GrantChange,
    Rewrite,
    apply_to_grants,
    changes_of,
    merged_account,
    without_accounts,
)
from pdpp.authz.authority import Authority
from pdpp.model.declaration import TIMES
from pdpp.model.errors import Conflict, InvalidRequest, NotFound
from pdpp.model.grant import ACTIVE, status
from pdpp.model.instant import Clock
from pdpp.model.json_types import Size
from pdpp.service.runner import check_time
from pdpp.sources.importing.state import ImportState
from pdpp.store.catalogue import Catalogue, Connection
from pdpp.store.cell import cell_json
from pdpp.store.port import Store
from pdpp.store.scope import Reach, owner_reaches

_AT_ONCE = 100
"""Streams whose newest time is asked for at once; between two such questions time is looked at."""


class AccountContentsJson(TypedDict):
    """What an account holds, as it is answered."""

    connection_id: str
    connector_key: str
    display_name: str
    record_counts: dict[str, Size]
    newest_record_at: str | None
    record_bytes: Size
    files: Size
    file_bytes: Size


class GrantChangeJson(TypedDict):
    """What becomes of a grant, as it is answered."""

    grant_id: str
    client_id: str
    effect: Annotated[str, ("changed", "revoked")]
    connection_ids: list[str]
    allowances: list[dict[str, Any]]


class RemovalPreviewJson(TypedDict):
    """What a removal would do, as it is answered."""

    status: Annotated[str, ("preview", "removed")]
    connections: list[AccountContentsJson]
    grants: list[GrantChangeJson]


MergePreviewJson = TypedDict(
    "MergePreviewJson",
    {
        "status": Annotated[str, ("preview",)],
        "from": AccountContentsJson,
        "into": AccountContentsJson,
        "grants": list[GrantChangeJson],
        "also_see_moved_records": list[str],
    },
)
"""What a merge would do, as it is answered."""


class AccountContents(NamedTuple):
    """What an account holds: records by stream, the newest time, and files of its own."""

    connection: Connection
    records: Mapping[str, int]
    newest: str | None
    record_bytes: int
    files: int
    file_bytes: int

    def as_json(self) -> AccountContentsJson:
        """Return it as the members of an answer."""
        return {
            "connection_id": self.connection.connection_id,
            "connector_key": self.connection.connector_key,
            "display_name": self.connection.display_name,
            "record_counts": dict(self.records),
            "newest_record_at": self.newest,
            "record_bytes": self.record_bytes,
            "files": self.files,
            "file_bytes": self.file_bytes,
        }


@dataclass(frozen=True, slots=True)
class RemovalPreview:
    """What is lost when accounts are removed, and which grants change."""

    accounts: Sequence[AccountContents]
    changes: Sequence[GrantChange]

    def as_json(self) -> RemovalPreviewJson:
        """Return it as the members of an answer."""
        return {
            "status": "preview",
            "connections": [contents.as_json() for contents in self.accounts],
            "grants": list(map(change_json, self.changes)),
        }


@dataclass(frozen=True, slots=True)
class MergePreview:
    """What moves where, which grants change, and which clients see more by it."""

    source: AccountContents
    target: AccountContents
    changes: Sequence[GrantChange]
    clients: Sequence[str]

    def as_json(self) -> MergePreviewJson:
        """Return it as the members of an answer."""
        return {
            "status": "preview",
            "from": self.source.as_json(),
            "into": self.target.as_json(),
            "grants": list(map(change_json, self.changes)),
            "also_see_moved_records": list(self.clients),
        }


class RenamedAccount(NamedTuple):
    """An account as it was called before, and who sees its name."""

    before: Connection
    clients: Sequence[str]


class MergedAccount(NamedTuple):
    """How many records a merge wrote, and the grants that it changed."""

    written: int
    changes: Sequence[GrantChange]


def find_account(catalogue: Catalogue, connection_id: str) -> Connection:
    """Return the account with an id; the refusal of an unknown id names the nearest one."""
    connection = catalogue.connections.get(connection_id)
    if connection is not None:
        return connection
    by_name = {known.display_name: known.connection_id for known in catalogue.connections.values()}
    near = difflib.get_close_matches(connection_id, [*catalogue.connections, *by_name], 1)
    hint = f"did you mean {by_name.get(near[0], near[0])!r}? " if near else ""
    raise NotFound(f"there is no account {connection_id!r}; {hint}see pdpp connection list")


def id_of(catalogue: Catalogue, said: str) -> str:
    """Return the id of the account that somebody means by its id or by its whole name."""
    if said in catalogue.connections:
        return said
    called = [
        known.connection_id
        for _, known in sorted(catalogue.connections.items())
        if known.display_name.casefold() == said.casefold()
    ]
    if len(called) > 1:
        raise Conflict(f"{len(called)} accounts are called {said!r}: say {' or '.join(called)}.")
    return called[0] if called else said


def contents_of(store: Store, catalogue: Catalogue, connection: Connection) -> AccountContents:
    """Return what an account holds."""
    contents = store.connection_contents(connection.connection_id)
    reaches = [
        reach
        for reach in owner_reaches(catalogue)
        if reach.connection_id == connection.connection_id
    ]
    times = [moment for moment in newest_times(store, reaches) if moment is not None]
    newest = max(times, default=None)
    return AccountContents(
        connection,
        contents.records,
        newest,
        contents.record_bytes,
        contents.blobs,
        contents.blob_bytes,
    )


def newest_times(store: Store, reaches: Sequence[Reach]) -> list[str | None]:
    """Return the latest time of each stream in its own order, None where that is not by time."""
    return _newest(store, [(reach, reach.default_sort()) for reach in reaches])


def newest_events(store: Store, reaches: Sequence[Reach], before: int | None) -> list[str | None]:
    """Return the latest time at which something happened in each stream, below a bound if given."""
    fields = ((reach, reach.stream.consent_time_field) for reach in reaches)
    visible = [(reach, name if name and reach.compares(name) else None) for reach, name in fields]
    return _newest(store, visible, before)


def _newest(
    store: Store, ordered: Sequence[tuple[Reach, str | None]], before: int | None = None
) -> list[str | None]:
    fields = [
        (number, reach, name)
        for number, (reach, name) in enumerate(ordered)
        if name is not None and reach.stream.fields[name].kind in TIMES
    ]
    times: list[str | None] = [None] * len(ordered)
    for first in range(0, len(fields), _AT_ONCE):
        check_time()
        some = fields[first : first + _AT_ONCE]
        values = store.newest_of([(reach, name) for _, reach, name in some], before)
        for (number, reach, name), value in zip(some, values, strict=True):
            moment = cell_json(reach.stream.fields[name].kind, value)
            times[number] = None if moment is None else str(moment)
    return times


def clients_of(store: Store, connection_id: str, now: int) -> list[str]:
    """Return who may read an account now."""
    return sorted(
        {
            grant.client_id
            for grant in store.vault.grants()
            if status(grant, now) == ACTIVE
            and any(allowance.connection_id == connection_id for allowance in grant.allowances)
        }
    )


def change_json(change: GrantChange) -> GrantChangeJson:
    """Return a change of a grant as the members of an answer."""
    accounts = dict.fromkeys(allowance.connection_id for allowance in change.allowances)
    return {
        "grant_id": change.grant.id,
        "client_id": change.grant.client_id,
        "effect": "revoked" if change.ends else "changed",
        "connection_ids": list(accounts),
        "allowances": [allowance.as_json() for allowance in change.allowances],
    }


def rename_connection(store: Store, connection_id: str, name: str, now: int) -> RenamedAccount:
    """Give an account another name; its id stays, and so does what grants open."""
    if not name.strip():
        raise InvalidRequest("An account needs a name.", param="display_name")
    before = find_account(store.catalogue(), connection_id)
    store.rename_connection(connection_id, name)
    return RenamedAccount(before, clients_of(store, connection_id, now))


def preview_removal(store: Store, connection_ids: Collection[str], now: int) -> RemovalPreview:
    """Return the records and grants that a removal of accounts would delete or change."""
    catalogue = store.catalogue()
    accounts = [find_account(catalogue, connection_id) for connection_id in connection_ids]
    return RemovalPreview(
        [contents_of(store, catalogue, account) for account in accounts],
        _changes(store, without_accounts(connection_ids), now),
    )


def _changes(store: Store, rewrite: Rewrite, now: int) -> Sequence[GrantChange]:
    return changes_of(store.vault.grants(), rewrite, now, store.vault.held_grants())


def remove_connection(
    store: Store, data: Path | None, connection_id: str, clock: Clock
) -> Sequence[GrantChange]:
    """Take an account out of every grant and out of sight, and forget its imports.

    Grants first: a removal that was cut leaves an account that no client can read, and can be
    repeated. What the account held is deleted piece by piece, by ``Store.delete_removed``.
    ``data`` is the data folder, if there is one: imports remember the names of files and what chats
    are known by there, also of accounts that became part of this one, and some of it for all
    accounts of a source.
    """
    catalogue = store.catalogue()
    find_account(catalogue, connection_id)
    removed = [connection_id]
    changes = apply_to_grants(Authority(store, clock), without_accounts(removed), removed)
    if data is not None:
        state = ImportState(data, store.files)
        parts = [name for name, whole in catalogue.merged.items() if whole == connection_id]
        for name in (connection_id, *parts):
            state.forget(name)
        source = catalogue.connections[connection_id].connector_key
        if sum(one.connector_key == source for one in catalogue.connections.values()) == 1:
            state.forget_source(source)
    store.remove_connection(connection_id)
    return changes


def preview_merge(store: Store, source_id: str, target_id: str, now: int) -> MergePreview:
    """Return what a merge would do; refuse one that cannot be."""
    catalogue = store.catalogue()
    source, target = (find_account(catalogue, name) for name in (source_id, target_id))
    if source_id == target_id or source.connector_key != target.connector_key:
        kinds = f"{source_id} holds {source.connector_key}, {target_id} {target.connector_key}"
        reason = "both are the same one" if source_id == target_id else kinds
        raise Conflict(f"Only two connections of the same source can be merged: {reason}.")
    return MergePreview(
        contents_of(store, catalogue, source),
        contents_of(store, catalogue, target),
        _changes(store, merged_account(source_id, target_id), now),
        clients_of(store, target_id, now),
    )


def merge_connections(
    store: Store,
    source_id: str,
    target_id: str,
    clock: Clock,
    tell: Callable[[int], None] = lambda _: None,
) -> MergedAccount:
    """Move what an account holds into another one, let grants follow, and take the first away.

    Grants first, so that a merge that was cut shows nobody more than was agreed to; doing it again
    finishes it. ``tell`` hears after each piece how many records were looked at, and may raise.
    """
    authority, rewrite = Authority(store, clock), merged_account(source_id, target_id)
    if store.catalogue().merged.get(source_id) != target_id:
        preview_merge(store, source_id, target_id, clock())
    changes = apply_to_grants(authority, rewrite)
    looked_at = written = 0
    more = True
    while more:
        piece = store.move_some(source_id, target_id)
        looked_at, written, more = looked_at + piece.records, written + piece.written, piece.more
        tell(looked_at)
    # A grant of the first account may have been approved in the meantime.
    return MergedAccount(written, [*changes, *apply_to_grants(authority, rewrite)])
