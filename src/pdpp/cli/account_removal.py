"""Account removal: shown, agreed to, taken out of grants, and deleted."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from pdpp.authz.account_changes import GrantChange, apply_to_grants, changes_of, without_accounts
from pdpp.authz.authority import Authority
from pdpp.cli.account_preview import agree, change_json, change_lines, contents_of, name_of
from pdpp.cli.output import show
from pdpp.cli.progress import Progress
from pdpp.model import instant
from pdpp.store.catalogue import Connection
from pdpp.store.port import Store

_HOUR = 3_600 * instant.SECOND


class RemovalOptions(NamedTuple):
    """Whether to ask, whether to do it at all, and how to answer."""

    yes: bool
    dry_run: bool
    as_json: bool


def run_removal(
    store: Store, accounts: Sequence[Connection], typed: str, options: RemovalOptions
) -> None:
    """Show what is lost, ask for the name to be typed, remove the accounts, and tell it."""
    ids = [account.connection_id for account in accounts]
    catalogue = store.catalogue()
    contents = [contents_of(store, catalogue, account) for account in accounts]
    changes = changes_of(store.vault.grants(), without_accounts(ids), instant.now())
    held = [line for content in contents for line in content.lines()]
    lines = ["This is deleted:", *held, *change_lines(changes, catalogue)]
    document: dict[str, Any] = {
        "status": "preview",
        "connections": [content.as_json() for content in contents],
        "grants": list(map(change_json, changes)),
    }
    if not options.dry_run:
        agree(lines, yes=options.yes, typed=typed)
        changes = remove_accounts(store, ids)
        document |= {"status": "removed", "grants": list(map(change_json, changes))}
        removed = [f"Removed: {name_of(account)}" for account in accounts]
        lines = [*removed, *change_lines(changes, store.catalogue())]
    show(document, lines, as_json=options.as_json)


def remove_accounts(store: Store, connection_ids: Collection[str]) -> list[GrantChange]:
    """Take accounts out of grants and out of sight, and delete what they held.

    Grants first: an interrupted removal leaves accounts that nobody can read, and can be repeated.
    """
    changes = apply_to_grants(Authority(store, instant.now), without_accounts(connection_ids))
    for connection_id in connection_ids:
        store.remove_connection(connection_id)
    delete_removed(store)
    return changes


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
