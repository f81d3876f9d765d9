"""``pdpp read schema`` and ``pdpp read streams``: what there is to read."""

from collections.abc import Sequence

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.reading import raw, read_options
from pdpp.cli.reading.hint import next_command
from pdpp.cli.reading.naming import stream_of
from pdpp.cli.reading.printer import Cell, Printer, StyledText, make_printer
from pdpp.cli.reading.provider import connected, sourced
from pdpp.client import request
from pdpp.client.result import Schema, SchemaStream, Stream
from pdpp.evidence.amount import counted


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
@read_options.together(read_options.connection, read_options.as_json)
@sourced
def schema(
    stream: str | None,
    full: bool,
    connection: str | None,
    as_json: bool,
    provider: str | None,
    cache_root: str | None,
) -> None:
    """Show what the grant opens; with STREAM, its fields and what you can ask of each."""
    name = None if stream is None else stream_of(stream)
    with connected(provider, cache_root) as client:
        if as_json:
            raw.verbatim(client.ask_schema(name, connection, full=full))
        elif name is None:
            _index(make_printer(), client.schema(connection_id=connection, full=full))
        else:
            _fields(make_printer(), client.schema(name, connection_id=connection, full=full))


def _index(page: Printer, schema: Schema) -> None:
    rows: list[list[Cell]] = []
    for stream in schema.streams:
        for connection_id, count in stream.record_counts.items():
            name = schema.connections.get(connection_id, connection_id)
            count_text = "" if count is None else f"{count:,}"
            rows.append(
                [
                    StyledText(stream.name, "title"),
                    count_text,
                    name,
                    StyledText(connection_id, "id"),
                ]
            )
    page.table(["stream", "records", "account", "connection"], rows)
    connections = counted(len(schema.connections), "connection")
    page.line(StyledText(f"{counted(len(rows), 'stream')} of {connections}.", "quiet"))
    if rows:
        page.command("fields", next_command("schema", schema.streams[0].name))


def _fields(page: Printer, schema: Schema) -> None:
    for stream in schema.streams:
        _stream(page, schema, stream)
    if schema.legend:
        page.line(StyledText(schema.legend, "quiet"))


def _amount(count: int | None) -> str:
    return "" if count is None else f", {counted(count, 'record')}"


def _stream(page: Printer, schema: Schema, stream: SchemaStream) -> None:
    source = [] if stream.connector_key is None else [stream.connector_key]
    places = [
        f"{schema.connections.get(id, id)} ({id}{_amount(count)})"
        for id, count in stream.record_counts.items()
    ]
    page.line(StyledText(stream.name, "title"), f" · {' · '.join([*source, ', '.join(places)])}")
    rows: list[list[Cell]] = [
        [StyledText(name, "title"), *_flags(flags)] for name, flags in stream.flags.items()
    ]
    page.table(["field", "type", "role", "may be asked"], rows)
    for what, names in (("views", stream.views), ("expand", stream.relations)):
        if names:
            page.line(f"{what}: {', '.join(names)}")


def _flags(declared: str) -> tuple[str, str, str]:
    """Return the type, the role and what else the flags of a field say."""
    flags = declared.split(",")
    named = {flag.partition("=")[0]: flag.partition("=")[2] for flag in flags}
    rest = [flag for flag in flags if flag.partition("=")[0] not in ("t", "role")]
    return named.get("t", ""), named.get("role", ""), " ".join(rest)


@click.command(
    epilog=examples(
        "pdpp read streams",
        "pdpp read streams messages --json",
        codes=REMOTE_CODES,
    )
)
@click.argument("stream", required=False)
@read_options.together(read_options.connection, read_options.as_json, read_options.as_lines)
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
    read_options.one_form(as_json=as_json, as_lines=as_lines, every=False)
    name = None if stream is None else stream_of(stream)
    with connected(provider, cache_root) as client:
        if as_json:
            raw.verbatim(client.ask(request.streams(name, connection)))
            return
        rows = client.streams(name, connection_id=connection)
    if as_lines:
        for row in rows:
            raw.one_line(row.raw)
    else:
        _rows(make_printer(), rows)


def _rows(page: Printer, listed: Sequence[Stream]) -> None:
    rows: list[list[Cell]] = [
        [
            StyledText(row.name, "title"),
            "" if row.record_count is None else f"{row.record_count:,}",
            row.newest_record_at or "",
            row.display_name,
            StyledText(row.connection_id, "id"),
        ]
        for row in listed
    ]
    page.table(["stream", "records", "newest", "account", "connection"], rows)
    if listed:
        page.command("records", next_command("records", listed[0].name))
