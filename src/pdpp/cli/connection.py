"""Connections: the accounts that a store holds records of."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import click

from pdpp.cli.account_preview import (
    agree,
    change_lines,
    contents_lines,
    dry_run_option,
    name_of,
    yes_option,
)
from pdpp.cli.account_removal import RemovalOptions, delete_removed, run_removal
from pdpp.cli.client_name import client_names, named
from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.options import common, words
from pdpp.cli.output import show, table
from pdpp.cli.overview import for_folder
from pdpp.cli.progress import Progress
from pdpp.evidence.amount import counted
from pdpp.evidence.fence import visible
from pdpp.evidence.handle import part_problem
from pdpp.model import instant
from pdpp.service.accounts import (
    MergePreview,
    change_json,
    find_account,
    id_of,
    merge_connections,
    preview_merge,
    rename_connection,
)
from pdpp.serving.data_folder import open_store
from pdpp.store.catalogue import Catalogue, Connection, new_connection_id
from pdpp.store.scope import owner_reaches


@click.group(cls=CommandGroup)
def connection() -> None:
    """Add, list, rename, merge and remove accounts."""


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
    "--name", type=words, metavar="TEXT", required=True, help="Your name for the account."
)
@click.option(
    "--id", "chosen", type=connection_id, metavar="ID", help="Its id. Default: a new one."
)
@common
def add(connector_key: str, name: str, chosen: str | None, data: Path, as_json: bool) -> None:
    """Add an account of a registered source, or give the one with that id a new name."""
    number = chosen or new_connection_id()
    with open_store(data) as store:
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
    ingest = f"pdpp ingest RECORDS.ndjson --connection {quote(number)} --stream {quote(streams[0])}"
    lines = [f"{status.capitalize()}: {name} ({number})", f"Next: {for_folder(ingest, data)}"]
    show(document, map(visible, lines), as_json=as_json)


@connection.command(epilog=examples('pdpp connection rename cin_home "Private mail"'))
@click.argument("account", type=words, metavar="ACCOUNT")
@click.argument("name", type=words)
@common
def rename(account: str, name: str, data: Path, as_json: bool) -> None:
    """Give an account another name; its id stays, and so does what grants open.

    ACCOUNT is its id, or its name as "pdpp connection list" shows it.
    Every client that may read the account sees the new name, at once where a server runs.
    """
    with open_store(data) as store:
        account = id_of(store.catalogue(), account)
        before, clients = rename_connection(store, account, name, instant.now())
        names = client_names(store)
    document = {
        "status": "renamed",
        "connection_id": account,
        "display_name": name,
        "previous_name": before.display_name,
        "seen_by": clients,
    }
    seen = f"The name is seen by: {_readers(clients, names)}." if clients else "No client sees it."
    lines = [f"Renamed: {before.display_name} is now {name} ({account})", seen]
    show(document, map(visible, lines), as_json=as_json)


@connection.command(
    epilog=examples(
        "pdpp connection merge cin_old cin_home --dry-run",
        "pdpp connection merge cin_old cin_home",
    )
)
@click.argument("source", type=words, metavar="FROM")
@click.argument("target", type=words, metavar="INTO")
@yes_option
@dry_run_option
@common
def merge(source: str, target: str, yes: bool, dry_run: bool, data: Path, as_json: bool) -> None:
    """Move everything from one account into another of the same source, and remove the first.

    FROM and INTO are ids, or names as "pdpp connection list" shows them.
    If both accounts have a record, the one that was changed last stays, and where the records do
    not say when, the one that was emitted last. Grants follow: a grant of FROM now opens INTO, with
    its limits; a grant or package that opens a stream of both is left with the fields, times and
    records that it opened of either. Citations of FROM still open for you; clients ask for INTO.
    After an interruption, run the same command again. The next import of FROM's account goes into
    INTO. A server may be running.
    """
    with open_store(data) as store:
        source, target = (id_of(store.catalogue(), said) for said in (source, target))
        preview = preview_merge(store, source, target, instant.now())
        catalogue, clients = store.catalogue(), client_names(store)
        document: dict[str, Any] = {**preview.as_json()}
        lines = _merge_lines(preview, catalogue, clients)
        if not dry_run:
            agree(lines, yes=yes)
            with Progress("Moving records:") as progress:
                result = merge_connections(store, source, target, instant.now, progress.tell)
            delete_removed(store)
            document |= {
                "status": "merged",
                "records_written": result.written,
                "grants": list(map(change_json, result.changes)),
            }
            lines = [
                f"Merged: {name_of(preview.source.connection)} is now part of "
                f"{name_of(preview.target.connection)}. Written there: "
                f"{counted(result.written, 'record')}.",
                *change_lines(result.changes, catalogue, clients),
            ]
    show(document, lines, as_json=as_json)


def _merge_lines(
    preview: MergePreview, catalogue: Catalogue, clients: Mapping[str, str]
) -> list[str]:
    """Return what a person reads of a merge."""
    lines = ["Everything moves from:", *contents_lines(preview.source)]
    lines += ["into:", *contents_lines(preview.target)]
    lines += change_lines(preview.changes, catalogue, clients)
    if preview.clients:
        readers = visible(_readers(preview.clients, clients), lines=False)
        lines.append(f"Clients that may read INTO then also see what is moved: {readers}.")
    return lines


def _readers(client_ids: Iterable[str], names: Mapping[str, str]) -> str:
    return ", ".join(named(client_id, names) for client_id in client_ids)


@connection.command(
    epilog=examples(
        "pdpp connection remove cin_old --dry-run",
        "pdpp connection remove cin_old",
        "pdpp connection remove cin_old --yes --json",
    )
)
@click.argument("account", type=words, metavar="ACCOUNT")
@yes_option
@dry_run_option
@common
def remove(account: str, yes: bool, dry_run: bool, data: Path, as_json: bool) -> None:
    """Delete an account with all its records and files, and take it out of every grant.

    ACCOUNT is its id, or its name as "pdpp connection list" shows it.
    A grant that opens nothing else is revoked. What clients and backups already hold stays there.
    A server may be running: the account is gone at its next request. After an interruption, run the
    same command again: it deletes what an earlier removal left.
    """
    with open_store(data) as store:
        if not dry_run:
            delete_removed(store)
        catalogue = store.catalogue()
        connection = find_account(catalogue, id_of(catalogue, account))
        run_removal(
            store,
            data,
            [connection],
            connection.display_name,
            RemovalOptions(yes=yes, dry_run=dry_run, as_json=as_json),
        )


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
        (stream["name"], counted(stream["record_count"], "record"))
        for stream in document["streams"]
    ]
    return [visible(title, lines=False), *table(rows, indent="  ")]
