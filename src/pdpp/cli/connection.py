"""Connections: the accounts that a store holds records of."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import click

from pdpp.cli.options import common, examples, words
from pdpp.cli.output import show, table
from pdpp.evidence.fence import visible
from pdpp.evidence.handle import part_problem
from pdpp.serving.data_folder import open_store
from pdpp.store.catalogue import Catalogue, Connection, new_connection_id
from pdpp.store.scope import owner_reaches


@click.group()
def connection() -> None:
    """Add accounts and list them."""


def connection_id(text: str) -> str:
    """Return an id that handles can carry."""
    problem = part_problem(text)
    if problem is not None:
        raise click.BadParameter(f"The id {problem}; write one such as cin_work.")
    return text


@connection.command(
    epilog=examples(
        'pdpp connection add mail --name "Work mail"',
        'pdpp connection add mail --name "Home mail" --id cin_home',
    )
)
@click.argument("connector_key", type=words)
@click.option(
    "--name", type=words, metavar="TEXT", required=True, help="What you call the account."
)
@click.option("--id", "chosen", type=connection_id, metavar="ID", help="Its id; unless given, new.")
@common
def add(connector_key: str, name: str, chosen: str | None, data: Path, as_json: bool) -> None:
    """Add an account of a registered source, or give the one with that id a new name."""
    number = chosen or new_connection_id()
    with open_store(data, create=True) as store:
        status = "renamed" if number in store.catalogue().connections else "added"
        store.connect(number, connector_key, name)
        streams = list(store.catalogue().sources[connector_key].streams)
    document = {
        "status": status,
        "connection_id": number,
        "connector_key": connector_key,
        "display_name": name,
        "streams": streams,
    }
    lines = [
        f"{status.capitalize()}: {name} ({number})",
        f"Next: pdpp ingest RECORDS.ndjson --connection {quote(number)} "
        f"--stream {quote(streams[0])}",
    ]
    show(document, map(visible, lines), as_json=as_json)


@connection.command("list", epilog=examples("pdpp connection list", "pdpp connection list --json"))
@common
def list_connections(data: Path, as_json: bool) -> None:
    """List the accounts with their streams and how many records each holds."""
    with open_store(data) as store, store.reading():
        catalogue = store.catalogue()
        counts = store.counts(owner_reaches(catalogue))
    documents = [
        _document(connection, catalogue, counts)
        for _, connection in sorted(catalogue.connections.items())
    ]
    lines = [line for document in documents for line in _lines(document)]
    show({"connections": documents}, lines or ["No connections yet."], as_json=as_json)


def _document(
    account: Connection, catalogue: Catalogue, counts: Mapping[int, int]
) -> dict[str, Any]:
    return {
        "connection_id": account.connection_id,
        "connector_key": account.connector_key,
        "display_name": account.display_name,
        "streams": [
            {"name": name, "record_count": counts.get(feed.id, 0)}
            for (number, name), feed in sorted(catalogue.feeds.items())
            if number == account.connection_id
        ],
    }


def _lines(document: Mapping[str, Any]) -> list[str]:
    title = f"{document['display_name']} ({document['connection_id']}, {document['connector_key']})"
    rows = [
        (stream["name"], f"{stream['record_count']:,} records") for stream in document["streams"]
    ]
    return [visible(title, lines=False), *table(rows, indent="  ")]
