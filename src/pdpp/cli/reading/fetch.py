"""``pdpp read fetch``: one whole record."""

from typing import Any

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.reading import raw, read_options
from pdpp.cli.reading.hint import next_command, spelled_id
from pdpp.cli.reading.mark import pieces_of
from pdpp.cli.reading.naming import Parts
from pdpp.cli.reading.naming import record_of as named_record
from pdpp.cli.reading.printer import Printer, StyledText, make_printer
from pdpp.cli.reading.provider import connected, sourced
from pdpp.cli.reading.value import binary_words, facts_in, title_of
from pdpp.client import request
from pdpp.client.client import Client
from pdpp.client.envelope import record_of
from pdpp.client.request import OneOptions
from pdpp.client.result import ExpandedRecords, Record
from pdpp.evidence.amount import counted
from pdpp.evidence.binary import describe
from pdpp.evidence.budget import cut
from pdpp.evidence.fence import quote
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing.record import DOCUMENT_CHARS
from pdpp.model.declaration import Kind

_ONE_LINE = 200


@click.command(
    epilog=examples(
        "pdpp read fetch cin_home/messages:m-1",
        "pdpp read fetch messages:m-1 --connection cin_home --fields subject,body",
        "pdpp read fetch --connection cin_shop --stream orders --record o-7 \\",
        "  --expand items",
        codes=REMOTE_CODES,
    )
)
@click.argument("id", required=False)
@read_options.together(
    read_options.connection,
    read_options.stream,
    read_options.record,
    read_options.fields,
    read_options.view,
)
@read_options.together(read_options.expand, read_options.expand_limit, read_options.as_json)
@sourced
def fetch(
    id: str | None,
    connection: str | None,
    stream: str | None,
    record: str | None,
    fields: tuple[str, ...],
    view: str | None,
    expand: tuple[str, ...],
    expand_limit: tuple[str, ...],
    as_json: bool,
    provider: str | None,
    cache_root: str | None,
) -> None:
    """Show the whole record ID.

    ID is connection/stream:record, stream:record with --connection, or a pdpp:// URI.
    """
    handle = named_record(id, Parts(connection, stream, record))
    options: OneOptions = {
        "fields": read_options.names_of(fields),
        "view": view,
        "expand": read_options.names_of(expand),
        "expand_limit": read_options.limits_of(expand_limit),
    }
    with connected(provider, cache_root) as client:
        answer = client.ask(request.record(handle, options))
        if as_json:
            raw.verbatim(answer)
        else:
            _show(client, make_printer(), answer.parsed(record_of))


def _show(client: Client, page: Printer, record: Record) -> None:
    facts = facts_in(client, record.stream, record.connection_id)
    id = spelled_id(record.id)
    page.line(StyledText(quote(title_of(record, facts)), "title"))
    origin = (
        record.connector_key,
        record.display_name,
        record.stream,
        None if record.emitted_at is None else f"emitted {record.emitted_at}",
        None if record.version is None else f"version {record.version}",
    )
    page.line(StyledText(id, "id"), *(f" · {part}" for part in origin if part is not None))
    for name, value in record.data.items():
        _field(page, id, name, value, facts.kinds.get(name))
    for name, related in record.related.items():
        _related(page, name, related)


def _field(page: Printer, id: str, name: str, value: Any, kind: Kind | None) -> None:
    label, binary = StyledText(f"{name}: ", "quiet"), describe(value, kind)
    if binary is not None:
        page.line(label, binary_words(binary))
        if binary.blob_id is not None:
            page.command("save", next_command("blob", binary.blob_id, output="FILE"), 2)
        return
    text = field_text(value)
    if len(text) <= _ONE_LINE and "\n" not in text:
        page.line(label, quote(text) if isinstance(value, str) else text, hang=2)
        return
    served, was_cut = cut(text, DOCUMENT_CHARS)
    served_text = f"{len(served):,} of " if was_cut else ""
    page.line(label, f"{served_text}{len(text):,} chars")
    page.passage(pieces_of(served, 0, ()))
    if was_cut:
        page.command("read on", next_command("window", id, name, offset=len(served)))


def _related(page: Printer, name: str, related: ExpandedRecords) -> None:
    more = ", more exist" if related.has_more else ""
    amount = counted(len(related.records), "record") if related.records else "none"
    page.line(StyledText(f"{name}: ", "quiet"), f"{amount}{more}")
    for record in related.records:
        page.command("whole record", next_command("fetch", spelled_id(record.id)), 2)
