"""``pdpp read schema`` and ``pdpp read streams``: what there is to read."""

from collections.abc import Mapping
from typing import Any

import click

from pdpp.cli.options import REMOTE_CODES, examples
from pdpp.cli.reading import choice, raw
from pdpp.cli.reading.hint import next_command
from pdpp.cli.reading.naming import stream_of
from pdpp.cli.reading.paging import write_lines
from pdpp.cli.reading.provider import connected, sourced
from pdpp.cli.reading.sheet import Cell, Sheet, Span, sheet
from pdpp.client import request
from pdpp.client.envelope import page_of, schema_of
from pdpp.client.envelope import stream_of as row_of
from pdpp.client.result import Page, Schema, SchemaStream, Stream
from pdpp.evidence.amount import counted
from pdpp.evidence.compact import field_flags


@click.command(
    epilog=examples(
        "pdpp read schema",
        "pdpp read schema messages",
        "pdpp read schema messages --connection cin_home --full --json",
        codes=REMOTE_CODES,
    )
)
@click.argument("stream", required=False)
@click.option("--full", is_flag=True, help="With STREAM: the JSON Schema of its fields too.")
@choice.together(choice.connection, choice.as_json)
@sourced
def schema(
    stream: str | None,
    full: bool,
    connection: str | None,
    as_json: bool,
    provider: str | None,
    cache_root: str | None,
) -> None:
    """Tell what the grant opens; with STREAM its fields and what may be asked of each."""
    name = None if stream is None else stream_of(stream)
    with connected(provider, cache_root) as client:
        answer = client.ask(request.schema(name, connection, full=full))
        if as_json:
            raw.verbatim(answer)
        elif name is None:
            _index(sheet(), answer.parsed(schema_of))
        else:
            _fields(sheet(), answer.parsed(schema_of))


def _index(page: Sheet, found: Schema) -> None:
    rows: list[list[Cell]] = []
    for stream in found.streams:
        for connection_id, count in stream.record_counts.items():
            name = found.connections.get(connection_id, connection_id)
            shown = "" if count is None else f"{count:,}"
            rows.append([Span(stream.name, "title"), shown, name, Span(connection_id, "id")])
    page.table(["stream", "records", "account", "connection"], rows)
    connections = counted(len(found.connections), "connection")
    page.line(Span(f"{counted(len(rows), 'stream')} of {connections}.", "quiet"))
    if rows:
        page.command("fields", next_command("schema", found.streams[0].name))


def _fields(page: Sheet, found: Schema) -> None:
    for stream in found.streams:
        _stream(page, found, stream)
    page.line(Span(str(found.raw.get("field_capability_legend", "")), "quiet"))


def _stream(page: Sheet, found: Schema, stream: SchemaStream) -> None:
    places = [
        f"{found.connections.get(id, id)} ({id}, {'?' if count is None else f'{count:,}'} records)"
        for id, count in stream.record_counts.items()
    ]
    page.line(Span(stream.name, "title"), f" · {stream.connector_key} · {', '.join(places)}")
    rows: list[list[Cell]] = [
        [Span(name, "title"), *_flags(flags)] for name, flags in stream.fields.items()
    ]
    page.table(["field", "type", "role", "may be asked"], rows)
    for what in ("views", "expand"):
        names = [_name(item) for item in stream.raw.get(what, [])]
        if names:
            page.line(f"{what}: {', '.join(names)}")


def _flags(told: Any) -> tuple[str, str, str]:
    """Return the type, the role and what else the flags of a field say."""
    flags = field_flags(told).split(",")
    named = {flag.partition("=")[0]: flag.partition("=")[2] for flag in flags}
    rest = [flag for flag in flags if flag.partition("=")[0] not in ("t", "role")]
    return named.get("t", ""), named.get("role", ""), " ".join(rest)


def _name(item: Any) -> str:
    return str(item.get("id", item.get("name"))) if isinstance(item, Mapping) else str(item)


@click.command(
    epilog=examples(
        "pdpp read streams",
        "pdpp read streams messages --json",
        codes=REMOTE_CODES,
    )
)
@click.argument("stream", required=False)
@choice.together(choice.connection, choice.as_json, choice.as_lines)
@sourced
def streams(
    stream: str | None,
    connection: str | None,
    as_json: bool,
    as_lines: bool,
    provider: str | None,
    cache_root: str | None,
) -> None:
    """List each stream of each account with how many records the grant shows."""
    choice.one_form(as_json=as_json, as_lines=as_lines, every=False)
    name = None if stream is None else stream_of(stream)
    with connected(provider, cache_root) as client:
        answer = client.ask(request.streams(name, connection))
        if as_json:
            raw.verbatim(answer)
            return
        found = answer.parsed(page_of(row_of))
    if as_lines:
        write_lines(iter([found]))
    else:
        _rows(sheet(), found)


def _rows(page: Sheet, found: Page[Stream]) -> None:
    rows: list[list[Cell]] = [
        [
            Span(row.name, "title"),
            f"{row.record_count:,}",
            row.newest_record_at or "",
            row.display_name,
            Span(row.connection_id, "id"),
        ]
        for row in found.items
    ]
    page.table(["stream", "records", "newest", "account", "connection"], rows)
    if found.items:
        page.command("records", next_command("records", found.items[0].name))
