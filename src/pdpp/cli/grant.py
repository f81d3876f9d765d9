"""Grants: what the owner lets clients read."""

from collections.abc import Mapping
from pathlib import Path

import click

from pdpp.authz.authority import Authority
from pdpp.authz.selection import make_grant
from pdpp.cli import grant_text
from pdpp.cli.client_name import client_names, named
from pdpp.cli.command_group import CommandGroup
from pdpp.cli.grant_options import GrantChoice, grant_options
from pdpp.cli.help_text import examples
from pdpp.cli.options import common, words
from pdpp.cli.output import note, show, table
from pdpp.cli.package import package
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.model.errors import NotFound
from pdpp.model.grant import ACTIVE, Grant, status
from pdpp.serving.data_folder import open_store
from pdpp.store.port import Store


@click.group(cls=CommandGroup)
def grant() -> None:
    """Let a client read; list and revoke grants."""


grant.add_command(package)


@grant.command(
    epilog=examples(
        'pdpp grant create --client my-agent --purpose "Answer my questions" \\',
        "  --connection cin_home --since 2026-01-01 --expires 30d",
        'pdpp grant create --client tax-helper --purpose "Tax return" --expires 30d \\',
        "  --connection cin_bank --since 2025-01-01 --until 2026-01-01",
        'pdpp grant create --client planner --purpose "Plan my week" \\',
        "  --stream events --field title --field starts_at",
    )
)
@grant_options
@common
def create(asked: GrantChoice, data: Path, as_json: bool) -> None:
    """Let a client read, and print its token once.

    Choose connections, streams, fields, a time or records; each may be named several times.
    Without a choice the grant covers everything, which you are asked to confirm.
    """
    now = instant.now()
    with open_store(data) as store:
        catalogue = store.catalogue()
        grant, secret, token = make_grant(
            asked.allowances(catalogue),
            client_id=asked.client,
            purpose=asked.purpose,
            now=now,
            expires_at=asked.expires,
        )
        store.vault.keep_grant(grant, [token])
        clients = client_names(store)
    document = grant_text.document(grant, now) | {"client_token": secret}
    lines = [
        *grant_text.in_words(grant, catalogue.connections, clients, now),
        "",
        "Its token, which is not shown again:",
        secret,
    ]
    show(document, lines, as_json=as_json)


@grant.command("list", epilog=examples("pdpp grant list", "pdpp grant list --all --json"))
@click.option("--all", "ended_too", is_flag=True, help="Show what is revoked or expired too.")
@common
def list_grants(ended_too: bool, data: Path, as_json: bool) -> None:
    """List the grants that clients have."""
    now = instant.now()
    with open_store(data) as store:
        waiting = len(store.vault.held_grants())
        grants, names = store.vault.grants(), client_names(store)
        listed = [grant for grant in grants if ended_too or status(grant, now) == ACTIVE]
    rows = [[visible(text, lines=False) for text in _row(grant, names, now)] for grant in listed]
    heading = ("ID", "CLIENT", "STATUS", "EXPIRES", "STREAMS", "PURPOSE")
    lines = table([heading, *rows]) if rows else ["No grants."]
    show({"grants": [grant_text.document(grant, now) for grant in listed]}, lines, as_json=as_json)
    if waiting:
        note(f"{waiting} more wait for you since a backup was restored: see pdpp grant confirm.")


def _row(grant: Grant, names: Mapping[str, str], now: int) -> tuple[str, ...]:
    client, end = named(grant.client_id, names), grant_text.end_of(grant)
    return grant.id, client, status(grant, now), end, str(len(grant.allowances)), grant.purpose


@grant.command("show", epilog=examples("pdpp grant show grt_0123456789abcdef"))
@click.argument("grant_id", type=words, metavar="ID")
@common
def show_grant(grant_id: str, data: Path, as_json: bool) -> None:
    """Show what a grant lets its client see."""
    now = instant.now()
    with open_store(data) as store:
        grant = _find(store, grant_id)
        connections, clients = store.catalogue().connections, client_names(store)
    lines = grant_text.in_words(grant, connections, clients, now)
    show(grant_text.document(grant, now), lines, as_json=as_json)


@grant.command(epilog=examples("pdpp grant revoke grt_0123456789abcdef"))
@click.argument("grant_id", type=words, metavar="ID")
@common
def revoke(grant_id: str, data: Path, as_json: bool) -> None:
    """Revoke a grant; the server refuses its client's next request."""
    with open_store(data) as store:
        _find(store, grant_id)
        revoked = Authority(store, instant.now).revoke_grant(grant_id)
        grant = _find(store, grant_id)
    text = f"Revoked: {grant_id}" if revoked else f"{grant_id} was already revoked."
    show(grant_text.document(grant, instant.now()), [text], as_json=as_json)


@grant.command(epilog=examples("pdpp grant confirm", "pdpp grant confirm grt_0123456789abcdef"))
@click.argument("grant_ids", type=words, metavar="[ID]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All of them, and owner tokens too.")
@common
def confirm(grant_ids: tuple[str, ...], everything: bool, data: Path, as_json: bool) -> None:
    """Confirm grants that wait because this store was restored from a backup.

    A backup does not know what was revoked after it was made. Where this machine does not know it
    either, every grant and token waits for you. Without an ID they are only listed.
    """
    with open_store(data) as store:
        waiting = [_find(store, grant_id) for grant_id in store.vault.held_grants()]
        unknown = set(grant_ids) - {grant.id for grant in waiting}
        if unknown:
            raise NotFound(f"no grant {min(unknown)!r} waits for you; see pdpp grant confirm")
        if grant_ids or everything:
            store.vault.confirm(None if everything else grant_ids)
        left, clients = set(store.vault.held_grants()), client_names(store)
    documents = [
        {"grant_id": grant.id, "client_id": grant.client_id, "held": grant.id in left}
        for grant in waiting
    ]
    rows = [
        (grant.id, named(grant.client_id, clients), "waits" if grant.id in left else "good")
        for grant in waiting
    ]
    lines = table([[visible(text, lines=False) for text in row] for row in rows])
    show({"grants": documents}, lines or ["No grant waits for you."], as_json=as_json)


def _find(store: Store, grant_id: str) -> Grant:
    grant = store.vault.grant(grant_id)
    if grant is None:
        raise NotFound(f"there is no grant {grant_id!r}; see pdpp grant list --all")
    return grant
