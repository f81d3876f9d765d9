"""The owner's own tokens."""

from pathlib import Path

import click

from pdpp.authz.token import TokenKind, mint
from pdpp.cli.folder import opened
from pdpp.cli.options import common, examples, expiry, words
from pdpp.cli.output import note, show
from pdpp.model import instant


@click.group()
def owner() -> None:
    """Make tokens for yourself."""


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
