"""One of every answer of ours against the shapes that the reference's own programs need.

The shapes are written from what its server sends and its adapter and program read; they share
nothing with our serialiser or our OpenAPI document.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from tests.serving import grant, living, seeded_store

Shape = dict[str, Any]
TEXT: Shape = {"type": "string", "minLength": 1}
WHOLE: Shape = {"type": "integer", "minimum": 0}
FLAG: Shape = {"type": "boolean"}


def needs(**members: Shape) -> Shape:
    """Return the shape of an object with these members, and whatever else."""
    return {"type": "object", "required": list(members), "properties": members}


def several(item: Shape) -> Shape:
    """Return the shape of a list that is not empty."""
    return {"type": "array", "items": item, "minItems": 1}


def const(value: str) -> Shape:
    """Return the shape of one text."""
    return {"const": value}


BEARER = needs(scope=TEXT, token_kind={"enum": ["client", "owner"]}, grant_id=TEXT, client_id=TEXT)
CONNECTION = needs(connection_id=TEXT, display_name=TEXT)
OFFER = needs(declared=FLAG, usable=FLAG)
FLAGS: Shape = {"type": "string", "pattern": r"^(declared|t=[a-z-]+(,[a-z_=|-]+)*)$"}
FIELD = needs(
    granted=FLAG,
    schema={"type": "object"},
    exact_filter=OFFER,
    range_filter=OFFER,
    lexical_search=OFFER,
    semantic_search=OFFER,
    aggregation={"type": "object", "additionalProperties": OFFER},
)


def schema_of(stream: Shape, **more: Shape) -> Shape:
    """Return the shape of a schema with streams of a shape."""
    connector = needs(
        connector_key=TEXT,
        connector_id={"type": "string", "format": "uri"},
        granted_connections=several(CONNECTION),
        stream_count=WHOLE,
        streams=several(stream),
    )
    return needs(
        object=const("schema"),
        bearer=BEARER,
        connectors=several(connector),
        connector_count=WHOLE,
        stream_count=WHOLE,
        **more,
    )


def stream_of(field: Shape) -> Shape:
    """Return the shape of a stream with fields of a shape."""
    return needs(
        name=TEXT,
        primary_key=several(TEXT),
        field_capabilities={
            "type": "object",
            "additionalProperties": field,
            "minProperties": 1,
        },
        expand_capabilities={"type": "array", "items": needs(name=TEXT, max_limit=WHOLE)},
    )


def list_of(item: Shape, **more: Shape) -> Shape:
    """Return the shape of a page."""
    return needs(
        object=const("list"), url=TEXT, data=several(item), has_more=FLAG, links={}, meta={}, **more
    )


RECORD = needs(
    object=const("record"),
    id=TEXT,
    stream=TEXT,
    connection_id=TEXT,
    display_name=TEXT,
    emitted_at=TEXT,
    data={"type": "object"},
)
READ = needs(method=const("GET"), route=TEXT, stream=TEXT, record_id=TEXT, connection_id=TEXT)
EXCERPT = needs(
    field_path=TEXT, preview_text=TEXT, provenance=TEXT, truncated=FLAG, read=READ, object=TEXT
)
HIT = needs(
    object=const("search_result"),
    record_key=TEXT,
    stream=TEXT,
    connection_id=TEXT,
    display_name=TEXT,
    emitted_at=TEXT,
    matched_fields=several(TEXT),
    record_url=TEXT,
    score=needs(kind=TEXT, order=TEXT, value={"type": "number"}),
    evidence_excerpts={"type": "array", "items": EXCERPT},
)
WINDOW = needs(
    text=TEXT,
    start_chars=WHOLE,
    end_chars=WHOLE,
    total_chars=WHOLE,
    limit_chars=WHOLE,
    complete=FLAG,
    has_more=FLAG,
)
ERROR = needs(code=TEXT, message=TEXT, type=TEXT, request_id=TEXT)
CHOICES = needs(
    code=const("ambiguous_connection"),
    retry_with=const("connection_id"),
    available_connections=several(CONNECTION),
)
HOME = "connection_id=cin_home"
ONE = "/v1/streams/messages/records/m-invoice-4471"

ANSWERS: dict[str, tuple[str, int, Shape]] = {
    "compact index": (
        "/v1/schema?view=compact",
        200,
        schema_of(needs(name=TEXT), detail=const("compact")),
    ),
    "compact stream": (
        "/v1/schema?view=compact&stream=messages",
        200,
        schema_of(stream_of(FLAGS), detail=const("compact")),
    ),
    "stream without a view": (
        "/v1/schema?stream=messages",
        200,
        schema_of(stream_of(FIELD)),
    ),
    "full stream": (
        f"/v1/schema?stream=messages&{HOME}&detail=full",
        200,
        schema_of(stream_of(FIELD)),
    ),
    "streams": (
        "/v1/streams",
        200,
        list_of(needs(name=TEXT, record_count=WHOLE, connection_id=TEXT, display_name=TEXT)),
    ),
    "records": (f"/v1/streams/messages/records?{HOME}&limit=2", 200, list_of(RECORD)),
    "page that goes on": (
        f"/v1/streams/messages/records?{HOME}&limit=2",
        200,
        needs(next_cursor=TEXT, links=needs(next=TEXT)),
    ),
    "one record": (f"{ONE}?{HOME}", 200, RECORD),
    "changes": (
        "/v1/streams/accounts/records?connection_id=cin_bank&changes_since=beginning",
        200,
        list_of(RECORD, next_changes_since=TEXT),
    ),
    "search": ("/v1/search?q=invoice", 200, list_of(HIT)),
    "window": (
        f"{ONE}/field-window?field=body&{HOME}",
        200,
        needs(
            object=const("field_window"),
            stream=TEXT,
            record_id=TEXT,
            field=needs(path=TEXT, type=TEXT),
            window=WINDOW,
        ),
    ),
    "window around words": (
        f"{ONE}/field-window?field=body&q=invoice&{HOME}",
        200,
        needs(window=needs(text=TEXT, match_start_chars=WHOLE, match_end_chars=WHOLE)),
    ),
    "number": (
        "/v1/streams/messages/aggregate?metric=count",
        200,
        needs(
            object=const("aggregation"),
            stream=TEXT,
            metric=TEXT,
            value={"type": "number"},
            filtered_record_count=WHOLE,
        ),
    ),
    "groups": (
        "/v1/streams/transactions/aggregate?metric=count&group_by=category",
        200,
        needs(groups=several(needs(key=TEXT, count=WHOLE)), limit=WHOLE, other_count=WHOLE),
    ),
    "no such stream": ("/v1/streams/nope/records", 403, needs(error=ERROR)),
    "no such record": (f"/v1/streams/messages/records/nope?{HOME}", 404, needs(error=ERROR)),
    "no such parameter": ("/v1/streams?colour=red", 400, needs(error={**ERROR})),
    "ambiguity": (
        "/v1/streams/messages/records?changes_since=beginning",
        409,
        needs(error={"allOf": [ERROR, CHOICES]}),
    ),
    "metadata": (
        "/.well-known/oauth-protected-resource",
        200,
        needs(resource=TEXT, authorization_servers=several(TEXT), pdpp_core_query_base=TEXT),
    ),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("reference-shapes")
    with living(seeded_store(folder / "store")) as world:
        yield world.server.client(grant(world.store))


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_has_what_the_references_programs_need(client: httpx.Client, name: str) -> None:
    address, status, shape = ANSWERS[name]
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    jsonschema_rs.validate(shape, answer.json())


def test_a_dead_token_is_told_in_the_same_envelope(client: httpx.Client) -> None:
    answer = client.get("/v1/streams", headers={"Authorization": "Bearer dead"})
    assert answer.status_code == 401
    jsonschema_rs.validate(
        needs(error={"allOf": [ERROR, needs(resource_metadata=TEXT)]}), answer.json()
    )


def test_changes_go_on_with_the_cursor_alone(client: httpx.Client) -> None:
    first = client.get(f"/v1/streams/messages/records?{HOME}&limit=5&changes_since=beginning")
    following = client.get(
        "/v1/streams/messages/records", params={"cursor": first.json()["next_cursor"]}
    )
    jsonschema_rs.validate(list_of(RECORD), following.json())
    ids = [[row["id"] for row in page.json()["data"]] for page in (first, following)]
    assert [len(page) for page in ids] == [5, 25]
    assert not set(ids[0]) & set(ids[1])
