"""Grants: what the owner lets clients read."""

from pathlib import Path

import click

from pdpp.authz.selection import Selection, make_grant, resolve
from pdpp.cli import approval
from pdpp.cli.folder import opened
from pdpp.cli.options import common, examples, expiry, time, words
from pdpp.cli.output import show, table
from pdpp.evidence.fence import visible
from pdpp.evidence.handle import key_problem
from pdpp.model import instant
from pdpp.model.errors import InvalidRequest, NotFound
from pdpp.model.grant import Allowance, Grant, Interval, status
from pdpp.store.catalogue import Catalogue
from pdpp.store.port import Store

_LISTS = {"connection": "pdpp connection list", "stream": "pdpp source list"}


@click.group()
def grant() -> None:
    """Let a client read, see what is granted, take it back."""


def record_id(text: str) -> str:
    """Return a key that a record can have."""
    problem = key_problem(text)
    if problem is not None:
        raise click.BadParameter(f"The id {problem}.")
    return text


@grant.command(
    epilog=examples(
        'pdpp grant create --client my-agent --purpose "Answer my questions"',
        "pdpp grant create --client tax-helper --connection cin_bank --stream transactions \\",
        '  --since 2025-01-01 --until 2026-01-01 --expires 30d --purpose "Tax return"',
        "pdpp grant create --client planner --stream events --field title --field starts_at \\",
        '  --purpose "Plan my week"',
    )
)
@click.option("--client", type=words, metavar="NAME", required=True, help="Who may read.")
@click.option("--purpose", type=words, metavar="TEXT", required=True, help="What for.")
@click.option("--connection", "connections", metavar="ID", multiple=True, help="Only this account.")
@click.option("--stream", "streams", metavar="NAME", multiple=True, help="Only this stream.")
@click.option("--field", "fields", metavar="NAME", multiple=True, help="Only this field.")
@click.option("--view", metavar="ID", help="Only the fields of this declared view.")
@click.option("--since", type=time, metavar="TIME", help="Only what happened from then on.")
@click.option("--until", type=time, metavar="TIME", help="Only what happened before then.")
@click.option(
    "--record", "records", type=record_id, metavar="ID", multiple=True, help="Only this record."
)
@click.option(
    "--expires", type=expiry, metavar="30d|DATE", help="When it ends; unless given, never."
)
@common
def create(
    client: str,
    purpose: str,
    connections: tuple[str, ...],
    streams: tuple[str, ...],
    fields: tuple[str, ...],
    view: str | None,
    since: int | None,
    until: int | None,
    records: tuple[str, ...],
    expires: int | None,
    data: Path,
    as_json: bool,
) -> None:
    """Let a client read, and print its token once.

    Without a choice the grant is over everything; connections, streams, fields and records may be
    named several times.
    """
    selection = Selection(connections, streams, fields, view, _interval(since, until), records)
    now = instant.now()
    with opened(data) as store:
        catalogue = store.catalogue()
        made, secret, token = make_grant(
            _resolve(selection, catalogue),
            client_id=client,
            purpose=purpose,
            now=now,
            expires_at=expires,
        )
        store.add_grant(made, [token])
    document = approval.document(made, now) | {"client_token": secret}
    lines = [
        *approval.in_words(made, catalogue.connections, now),
        "",
        "Its token, which is not shown again:",
        secret,
    ]
    show(document, lines, as_json=as_json)


def _resolve(selection: Selection, catalogue: Catalogue) -> tuple[Allowance, ...]:
    try:
        return resolve(selection, catalogue)
    except InvalidRequest as problem:
        command = _LISTS.get(problem.param or "")
        hint = "" if command is None else f" See {command}."
        raise InvalidRequest(problem.message + hint, param=problem.param) from None


def _interval(since: int | None, until: int | None) -> Interval | None:
    if since is None and until is None:
        return None
    interval = Interval(since, until)
    if interval.empty:
        raise click.UsageError("--since must be before --until.", click.get_current_context())
    return interval


@grant.command("list", epilog=examples("pdpp grant list", "pdpp grant list --all --json"))
@click.option("--all", "ended_too", is_flag=True, help="Show what is revoked or expired too.")
@common
def list_grants(ended_too: bool, data: Path, as_json: bool) -> None:
    """List the grants that clients have."""
    now = instant.now()
    with opened(data) as store:
        held = [made for made in store.grants() if ended_too or status(made, now) == "active"]
    rows = [[visible(text, lines=False) for text in _row(made, now)] for made in held]
    heading = ("ID", "CLIENT", "STATUS", "EXPIRES", "STREAMS", "PURPOSE")
    lines = table([heading, *rows]) if rows else ["No grants."]
    show({"grants": [approval.document(made, now) for made in held]}, lines, as_json=as_json)


def _row(made: Grant, now: int) -> tuple[str, ...]:
    end = "never" if made.expires_at is None else instant.to_date_text(made.expires_at)
    count = str(len(made.allowances))
    return made.id, made.client_id, status(made, now), end, count, made.purpose


@grant.command("show", epilog=examples("pdpp grant show grt_0123456789abcdef"))
@click.argument("grant_id", type=words, metavar="ID")
@common
def show_grant(grant_id: str, data: Path, as_json: bool) -> None:
    """Tell what a grant lets its client see."""
    now = instant.now()
    with opened(data) as store:
        made = _find(store, grant_id)
        connections = store.catalogue().connections
    lines = approval.in_words(made, connections, now)
    show(approval.document(made, now), lines, as_json=as_json)


@grant.command(epilog=examples("pdpp grant revoke grt_0123456789abcdef"))
@click.argument("grant_id", type=words, metavar="ID")
@common
def revoke(grant_id: str, data: Path, as_json: bool) -> None:
    """Take a grant back; its client's very next request is refused."""
    with opened(data) as store:
        _find(store, grant_id)
        revoked = store.revoke_grant(grant_id)
        made = _find(store, grant_id)
    text = f"Revoked: {grant_id}" if revoked else f"{grant_id} was already revoked."
    show(approval.document(made, instant.now()), [text], as_json=as_json)


def _find(store: Store, grant_id: str) -> Grant:
    made = store.grant(grant_id)
    if made is None:
        raise NotFound(f"there is no grant {grant_id!r}; see pdpp grant list --all")
    return made
