"""The owner: the passphrase that approves, and tokens of the owner's own."""

import sys
from pathlib import Path
from typing import Any, TextIO

import click

from pdpp.authz.authority import Authority
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.owner import (
    has_passphrase,
    hash_passphrase,
    keep_passphrase,
    new_login_code,
)
from pdpp.authz.token import TokenKind, mint, token_id
from pdpp.cli import grant_text
from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.options import common, expiry, passphrase_in, words
from pdpp.cli.output import note, show, table
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.model.errors import NotFound
from pdpp.model.grant import ACTIVE, status
from pdpp.serving.data_folder import open_store
from pdpp.store.vault import Token, VaultReader

_KINDS = {TokenKind.OWNER: "owner", TokenKind.RESOURCE_SERVER: "resource server"}
"""The tokens that hang on no grant, and what each kind is called."""


@click.group(cls=CommandGroup)
def owner() -> None:
    """Choose your passphrase; make and revoke tokens of your own."""


@owner.command(
    epilog=examples(
        "pdpp owner init",
        "pdpp owner init --reset",
        "pdpp owner init --passphrase-file - < passphrase.txt",
    )
)
@click.option(
    "--passphrase-file",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE",
    help="Read it from the first line of a file, or of standard input with -.",
)
@click.option(
    "--reset",
    is_flag=True,
    help="Replace the passphrase, end every login and forget every passkey.",
)
@common
def init(passphrase_file: TextIO | None, reset: bool, data: Path, as_json: bool) -> None:
    """Choose the passphrase with which you approve what agents may read.

    It is asked for twice and not shown. Only a hash of it is kept.
    """
    with open_store(data, create=True) as store:
        if has_passphrase(store.vault) and not reset:
            raise click.ClickException(
                "there is a passphrase already; replace it with pdpp owner init --reset"
            )
        hashed = hash_passphrase(_passphrase(passphrase_file))
        with store.vault.transaction() as transaction:
            keep_passphrase(transaction, hashed)
    text = "The passphrase is set; log in with it in a browser."
    show({"owner": "ready"}, [text], as_json=as_json)


@owner.command(epilog=examples("pdpp owner code"))
@common
def code(data: Path, as_json: bool) -> None:
    """Print a code that logs you in once, within ten minutes.

    Use it if somebody else's wrong guesses slow down the login, or if you do not have the
    passphrase here. Whoever can run this can read the data anyway. To approve a grant you still
    need the passphrase.
    """
    with open_store(data) as store:
        if not has_passphrase(store.vault):
            raise click.ClickException(
                "there is no passphrase yet; choose one with pdpp owner init"
            )
        printed = new_login_code(store.vault, instant.now(), Lifetimes())
    lines = [printed, "Type it on the login page, under “Locked out, or forgot the passphrase?”."]
    show({"code": printed}, lines, as_json=as_json)


def _passphrase(source: TextIO | None) -> str:
    if source is not None:
        return passphrase_in(source)
    if not sys.stdin.isatty():
        raise click.UsageError(
            "Give the passphrase with --passphrase-file, or run this in a terminal.",
            click.get_current_context(),
        )
    typed: str = click.prompt(
        "Passphrase", hide_input=True, confirmation_prompt="The same again", err=True
    )
    return typed


@owner.command(
    epilog=examples(
        "pdpp owner token",
        'pdpp owner token --label "laptop script" --expires 30d',
        "pdpp owner token --json",
    )
)
@click.option("--label", type=words, metavar="TEXT", default="owner", help="What it is for.")
@click.option("--expires", type=expiry, metavar="30d|DATE", help="When it ends. Default: never.")
@common
def token(label: str, expires: int | None, data: Path, as_json: bool) -> None:
    """Make a token that reads and writes everything, and print it once."""
    secret, record = _make(TokenKind.OWNER, label, expires, data)
    name, end = token_id(record), grant_text.moments(record)["expires_at"]
    document = {"token_id": name, "owner_token": secret, "label": label, "expires_at": end}
    show(document, [secret], as_json=as_json)
    if not as_json:
        until = "" if end is None else f" until {end}"
        note(
            f"This token opens everything{until} and is not shown again; never give it to an agent."
            f"\npdpp owner revoke {name} takes it back."
        )


@owner.command(
    epilog=examples(
        'pdpp owner resource-server --label "my archive"',
        'pdpp owner resource-server --label "my archive" --expires 365d --json',
    )
)
@click.option("--label", type=words, metavar="TEXT", required=True, help="Which server it is.")
@click.option("--expires", type=expiry, metavar="30d|DATE", help="When it ends. Default: never.")
@common
def resource_server(label: str, expires: int | None, data: Path, as_json: bool) -> None:
    """Make a secret with which another server of yours may ask what a token opens.

    It reads nothing here; it only opens the introspection endpoint.
    """
    secret, record = _make(TokenKind.RESOURCE_SERVER, label, expires, data)
    name, end = token_id(record), grant_text.moments(record)["expires_at"]
    document = {
        "token_id": name,
        "resource_server_secret": secret,
        "label": label,
        "expires_at": end,
    }
    show(document, [secret], as_json=as_json)
    if not as_json:
        note(
            "This secret is not shown again; the other server sends it as its bearer."
            f"\npdpp owner revoke {name} takes it back."
        )


@owner.command(epilog=examples("pdpp owner tokens", "pdpp owner tokens --all --json"))
@click.option("--all", "ended_too", is_flag=True, help="Show what is revoked or expired too.")
@common
def tokens(ended_too: bool, data: Path, as_json: bool) -> None:
    """List the tokens you made for yourself and for your servers.

    The tokens themselves are not stored; use the id to revoke one.
    """
    now = instant.now()
    with open_store(data) as store:
        listed = [one for one in _tokens(store.vault) if ended_too or status(one, now) == ACTIVE]
    rows = [[visible(text, lines=False) for text in _row(one, now)] for one in listed]
    heading = ("ID", "FOR", "STATUS", "MADE", "EXPIRES", "LABEL")
    lines = table([heading, *rows]) if rows else ["No tokens."]
    show({"tokens": [_document(one, now) for one in listed]}, lines, as_json=as_json)


@owner.command(epilog=examples("pdpp owner revoke tok_0123456789abcdef", "pdpp owner revoke --all"))
@click.argument("token_name", type=words, metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Every one that pdpp owner tokens lists.")
@common
def revoke(token_name: str | None, every: bool, data: Path, as_json: bool) -> None:
    """Revoke a token; the server refuses the next request with it."""
    if every == (token_name is not None):
        raise click.UsageError("Name one token, or say --all.", click.get_current_context())
    with open_store(data) as store:
        chosen = [one for one in _tokens(store.vault) if every or token_id(one) == token_name]
        if not chosen and not every:
            raise NotFound(f"there is no token {token_name!r}; see pdpp owner tokens --all")
        authority = Authority(store, instant.now)
        ids = [token_id(one) for one in chosen if authority.revoke_token(one.hash)]
    lines = [f"Revoked: {name}" for name in ids]
    nothing = "There is nothing to revoke." if every else f"{token_name} was already revoked."
    show({"revoked": ids}, lines or [nothing], as_json=as_json)


def _make(kind: TokenKind, label: str, expires: int | None, data: Path) -> tuple[str, Token]:
    secret, record = mint(kind, label, instant.now(), expires_at=expires)
    with open_store(data, create=True) as store:
        store.vault.keep_token(record)
    return secret, record


def _tokens(vault: VaultReader) -> list[Token]:
    """Return the tokens that hang on no grant, the oldest first."""
    tokens = [one for kind in _KINDS for one in vault.tokens(kind.value)]
    return sorted(tokens, key=lambda one: one.created_at)


def _row(token: Token, now: int) -> tuple[str, ...]:
    kind, created = _KINDS[TokenKind(token.kind)], instant.to_date_text(token.created_at)
    return token_id(token), kind, status(token, now), created, grant_text.end_of(token), token.label


def _document(token: Token, now: int) -> dict[str, Any]:
    about = {"token_id": token_id(token), "kind": token.kind, "label": token.label}
    return {**about, "status": status(token, now), **grant_text.moments(token)}
