from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.compact import LEGEND, compact_schema, field_flags

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "connectors",
                    "streams",
                    "name",
                    "connection_id",
                    "connection_ids",
                    "connector_key",
                    "record_count",
                    "record_counts",
                    "granted_connections",
                    "fields",
                    "field_capabilities",
                    "expand_capabilities",
                    "views",
                    "expand",
                    "type",
                    "range_filter",
                    "aggregation",
                    "operators",
                    "id",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=8,
        )
    ),
    max_leaves=40,
)
OFFERED = {"declared": True, "usable": True}
FIELDS = {
    "subject": {
        "type": "text",
        "role": "primary-title",
        "exact_filter": OFFERED,
        "lexical_search": OFFERED,
        "semantic_search": OFFERED,
    },
    "size": {
        "type": "integer",
        "exact_filter": OFFERED,
        "range_filter": {**OFFERED, "operators": ["gte", "gt", "lte", "lt"]},
        "sortable": True,
        "aggregation": dict.fromkeys(("sum", "min", "max"), OFFERED),
    },
}


def _row(name: str, connection_id: str, **other: Any) -> dict[str, Any]:
    return {
        "name": name,
        "connection_id": connection_id,
        "label": "Messages",
        "description": "Everything sent and received",
        "record_count": 7,
        "primary_key": ["id"],
        "default_sort": "-sent",
        "fields": FIELDS,
        "views": [{"id": "brief", "label": "Brief", "fields": ["subject"]}],
        "expand": [
            {"name": "files", "stream": "files", "cardinality": "has_many", "max_limit": 20}
        ],
        "search": ["lexical"],
        "count": ["none", "exact"],
        "aggregate_count": True,
        **other,
    }


def _connector(key: str, connections: list[str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "connector_key": key,
        "display_name": key.title(),
        "source": {"kind": "connector", "id": f"https://example.org/{key}"},
        "granted_connections": [
            {"connection_id": name, "display_name": name.title()} for name in connections
        ],
        "streams": rows,
    }


def _body(*connectors: dict[str, Any]) -> dict[str, Any]:
    return {
        "object": "schema",
        "detail": "full",
        "bearer": {"token_kind": "client"},
        "connectors": list(connectors),
    }


MAIL = _connector(
    "mail",
    ["work", "home"],
    [_row("messages", "work"), _row("messages", "home", record_count=0), _row("labels", "work")],
)
CHAT = _connector("chat", ["team"], [_row("messages", "team", label="Chat")])


def test_the_index_names_every_stream_and_count_and_no_field() -> None:
    index = compact_schema(_body(MAIL, CHAT), stream=None)
    mail = index["connectors"][0]
    assert mail["streams"] == [
        {"name": "messages", "record_counts": {"work": 7, "home": 0}},
        {"name": "labels", "label": "Messages", "record_counts": {"work": 7}},
    ]
    assert mail["granted_connections"] == MAIL["granted_connections"]
    assert (index["detail"], index["connector_count"], index["stream_count"]) == ("compact", 2, 4)
    assert index["bearer"] == {"token_kind": "client"}
    assert "field_capability_legend" not in index


def test_one_stream_shows_its_fields_as_flags() -> None:
    compact = compact_schema(_body(MAIL, CHAT), stream="messages")
    mail, chat = compact["connectors"]
    assert mail["streams"] == [
        {
            "name": "messages",
            "label": "Messages",
            "primary_key": ["id"],
            "default_sort": "-sent",
            "field_capabilities": {
                "subject": "t=text,role=primary-title,eq,lex,sem",
                "size": "t=integer,eq,r=gte|gt|lte|lt,sort,a=sum|min|max",
            },
            "views": ["brief"],
            "expand_capabilities": [{"name": "files", "cardinality": "has_many", "max_limit": 20}],
            "search": ["lexical"],
            "count": ["none", "exact"],
            "aggregate_count": True,
            "record_counts": {"work": 7, "home": 0},
        }
    ]
    assert chat["granted_connections"] == [{"connection_id": "team", "display_name": "Team"}]
    assert compact["stream_count"] == 3
    assert compact["field_capability_legend"] == LEGEND


def test_connections_with_different_fields_stay_apart() -> None:
    rows = [_row("messages", "work"), _row("messages", "home", fields={})]
    compact = compact_schema(_body(_connector("mail", ["work", "home"], rows)), stream="messages")
    counts = [row["record_counts"] for row in compact["connectors"][0]["streams"]]
    assert counts == [{"work": 7}, {"home": 7}]


def test_a_stream_that_is_not_there_leaves_nothing() -> None:
    compact = compact_schema(_body(MAIL, CHAT), stream="nothing")
    assert compact["connectors"] == []
    assert compact["stream_count"] == 0


@pytest.mark.parametrize("stream", [None, "messages"])
def test_a_compact_schema_is_its_own_projection(stream: str | None) -> None:
    compact = compact_schema(_body(MAIL, CHAT), stream=stream)
    assert compact_schema(compact, stream=stream) == compact


def test_streams_at_the_top_are_grouped_by_their_connector() -> None:
    rows = [
        {"name": "a", "connector_key": "mail", "connection_id": "w"},
        {"name": "b", "connection_ids": ["x", "y"], "record_count": 3},
    ]
    index = compact_schema({"streams": rows}, stream=None)
    assert [(c.get("connector_key"), c["streams"]) for c in index["connectors"]] == [
        ("mail", [{"name": "a", "record_counts": {"w": None}}]),
        (None, [{"name": "b", "record_counts": {"x": None, "y": None}}]),
    ]


MAIL_ID, CHAT_ID = "https://example.org/mail", "https://example.org/chat"


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        # The same rows at the top and below their connector, told apart by whatever is there.
        ([{"name": "messages", "connection_id": "work"}], {"mail": {"work"}}),
        ([{"name": "messages", "connector_key": "mail"}], {"mail": {"work"}}),
        ([{"name": "messages", "connector_id": MAIL_ID}], {"mail": {"work"}}),
        ([{"name": "messages", "connector_key": MAIL_ID}], {"mail": {"work"}}),
        ([{"name": "messages"}], {"mail": {"work"}}),
        # A row of the same name that another connector has, or another connection.
        (
            [{"name": "messages", "connector_key": "chat", "connection_id": "team"}],
            {"mail": {"work"}, "chat": {"team"}},
        ),
        (
            [{"name": "messages", "connector_id": CHAT_ID, "connection_id": "team"}],
            {"mail": {"work"}, CHAT_ID: {"team"}},
        ),
        (
            [{"name": "messages", "connector_key": "mail", "connection_id": "home"}],
            {"mail": {"work", "home"}},
        ),
        (
            [
                {"name": "messages", "connector_id": MAIL_ID, "connection_id": "work"},
                {"name": "messages", "connector_id": CHAT_ID, "connection_id": "team"},
                {"name": "messages", "connector_id": "urn:x", "connection_id": "own"},
            ],
            {"mail": {"work"}, CHAT_ID: {"team"}, "urn:x": {"own"}},
        ),
        # A stream that its connector does not list.
        (
            [{"name": "labels", "connector_key": "mail", "connection_id": "work"}],
            {"mail": {"work"}},
        ),
    ],
)
def test_a_row_at_the_top_counts_once_and_is_never_lost_to_one_of_its_name(
    top: list[dict[str, Any]], expected: dict[str, set[str]]
) -> None:
    below = {"name": "messages", "primary_key": [], "field_capabilities": {"subject": "declared"}}
    connector = {
        "connector_key": "mail",
        "connector_id": MAIL_ID,
        "source": {"kind": "connector", "id": MAIL_ID},
        "granted_connections": [{"connection_id": "work", "display_name": "Work"}],
        "stream_count": 1,
        "streams": [below],
    }
    index = compact_schema({"connectors": [connector], "streams": top})
    seen = {
        one.get("connector_key") or one["connector_id"]: {
            connection["connection_id"] for connection in one["granted_connections"]
        }
        for one in index["connectors"]
    }
    assert seen == expected
    names = {row["name"] for one in index["connectors"] for row in one["streams"]}
    assert names == {"messages", *(row["name"] for row in top)}
    assert index["stream_count"] == sum(map(len, expected.values())) + ("labels" in names)
    assert compact_schema(index) == index


def test_of_two_times_of_an_event_the_first_alone_has_the_role() -> None:
    shape = {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"}
    fields = {"began": {"schema": shape}, "title": {"type": "text"}, "ended": {"schema": shape}}
    row = {"name": "events", "connection_id": "c", "field_capabilities": fields}
    compact = compact_schema(_body(_connector("calendar", ["c"], [row])), stream="events")
    assert compact["connectors"][0]["streams"][0]["field_capabilities"] == {
        "began": "t=date-time,role=event-time",
        "title": "t=text",
        "ended": "t=date-time",
    }


def test_a_stream_without_a_connection_belongs_to_those_granted() -> None:
    one = _connector("mail", ["work"], [{"name": "a", "record_count": 3}])
    index = compact_schema(_body(one), stream=None)
    assert index["connectors"][0]["streams"] == [{"name": "a", "record_counts": {"work": 3}}]


def test_flags_that_are_absent_are_not_shown() -> None:
    assert field_flags({}) == ""
    assert field_flags(None) == ""
    assert field_flags({"type": "text", "exact": "yes", "range": "gte"}) == "t=text"


@given(st.dictionaries(st.sampled_from(["connectors", "streams", "bearer"]), JSON), JSON)
def test_any_json_has_a_compact_form(body: dict[str, Any], stream: object) -> None:
    name = stream if isinstance(stream, str) else None
    compact = compact_schema(body, stream=name)
    assert compact["object"] == "schema"
    assert compact_schema(compact, stream=name)["connector_count"] == compact["connector_count"]


@pytest.mark.parametrize(("connectors", "connections"), [(40, 1), (20, 2), (8, 5), (1, 40)])
def test_the_index_of_two_hundred_streams_on_forty_connections_is_small(
    connectors: int, connections: int
) -> None:
    body = _body(
        *(
            _connector(
                f"source-{c}",
                [f"cn_{c:02}{n:06}" for n in range(connections)],
                [
                    _row(f"stream_{c:02}_{s:02}", f"cn_{c:02}{n:06}", record_count=123_456)
                    for n in range(connections)
                    for s in range(5)
                ],
            )
            for c in range(connectors)
        )
    )
    index = compact_schema(body, stream=None)
    assert index["stream_count"] == 200
    assert len(orjson.dumps(index)) < 24_000
