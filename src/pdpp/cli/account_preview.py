"""Account previews: what a change of accounts does, shown and agreed to before it is done."""

import sys
from collections.abc import Iterable, Iterator, Mapping

import click

from pdpp.authz.account_changes import GrantChange
from pdpp.cli.client_name import named
from pdpp.cli.output import note, table
from pdpp.evidence.amount import counted, size_in_words
from pdpp.evidence.fence import visible
from pdpp.service.accounts import AccountContents
from pdpp.store.catalogue import Catalogue, Connection

yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Only show what would happen.")


def name_of(connection: Connection) -> str:
    """Return the name of an account as a person reads it."""
    return visible(f"{connection.display_name} ({connection.connection_id})", lines=False)


def contents_lines(contents: AccountContents) -> Iterator[str]:
    """Yield the lines that describe the content of an account."""
    yield name_of(contents.connection)
    yield from table(
        [(stream, counted(count, "record")) for stream, count in contents.records.items()],
        indent="  ",
    )
    yield f"  size of the records: {size_in_words(contents.record_bytes)}"
    if contents.newest is not None:
        yield f"  newest: {contents.newest}"
    if contents.files:
        size = size_in_words(contents.file_bytes)
        yield f"  {counted(contents.files, 'file')} that no other account uses, {size}"


def change_lines(
    changes: Iterable[GrantChange], catalogue: Catalogue, clients: Mapping[str, str]
) -> Iterator[str]:
    """Yield what a person reads of the grants that change."""
    for change in changes:
        client = named(change.grant.client_id, clients)
        who = visible(f"{change.grant.id} of {client}", lines=False)
        if change.ends:
            yield f"Grant {who} opens nothing else and is revoked."
            continue
        ids = dict.fromkeys(allowance.connection_id for allowance in change.allowances)
        known = [catalogue.connections[id] for id in ids if id in catalogue.connections]
        yield f"Grant {who} then opens: {', '.join(map(name_of, known)) or 'nothing'}."
        before = {(a.connection_id, a.stream): a for a in change.grant.allowances}
        for allowance in change.allowances:
            earlier = before.get((allowance.connection_id, allowance.stream))
            if earlier is not None and earlier != allowance:
                yield (
                    f"  of {visible(allowance.stream, lines=False)} only the fields, times and "
                    "records that it opened of both"
                )


def agree(lines: Iterable[str], *, yes: bool, typed: str | None = None) -> None:
    """Show what will happen and go on only where the owner agrees; in a script ``--yes`` does.

    ``typed`` is a name that has to be typed in full, for what cannot be undone.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(
            "This changes what is stored, and there is no terminal to ask in. Say --yes, or "
            "--dry-run to see what would happen.",
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
        wanted = visible(typed, lines=False)
        raise click.ClickException(f"{answer.strip()!r} is not {wanted!r}; nothing was removed")
