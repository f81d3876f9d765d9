"""The owner: the passphrase that approves, and tokens of the owner's own."""

import sys
from pathlib import Path
from typing import TextIO

import click

from pdpp.authz.owner import MOST_CHARS, has_passphrase, hash_passphrase, keep_passphrase
from pdpp.authz.token import TokenKind, mint
from pdpp.cli.folder import opened
from pdpp.cli.options import common, examples, expiry, words
from pdpp.cli.output import note, show
from pdpp.model import instant


@click.group()
def owner() -> None:
    """Choose your passphrase, and make tokens for yourself."""


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
@click.option("--reset", is_flag=True, help="Replace the one there is, and end every login.")
@common
def init(passphrase_file: TextIO | None, reset: bool, data: Path, as_json: bool) -> None:
    """Choose the passphrase with which you approve what agents may read.

    It is asked for twice and not shown. Only a hash of it is kept.
    """
    with opened(data, create=True) as store:
        if has_passphrase(store.vault) and not reset:
            raise click.ClickException(
                "there is a passphrase already; replace it with pdpp owner init --reset"
            )
        hashed = hash_passphrase(_passphrase(passphrase_file))
        with store.vault.deciding() as ledger:
            keep_passphrase(ledger, hashed)
    text = "The passphrase is set; log in with it in a browser."
    show({"owner": "ready"}, [text], as_json=as_json)


def _passphrase(source: TextIO | None) -> str:
    if source is not None:
        return source.readline(4 * MOST_CHARS).rstrip("\r\n")
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
@click.option(
    "--expires", type=expiry, metavar="30d|DATE", help="When it ends; unless given, never."
)
@common
def token(label: str, expires: int | None, data: Path, as_json: bool) -> None:
    """Make a token that reads and writes everything, and print it once."""
    with opened(data, create=True) as store:
        secret, kept = mint(TokenKind.OWNER, label, instant.now(), expires_at=expires)
        store.add_token(kept)
    end = None if expires is None else instant.to_text(expires)
    document = {"owner_token": secret, "label": label, "expires_at": end}
    show(document, [secret], as_json=as_json)
    if not as_json:
        until = "" if end is None else f" until {end}"
        note(
            f"This token opens everything{until} and is not shown again; never give it to an agent."
        )


@owner.command(
    epilog=examples(
        'pdpp owner resource-server --label "my archive"',
        'pdpp owner resource-server --label "my archive" --expires 365d --json',
    )
)
@click.option("--label", type=words, metavar="TEXT", required=True, help="Which server it is.")
@click.option(
    "--expires", type=expiry, metavar="30d|DATE", help="When it ends; unless given, never."
)
@common
def resource_server(label: str, expires: int | None, data: Path, as_json: bool) -> None:
    """Make a secret with which another server of yours may ask what a token opens.

    It reads nothing here; it only opens the introspection endpoint.
    """
    with opened(data, create=True) as store:
        secret, kept = mint(TokenKind.RESOURCE_SERVER, label, instant.now(), expires_at=expires)
        store.add_token(kept)
    end = None if expires is None else instant.to_text(expires)
    document = {"resource_server_secret": secret, "label": label, "expires_at": end}
    show(document, [secret], as_json=as_json)
    if not as_json:
        note("This secret is not shown again; the other server sends it as its bearer.")
