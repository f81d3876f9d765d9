"""Account removal: shown, agreed to, taken out of grants, and deleted."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pdpp.cli.account_preview import agree, change_lines, contents_lines, name_of
from pdpp.cli.client_name import client_names
from pdpp.cli.output import show
from pdpp.cli.progress import Progress
from pdpp.model import instant
from pdpp.service.accounts import change_json, preview_removal, remove_connection
from pdpp.store.catalogue import Connection
from pdpp.store.port import Store

_HOUR = 3_600 * instant.SECOND


class RemovalOptions(NamedTuple):
    """Whether to ask, whether to do it at all, and how to answer."""

    yes: bool
    dry_run: bool
    as_json: bool


def run_removal(
    store: Store, data: Path, accounts: Sequence[Connection], typed: str, options: RemovalOptions
) -> None:
    """Show what will be deleted, ask for the name to be typed, remove the accounts, and report."""
    ids = [account.connection_id for account in accounts]
    catalogue, clients = store.catalogue(), client_names(store)
    preview = preview_removal(store, ids, instant.now())
    losses = [line for contents in preview.accounts for line in contents_lines(contents)]
    lines = ["This is deleted:", *losses, *change_lines(preview.changes, catalogue, clients)]
    document = preview.as_json()
    if not options.dry_run:
        agree(lines, yes=options.yes, typed=typed)
        for connection_id in ids:
            remove_connection(store, data, connection_id, instant.now)
        delete_removed(store)
        document |= {"status": "removed", "grants": list(map(change_json, preview.changes))}
        removed = [f"Removed: {name_of(account)}" for account in accounts]
        lines = [*removed, *change_lines(preview.changes, store.catalogue(), clients)]
    show(document, lines, as_json=options.as_json)


def delete_removed(store: Store) -> None:
    """Delete what removed accounts held: records, then files that nothing refers to.

    Files of the last hour stay, because an import that runs now may be about to refer to them; a
    server collects those a day later.
    """
    with Progress("Deleting, pieces done:") as progress:
        pieces = 0
        while store.delete_removed():
            pieces += 1
            progress.tell(pieces)
        after: str | None = ""
        while after is not None:
            after = store.collect_blobs(instant.now() - _HOUR, after)
