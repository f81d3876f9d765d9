"""Receipts: what each client read, in words and as a list, and the proof that the log is whole."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import click

from pdpp.cli.client_name import client_names, named
from pdpp.cli.help_text import examples
from pdpp.cli.options import common, moment_after, words
from pdpp.cli.output import show, table
from pdpp.evidence.amount import counted
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.receipts.summary import OWNER, VERBS, asked_about, summaries
from pdpp.serving.data_folder import open_store
from pdpp.store.port import Store
from pdpp.store.receipts import ChainedReceipt, ChainVerdict, ReadTotal, Receipt, ReceiptQuery

_LISTED = 50
_HEADING = ("WHEN", "WHO", "READ", "FROM", "RECORDS", "CHARACTERS")
_HEAD = re.compile(r"([1-9]\d{0,17}):([0-9a-f]{64})\Z", re.ASCII)
_UNITS = {"m": "minute", "h": "hour", "d": "day", "w": "week"}


class Names(NamedTuple):
    """How connections and clients are called here."""

    connections: Mapping[str, str]
    clients: Mapping[str, str]

    def client(self, client_id: str | None) -> str:
        """Return who read, as a person knows them."""
        return OWNER if client_id is None else named(client_id, self.clients)

    def place(self, receipt: Receipt) -> str:
        """Return where something was read from."""
        connection_id = receipt.connection_id
        name = None if connection_id is None else self.connections.get(connection_id, connection_id)
        return "/".join(part for part in (name, receipt.stream) if part is not None) or "–"


def ago(text: str) -> tuple[str, int]:
    """Return a stretch of time in words and the moment it began."""
    now = instant.now()
    moment = moment_after(now, text)
    if moment is None:
        raise click.BadParameter(
            f"{text!r} is neither a duration such as 7d or 12h nor a time such as 2026-01-31."
        )
    if instant.parse(text) is not None:
        return f"Since {instant.to_text(moment)}", moment
    length = counted(int(text[:-1]), _UNITS[text[-1]])
    return f"In the last {length}", 2 * now - moment


def head(text: str) -> tuple[int, bytes]:
    """Return the number and the hash of a receipt that was noted down."""
    match = _HEAD.match(text)
    if match is None:
        raise click.BadParameter(f"{text!r} is not NUMBER:HASH as pdpp receipts verify prints it.")
    return int(match[1]), bytes.fromhex(match[2])


@click.command(
    epilog=examples(
        "pdpp receipts",
        "pdpp receipts --client my-agent --since 30d",
        "pdpp receipts --jsonl > receipts.jsonl",
        "pdpp receipts verify",
    )
)
@click.argument("action", required=False, type=click.Choice(["verify"]))
@click.option("--client", type=words, metavar="ID", help="Only what this client read.")
@click.option("--grant", type=words, metavar="ID", help="Only what was read under this grant.")
@click.option(
    "--since",
    type=ago,
    metavar="7d|DATE",
    default="7d",
    show_default=True,
    help="How far to look back.",
)
@click.option(
    "--limit",
    type=click.IntRange(0),
    metavar="N",
    default=_LISTED,
    show_default=True,
    help="How many receipts to list.",
)
@click.option("--jsonl", is_flag=True, help="Print every receipt as a line of JSON.")
@click.option(
    "--head",
    "noted",
    type=head,
    metavar="NUMBER:HASH",
    help="With verify: a receipt noted down earlier that must still be there.",
)
@common
def receipts(
    action: str | None,
    client: str | None,
    grant: str | None,
    since: tuple[str, int],
    limit: int,
    jsonl: bool,
    noted: tuple[int, bytes] | None,
    data: Path,
    as_json: bool,
) -> None:
    """Show what each client read, or with verify check that nobody changed the log.

    A receipt names records and fields and counts characters; it never holds what they say.
    """
    if noted is not None and action is None:
        raise click.UsageError("--head needs verify.", click.get_current_context())
    query = ReceiptQuery(since[1], client, grant)
    with open_store(data) as store:
        if action == "verify":
            _verify(store, noted, as_json=as_json)
        elif jsonl:
            for entry in store.receipts.receipts(query):
                click.echo(json.dumps(document(entry)))
        else:
            _tell(store, query, since[0], limit, as_json=as_json)


# What was read


def _tell(store: Store, query: ReceiptQuery, span: str, limit: int, *, as_json: bool) -> None:
    book, names = store.receipts, _names(store)
    totals = book.totals(query)
    newest = list(
        islice((entry for entry in book.receipts(query) if not entry.receipt.is_event), limit)
    )
    events = list(book.events(query.since))
    answer = {
        "since": instant.to_text(query.since or 0),
        "totals": [_total(total, names) for total in totals],
        "receipts": [document(entry) for entry in newest],
        "events": [document(entry) for entry in events],
    }
    lines = [span, *_in_words(totals, names), *_happened(events), *_listed(newest, names, limit)]
    show(answer, (visible(line, lines=False) for line in lines), as_json=as_json)


def _names(store: Store) -> Names:
    return Names(
        {key: connection.display_name for key, connection in store.catalogue().connections.items()},
        client_names(store),
    )


def _total(total: ReadTotal, names: Names) -> dict[str, Any]:
    last_at = instant.to_text(total.last_at)
    name = names.connections.get(total.connection_id)
    return total._asdict() | {"last_at": last_at, "display_name": name}


def document(entry: ChainedReceipt) -> dict[str, Any]:
    """Return a receipt as JSON data."""
    receipt = entry.receipt
    members = receipt._asdict() | {"at": instant.to_text(receipt.at)}
    return {"number": entry.number, **members, "hash": entry.hash.hex()}


def _in_words(totals: tuple[ReadTotal, ...], names: Names) -> Iterator[str]:
    by_client = summaries(totals, names.connections)
    if not by_client:
        yield "  Nothing was read."
    for summary in by_client:
        yield f"  {names.client(summary.client_id)}"
        yield from (f"    {line}" for line in summary.lines)


def _happened(events: list[ChainedReceipt]) -> Iterator[str]:
    if events:
        yield ""
        yield "What happened to the log"
    for entry in events:
        yield f"  {instant.to_text(entry.receipt.at)}  {entry.receipt.detail}"


def _listed(newest: list[ChainedReceipt], names: Names, limit: int) -> Iterator[str]:
    if newest:
        yield ""
        yield from table([_HEADING, *(_row(entry.receipt, names) for entry in newest)])
    if newest and len(newest) == limit:
        yield f"These are the newest {limit}; --limit lists more, --jsonl all."


def _verb(receipt: Receipt) -> str:
    return VERBS.get(receipt.operation, receipt.operation)


def _row(receipt: Receipt, names: Names) -> tuple[str, ...]:
    row = (
        instant.to_text(receipt.at - receipt.at % instant.SECOND),
        names.client(receipt.client_id),
        " · ".join(filter(None, (_verb(receipt), asked_about(receipt.asked)))),
        names.place(receipt),
        f"{len(receipt.records):,}",
        f"{receipt.characters:,}",
    )
    return tuple(visible(text, lines=False) for text in row)


# Whether it is whole


def _verify(store: Store, noted: tuple[int, bytes] | None, *, as_json: bool) -> None:
    verdict = store.receipts.verify()
    problems = [*verdict.problems, *_forgotten(store, verdict, noted)]
    end = f"{verdict.last}:{verdict.hash.hex()}" if verdict.last else None
    answer = {"ok": not problems, "receipts": verdict.length, "head": end, "problems": problems}
    show(answer, problems or _whole(verdict, end), as_json=as_json)
    if problems:
        click.get_current_context().exit(1)


def _whole(verdict: ChainVerdict, end: str | None) -> Iterator[str]:
    yield f"The log is whole: {counted(verdict.length, 'receipt')}, each following from the last."
    if end is not None:
        yield "Note this down elsewhere, and give it as --head later:"
        yield end


def _forgotten(
    store: Store, verdict: ChainVerdict, noted: tuple[int, bytes] | None
) -> Iterator[str]:
    if noted is None or store.receipts.hash_of(noted[0]) == noted[1]:
        return
    if noted[0] < verdict.first:
        yield f"receipt {noted[0]} made room for newer ones, so it cannot be compared any more"
    else:
        yield f"receipt {noted[0]} is not the one that was noted down"
