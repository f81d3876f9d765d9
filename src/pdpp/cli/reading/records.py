"""``pdpp read records``: pages of records, or of what changed."""

from typing import Any

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.reading import raw, read_options
from pdpp.cli.reading.filters import filters_of
from pdpp.cli.reading.hint import next_command, spelled_id
from pdpp.cli.reading.naming import stream_of, usage
from pdpp.cli.reading.paging import MOST_A_PAGE, pages_of, write_end, write_items, write_lines
from pdpp.cli.reading.printer import Printer, StyledText, make_printer
from pdpp.cli.reading.provider import connected, sourced
from pdpp.cli.reading.value import facts_in, fields_of, title_of
from pdpp.client.client import Client
from pdpp.client.envelope import page_of, record_of
from pdpp.client.listing import Listing
from pdpp.client.request import ReadRequest
from pdpp.client.request import records as asked_records
from pdpp.client.result import ExpandedRecords, Page, Record
from pdpp.evidence.amount import counted
from pdpp.evidence.fence import quote

_FEW = 10
_INDENT = 3


@click.command(
    epilog=examples(
        "pdpp read records messages --limit 5",
        "pdpp read records messages --filter 'sent_at>=2026-01-01' --fields subject",
        "pdpp read records orders --sort=-total --expand items --connection cin_shop",
        "pdpp read records messages --connection cin_home \\",
        "  --changes-since beginning --all --jsonl",
        codes=REMOTE_CODES,
    )
)
@click.argument("stream")
@click.option("--sort", metavar="FIELD", help="By this field; -FIELD for the largest first.")
@click.option("--order", type=click.Choice(["asc", "desc"]), help="The direction of the sort.")
@click.option(
    "--count", type=click.Choice(["none", "estimated", "exact"]), help="Count all that match."
)
@click.option(
    "--changes-since",
    metavar="BOOKMARK",
    help="Only what changed since this bookmark; beginning reads all.",
)
@read_options.together(
    read_options.connection, read_options.filters, read_options.fields, read_options.view
)
@read_options.together(
    read_options.expand, read_options.expand_limit, read_options.limit, read_options.cursor
)
@read_options.together(read_options.every, read_options.as_json, read_options.as_lines)
@sourced
def records(
    stream: str,
    every: bool,
    as_json: bool,
    as_lines: bool,
    provider: str | None,
    cache_root: str | None,
    **chosen: Any,
) -> None:
    """Show records of STREAM, newest first unless asked otherwise."""
    read_options.one_form(as_json=as_json, as_lines=as_lines, every=every)
    asked = _request(stream_of(stream), every, chosen)
    with connected(provider, cache_root) as client:
        if as_json:
            raw.verbatim(client.ask(asked))
            return
        listing = Listing(lambda one: client.ask(one).parsed(page_of(record_of)), asked)
        pages = pages_of(listing, every=every, total=lambda: _count(client, asked))
        if as_lines:
            write_lines(pages)
        else:
            _show(client, make_printer(), pages, asked)


def _request(stream: str, every: bool, chosen: dict[str, Any]) -> ReadRequest:
    """Return the read that the options ask for."""
    if chosen["fields"] and chosen["view"]:
        raise usage("Choose --fields or --view")
    limit = chosen["limit"] or (MOST_A_PAGE if every else _FEW)
    asked = asked_records(
        stream,
        {
            "connection_id": chosen["connection"],
            "filter": filters_of(chosen["filters"]),
            "fields": read_options.names_of(chosen["fields"]),
            "expand": read_options.names_of(chosen["expand"]),
            "expand_limit": read_options.limits_of(chosen["expand_limit"]),
            "limit": limit,
            "view": chosen["view"],
            "sort": chosen["sort"],
            "order": chosen["order"],
            "cursor": chosen["cursor"],
            "count": chosen["count"],
        },
    )
    since = chosen["changes_since"]
    return asked if since is None else asked.with_params(changes_since=since)


def _count(client: Client, asked: ReadRequest) -> int | None:
    """Return how many records there are in all, where that can be asked."""
    if "changes_since" in asked.params:
        return None
    counted = asked.with_params(limit=1, count="exact")
    return client.ask(counted).parsed(page_of(record_of)).count


def _show(client: Client, page: Printer, pages: Any, asked: ReadRequest) -> None:
    facts = facts_in(client, asked.path[1], asked.params.get("connection_id"))

    def record_lines(page: Printer, number: int, record: Record) -> None:
        id = StyledText(spelled_id(record.id), "id")
        if record.deleted:
            page.line(f"{number}. ", id, f" · deleted at {record.deleted_at}")
            return
        title = StyledText(quote(title_of(record, facts)), "title")
        page.line(f"{number}. ", id, " · ", title)
        for name, text in fields_of(record, facts).items():
            page.line(StyledText(f"{name}: ", "quiet"), text, indent=_INDENT, hang=2)
        for name, related in record.related.items():
            page.line(StyledText(f"{name}: ", "quiet"), _related(related), indent=_INDENT)

    count, last = write_items(page, pages, record_lines)
    write_end(page, last, _total(count, last, asked.path[1]))
    if last.items:
        page.command("whole record", next_command("fetch", spelled_id(last.items[-1].id)))


def _related(related: ExpandedRecords) -> str:
    if not related.records:
        return "none"
    if not related.is_list:
        return f"record {related.records[0].key}"
    more = ", more exist" if related.has_more else ""
    return f"{counted(len(related.records), 'record')}{more}; see them with fetch"


def _total(count: int, page: Page[Record], stream: str) -> str:
    ended = "" if page.has_more else " End of list."
    if page.count is None:
        return f"{counted(count, 'record')} of {stream}.{ended}"
    return f"{count:,} of {counted(page.count, 'record')} of {stream}.{ended}"
