"""Grant options: who may read what, and until when."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click

from pdpp.authz.selection import Selection, resolve
from pdpp.cli.options import expiry, time, words
from pdpp.cli.output import note
from pdpp.evidence.fence import visible
from pdpp.evidence.handle import key_problem
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import Allowance, Interval
from pdpp.store.catalogue import Catalogue

_LISTS = {"connection": "pdpp connection list", "stream": "pdpp source list"}


class GrantChoice(NamedTuple):
    """Who may read what, what for, and until when."""

    client: str
    purpose: str
    selection: Selection
    expires: int | None

    def allowances(self, catalogue: Catalogue) -> tuple[Allowance, ...]:
        """Return what the grant opens; for an unknown name, say where to look."""
        try:
            return resolve(self.selection, catalogue)
        except InvalidRequest as problem:
            command = _LISTS.get(problem.param or "")
            hint = "" if command is None else f" See {command}."
            raise InvalidRequest(problem.message + hint, param=problem.param) from None


def record_id(text: str) -> str:
    """Return a key that a record can have."""
    problem = key_problem(text)
    if problem is not None:
        raise click.BadParameter(f"The id {problem}.")
    return text


def _several(option: str, name: str, metavar: str, what: str, **more: Any) -> Callable[..., Any]:
    return click.option(option, name, metavar=metavar, multiple=True, help=what, **more)


_OPTIONS = (
    click.option("--client", type=words, metavar="NAME", required=True, help="Who may read."),
    click.option("--purpose", type=words, metavar="TEXT", required=True, help="What for."),
    _several("--connection", "connections", "ID", "Only this account."),
    _several("--stream", "streams", "NAME", "Only this stream."),
    _several("--field", "fields", "NAME", "Only this field."),
    click.option("--view", metavar="ID", help="Only the fields of this declared view."),
    click.option("--since", type=time, metavar="TIME", help="Only what happened from then on."),
    click.option("--until", type=time, metavar="TIME", help="Only what happened before then."),
    _several("--record", "records", "ID", "Only this record.", type=record_id),
    click.option(
        "--expires", type=expiry, metavar="30d|DATE", help="When it ends. Default: never."
    ),
    click.option("--everything", is_flag=True, help="Every account and field there is now."),
)


def grant_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an approval, which it gets as one ``asked``."""

    @wraps(function)
    def run(
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
        everything: bool,
        **others: Any,
    ) -> None:
        selection = Selection(connections, streams, fields, view, _interval(since, until), records)
        _confirm_everything(client, selection, everything=everything)
        function(asked=GrantChoice(client, purpose, selection, expires), **others)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def _confirm_everything(client: str, selection: Selection, *, everything: bool) -> None:
    """Make sure that a grant over everything is meant, and not only a choice forgotten."""
    context = click.get_current_context()
    chosen = selection != Selection()
    if everything and chosen:
        raise click.UsageError("Choose what to share, or say --everything; not both.", context)
    if everything or chosen:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(
            "Nothing is chosen, so this would share everything. Choose with --connection, "
            "--stream, --field or --since; or say --everything.",
            context,
        )
    note(f"Nothing is chosen: {visible(client, lines=False)} could read every account and field.")
    click.confirm("Share everything?", default=False, abort=True, err=True)


def _interval(since: int | None, until: int | None) -> Interval | None:
    if since is None and until is None:
        return None
    interval = Interval(since, until)
    if interval.empty:
        raise click.UsageError("--since must be before --until.", click.get_current_context())
    return interval
