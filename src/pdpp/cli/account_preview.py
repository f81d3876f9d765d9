"""Account previews: what a change of accounts does, shown and agreed to before it is done."""

import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import click

from pdpp.authz.account_changes import GrantChange
from pdpp.cli.output import note, table
from pdpp.evidence.fence import visible
from pdpp.model.declaration import TIMES
from pdpp.model.errors import NotFound
from pdpp.store.catalogue import Catalogue, Connection
from pdpp.store.cell import cell_json
from pdpp.store.port import Store
from pdpp.store.scope import Reach, owner_reaches

yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Only show what would happen.")


class AccountContents(NamedTuple):
    """What an account holds: records and the newest time by stream, and files of its own."""

    connection: Connection
    records: Mapping[str, int]
    newest: str | None
    files: int
    file_bytes: int

    def as_json(self) -> dict[str, Any]:
        """Return it as the members of an answer."""
        return {
            "connection_id": self.connection.connection_id,
            "connector_key": self.connection.connector_key,
            "display_name": self.connection.display_name,
            "record_counts": dict(self.records),
            "newest_record_at": self.newest,
            "files": self.files,
            "file_bytes": self.file_bytes,
        }

    def lines(self) -> Iterator[str]:
        """Yield what a person reads of it."""
        yield name_of(self.connection)
        yield from table(
            [(stream, f"{count:,} records") for stream, count in self.records.items()], indent="  "
        )
        if self.newest is not None:
            yield f"  newest: {self.newest}"
        if self.files:
            yield f"  {self.files:,} files that no other account uses, {self.file_bytes:,} bytes"


def name_of(connection: Connection) -> str:
    """Return how a person is told of an account."""
    return visible(f"{connection.display_name} ({connection.connection_id})", lines=False)


def find_account(catalogue: Catalogue, connection_id: str) -> Connection:
    """Return the account with an id; an unknown one is told with the id that may be meant."""
    connection = catalogue.connections.get(connection_id)
    if connection is not None:
        return connection
    by_name = {known.display_name: known.connection_id for known in catalogue.connections.values()}
    near = difflib.get_close_matches(connection_id, [*catalogue.connections, *by_name], 1)
    hint = f"did you mean {by_name.get(near[0], near[0])!r}? " if near else ""
    raise NotFound(f"there is no account {connection_id!r}; {hint}See pdpp connection list.")


def contents_of(store: Store, catalogue: Catalogue, connection: Connection) -> AccountContents:
    """Return what an account holds."""
    contents = store.connection_contents(connection.connection_id)
    times = [
        moment
        for reach in owner_reaches(catalogue)
        if reach.connection_id == connection.connection_id
        and (moment := _newest(store, reach)) is not None
    ]
    newest = max(times, default=None)
    return AccountContents(
        connection, contents.records, newest, contents.blobs, contents.blob_bytes
    )


def _newest(store: Store, reach: Reach) -> str | None:
    name = reach.default_sort()
    if name is None or reach.stream.fields[name].kind not in TIMES:
        return None
    moment = cell_json(reach.stream.fields[name].kind, store.newest(reach, name))
    return None if moment is None else str(moment)


def change_json(change: GrantChange) -> dict[str, Any]:
    """Return a change of a grant as the members of an answer."""
    accounts = dict.fromkeys(allowance.connection_id for allowance in change.allowances)
    return {
        "grant_id": change.grant.id,
        "client_id": change.grant.client_id,
        "effect": "revoked" if change.ends else "changed",
        "connection_ids": list(accounts),
    }


def change_lines(changes: Iterable[GrantChange], catalogue: Catalogue) -> Iterator[str]:
    """Yield what a person reads of the grants that change."""
    for change in changes:
        who = visible(f"{change.grant.id} of {change.grant.client_id}", lines=False)
        if change.ends:
            yield f"Grant {who} opens nothing else and is revoked."
        else:
            ids = dict.fromkeys(allowance.connection_id for allowance in change.allowances)
            known = [catalogue.connections[id] for id in ids if id in catalogue.connections]
            yield f"Grant {who} then opens: {', '.join(map(name_of, known)) or 'nothing'}."


def agree(lines: Iterable[str], *, yes: bool, typed: str | None = None) -> None:
    """Show what will happen and go on only where the owner agrees; in a script ``--yes`` does.

    ``typed`` is a name that has to be typed in full, for what cannot be undone.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(
            "This changes what is stored and nobody can be asked. Say --yes, or --dry-run to see "
            "what would happen.",
            click.get_current_context(),
        )
    for line in lines:
        note(line)
    if typed is None:
        click.confirm("Do it?", default=False, abort=True, err=True)
        return
    answer: str = click.prompt(
        f"This cannot be undone. Type {visible(typed, lines=False)} to go on",
        default="",
        show_default=False,
        err=True,
    )
    if answer.strip() != typed:
        raise click.ClickException("the name is another one; nothing was removed")
