"""``pdpp read aggregate``: one number, or one for each group."""

import re
from typing import Any

import click

from pdpp.cli.options import REMOTE_CODES, examples
from pdpp.cli.reading import choice, raw
from pdpp.cli.reading.filters import filters_of
from pdpp.cli.reading.naming import stream_of
from pdpp.cli.reading.provider import connected, sourced
from pdpp.cli.reading.sheet import Cell, Sheet, Span, sheet
from pdpp.client import request
from pdpp.client.envelope import aggregation_of
from pdpp.client.request import AggregateOptions
from pdpp.client.result import Aggregation, Group
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing.escaping import datum

_METRICS = ["count", "sum", "min", "max", "count_distinct"]
_WORDS = re.compile(r"\w[\w .,&'()@+-]*")
_GRAINS = ["minute", "hour", "day", "week", "month", "quarter", "year"]


@click.command(
    epilog=examples(
        "pdpp read aggregate messages",
        "pdpp read aggregate transactions --metric sum --field amount \\",
        "  --group-by category",
        "pdpp read aggregate messages --group-by-time sent_at --granularity month",
        codes=REMOTE_CODES,
    )
)
@click.argument("stream")
@click.option(
    "--metric",
    type=click.Choice(_METRICS),
    default="count",
    metavar="METRIC",
    help=f"What to compute: {', '.join(_METRICS)}.",
)
@click.option("--field", metavar="NAME", help="The field it is of; all but count need one.")
@click.option("--group-by", metavar="NAME", help="One number for each value of this field.")
@click.option("--group-by-time", metavar="NAME", help="One for each stretch of this field's time.")
@click.option(
    "--granularity",
    type=click.Choice(_GRAINS),
    metavar="LENGTH",
    help=f"How long a stretch is: {', '.join(_GRAINS)}.",
)
@click.option("--time-zone", metavar="ZONE", help="Whose days they are, such as Europe/Lisbon.")
@choice.together(choice.connection, choice.filters, choice.limit, choice.as_json)
@sourced
def aggregate(
    stream: str,
    metric: str,
    field: str | None,
    group_by: str | None,
    group_by_time: str | None,
    granularity: str | None,
    time_zone: str | None,
    connection: str | None,
    filters: tuple[str, ...],
    limit: int | None,
    as_json: bool,
    provider: str | None,
    cache_root: str | None,
) -> None:
    """Count or add up the records of STREAM, all together or by group."""
    options: AggregateOptions = {
        "field": field,
        "group_by": group_by,
        "group_by_time": group_by_time,
        "granularity": granularity,
        "time_zone": time_zone,
        "filter": filters_of(filters),
        "limit": limit,
        "connection_id": connection,
    }
    with connected(provider, cache_root) as client:
        answer = client.ask(request.aggregate(stream_of(stream), metric, options))
        if as_json:
            raw.verbatim(answer)
        else:
            _show(sheet(), answer.parsed(aggregation_of))


def _show(page: Sheet, found: Aggregation) -> None:
    of = f" of {found.raw['field']}" if found.raw.get("field") else ""
    head = f"{found.metric}{of} of {found.raw.get('stream')}"
    records = f"{found.filtered_record_count:,} records"
    if "groups" not in found.raw:
        page.line(Span(head), ": ", Span(field_text(found.value), "title"), f" · {records}")
    else:
        _groups(page, found, head, records)
    for notice in found.warnings:
        page.line(f"note: {notice.message}")


def _groups(page: Sheet, found: Aggregation, head: str, records: str) -> None:
    by_time = found.raw.get("group_by_time")
    zone = found.raw.get("time_zone") or "UTC"
    grain = f"{found.raw.get('granularity')} of {by_time} ({zone})"
    page.line(f"{head} by {grain if by_time else found.raw.get('group_by')}")
    valued = any(group.value is not None for group in found.groups)
    headings = ["group", "records", *([found.metric] if valued else [])]
    page.table(headings, [_row(group, valued=valued) for group in found.groups])
    page.line(Span(f"other_count {found.other_count:,} · {records}", "quiet"))


def _name(key: str) -> str:
    """Return what a group is called: quoted where it could pass for a line of ours."""
    return key if _WORDS.fullmatch(key) else datum(key)


def _row(group: Group, *, valued: bool) -> list[Cell]:
    name = "(none)" if group.key is None else _name(field_text(group.key))
    value: list[Any] = [field_text(group.value)] if valued else []
    return [Span(name, "title"), f"{group.count:,}", *value]
