"""``pdpp read aggregate``: one number, or one for each group."""

import re
from typing import Any

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.reading import raw, read_options
from pdpp.cli.reading.filters import filters_of
from pdpp.cli.reading.naming import stream_of
from pdpp.cli.reading.printer import Cell, Printer, StyledText, make_printer
from pdpp.cli.reading.provider import connected, sourced
from pdpp.client import request
from pdpp.client.envelope import aggregation_of
from pdpp.client.request import AggregateOptions
from pdpp.client.result import Aggregation, Group
from pdpp.evidence.amount import counted
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
@click.option(
    "--field",
    metavar="NAME",
    help="The field to compute it from; every metric but count needs one.",
)
@click.option("--group-by", metavar="NAME", help="One number for each value of this field.")
@click.option(
    "--group-by-time", metavar="NAME", help="One number for each period of this time field."
)
@click.option(
    "--granularity",
    type=click.Choice(_GRAINS),
    metavar="LENGTH",
    help=f"Length of a period: {', '.join(_GRAINS)}.",
)
@click.option(
    "--time-zone", metavar="ZONE", help="Time zone of the periods, such as Europe/Lisbon."
)
@read_options.together(
    read_options.connection, read_options.filters, read_options.limit, read_options.as_json
)
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
        name = stream_of(stream)
        answer = client.ask(request.aggregate(name, metric, options))
        if as_json:
            raw.verbatim(answer)
        else:
            _show(make_printer(), answer.parsed(aggregation_of), name)


def _show(page: Printer, aggregation: Aggregation, stream: str) -> None:
    parts = (aggregation.metric, aggregation.field, aggregation.stream or stream)
    head = " of ".join(part for part in parts if part)
    number = aggregation.filtered_record_count
    records = "" if number is None else f" · {counted(number, 'record')}"
    if not aggregation.grouped:
        page.line(
            StyledText(head),
            ": ",
            StyledText(field_text(aggregation.value), "title"),
            records,
        )
    else:
        _groups(page, aggregation, head, records)
    for notice in aggregation.warnings:
        page.line(f"note: {notice.message}")


def _groups(page: Printer, aggregation: Aggregation, head: str, records: str) -> None:
    page.line(f"{head}{_grouping(aggregation)}")
    valued = any(group.value is not None for group in aggregation.groups)
    headings = ["group", "records", *([aggregation.metric] if valued else [])]
    page.table(headings, [_row(group, valued=valued) for group in aggregation.groups])
    page.line(StyledText(f"other_count {aggregation.other_count:,}{records}", "quiet"))


def _grouping(aggregation: Aggregation) -> str:
    """Return the fields of the grouping, as far as the server names them."""
    if aggregation.group_by_time is None:
        return f" by {aggregation.group_by}" if aggregation.group_by else ""
    grain = f"{aggregation.granularity} of " if aggregation.granularity else ""
    return f" by {grain}{aggregation.group_by_time} ({aggregation.time_zone or 'UTC'})"


def _name(key: str) -> str:
    """Return what a group is called: quoted where it could pass for a line of ours."""
    return key if _WORDS.fullmatch(key) else datum(key)


def _row(group: Group, *, valued: bool) -> list[Cell]:
    name = "(none)" if group.key is None else _name(field_text(group.key))
    value: list[Any] = [field_text(group.value)] if valued else []
    return [StyledText(name, "title"), f"{group.count:,}", *value]
