"""Options that several ``pdpp read`` commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from pdpp.cli.reading.naming import usage

F = TypeVar("F", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="The server's answer, verbatim.")
as_lines = click.option("--jsonl", "as_lines", is_flag=True, help="One JSON object a line.")
every = click.option("--all", "every", is_flag=True, help="Read every page, not just one.")
connection = click.option("--connection", metavar="ID", help="Only this account.")
filters = click.option(
    "--filter",
    "filters",
    metavar="FIELD=VALUE",
    multiple=True,
    help="Only what matches: =, >=, >, <= or <, or JSON; a record must match every one.",
)
limit = click.option("--limit", type=click.IntRange(1), metavar="N", help="How many at a time.")
cursor = click.option(
    "--cursor", metavar="TEXT", help="Continue with the cursor that the last page printed."
)
expand = click.option("--expand", metavar="NAME", multiple=True, help="Related records too.")
expand_limit = click.option(
    "--expand-limit", metavar="NAME=N", multiple=True, help="Show at most N related records."
)
fields = click.option(
    "--fields", metavar="A,B", multiple=True, help="Only these fields of each record."
)
view = click.option("--view", metavar="ID", help="Only the fields of this declared view.")
stream = click.option("--stream", metavar="NAME", help="The record's stream, with --record.")
record = click.option("--record", metavar="KEY", help="The record's own key, with --stream.")


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return several options as one decorator, in the order they are listed."""

    def give(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return give


def names_of(texts: tuple[str, ...]) -> list[str]:
    """Return names given with commas, one by one, or both."""
    return [name for text in texts for name in text.split(",") if name]


def limits_of(texts: tuple[str, ...]) -> dict[str, int]:
    """Return how many of each relation."""
    limits = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not name or not number.isdecimal() or not int(number):
            raise usage(f"--expand-limit {text!r} is not such as attachments=5")
        limits[name] = int(number)
    return limits


def one_form(*, as_json: bool, as_lines: bool, every: bool) -> None:
    """Refuse forms of output that exclude each other."""
    if as_json and as_lines:
        raise usage("Choose --json or --jsonl")
    if as_json and every:
        raise usage("--json is one answer of the server; with --all use --jsonl")
