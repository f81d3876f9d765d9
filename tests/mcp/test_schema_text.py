from typing import Any

import pytest

from pdpp.mcp.drawing.result import fits
from pdpp.mcp.drawing.schema_text import schema_text
from pdpp.mcp.drawing.structured import schema_structured
from pdpp.mcp.drawing.text import aggregate_text
from pdpp.mcp.drawing.view import AggregateView, SchemaView
from pdpp.mcp.reading.aggregation import read_aggregation
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.schema_answer import read_compact


def index(*connections: str) -> str:
    """Return the index of one stream in these connections of one source."""
    counts = dict.fromkeys(connections, 1)
    connector: dict[str, Any] = {
        "connector_key": "gmail",
        "granted_connections": [{"connection_id": id} for id in connections],
        "streams": [{"name": "messages", "record_counts": counts}],
    }
    body = {"connectors": [connector], "stream_count": len(connections)}
    return schema_text(SchemaView(read_compact(body), None, ()))


def test_an_index_of_one_thing_counts_in_the_singular() -> None:
    assert index("a").splitlines()[0] == "1 connector, 1 connection, 1 stream."
    assert index("a", "b").splitlines()[0] == "1 connector, 2 connections, 2 streams."


@pytest.mark.parametrize(("count", "told"), [(1, "· 1 record"), (2, "· 2 records"), (None, ": 1")])
def test_an_aggregate_tells_of_how_many_records_it_is(count: int | None, told: str) -> None:
    body = {"metric": "count", "stream": "messages", "value": 1, "filtered_record_count": count}
    assert aggregate_text(AggregateView(read_aggregation(body, {}))).endswith(told)


def test_hundreds_of_sources_that_gave_nothing_leave_room_for_the_others() -> None:
    gone = [ConnectionChoice(f"cin_{number:036}", code="timed_out") for number in range(600)]
    view = SchemaView(read_compact({"connectors": []}), None, [], gone)
    text, shaped = schema_text(view), schema_structured(view)
    assert "unavailable: 560 more" in text
    told: Any = shaped["data"]
    assert (len(told["unavailable_connections"]), told["unavailable_count"]) == (40, 600)
    assert fits(text, shaped, 6_000, 6_000)
