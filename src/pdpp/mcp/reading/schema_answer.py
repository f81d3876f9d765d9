"""Schema answers: what may be read, from whichever form a server tells it in."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.evidence.compact import compact_schema, expands_of, fields_of, objects
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts, facts_of
from pdpp.mcp.reading.stream_name import StreamName

Json = Mapping[str, Any]


class Relation(NamedTuple):
    """A relation that can be expanded."""

    name: str
    cardinality: str | None
    max_limit: int | None


class StreamRow(NamedTuple):
    """One stream of a schema; what a server did not tell is None or empty."""

    name: str
    label: str | None
    counts: Mapping[str, int | None]
    """How many records each connection has of it, None where that is not told."""

    fields: Mapping[str, str | Json]
    """Flags, or in a full schema everything that is told of a field."""

    primary_key: Sequence[str]
    default_sort: str | None
    relations: Sequence[Relation]
    views: Sequence[str]
    search: Sequence[str]
    count_kinds: Sequence[str]
    aggregate_count: bool | None
    envelope: Json
    """The members around the fields, as they were sent."""


class ConnectorRow(NamedTuple):
    """One connector with its connections by id; a connection may have no name."""

    key: str
    connections: Mapping[str, str | None]
    streams: Sequence[StreamRow]
    streams_left_out: int
    envelope: Json
    """The members around the streams, as they were sent."""

    @property
    def stream_names(self) -> list[str]:
        """Return the name of each stream once."""
        return sorted({row.name for row in self.streams})


class SchemaAnswer(NamedTuple):
    """A schema as the server sent it (``raw``), and what is read out of it."""

    raw: Json
    connectors: Sequence[ConnectorRow]
    stream_count: int
    note: str | None = None

    @property
    def streams(self) -> list[StreamRow]:
        """Return the streams of all connectors."""
        return [row for connector in self.connectors for row in connector.streams]

    def connections(self) -> list[ConnectionChoice]:
        """Return the connections that have these streams, as far as the server names them."""
        compact = compact_schema(self.raw, stream=self.streams[0].name) if self.streams else {}
        return [
            ConnectionChoice(id, connector.key or None, name)
            for connector in map(_connector, objects(compact.get("connectors")))
            for id, name in connector.connections.items()
        ]

    def names(self) -> list[StreamName]:
        """Return what the streams are called."""
        return [
            StreamName(connector.key, row.name, row.label or "")
            for connector in self.connectors
            for row in connector.streams
        ]

    def facts(self) -> FieldFacts:
        """Return the roles and kinds of the fields of the first stream."""
        for row in self.streams:
            return facts_of({k: v for k, v in row.fields.items() if isinstance(v, str)})
        return NO_FACTS


def is_compact(body: Json) -> bool:
    """Tell whether a server answered with a compact schema of its own."""
    return body.get("detail") == "compact" and isinstance(body.get("connectors"), list)


def read_compact(
    body: Json, stream: str | None = None, connection_id: str | None = None
) -> SchemaAnswer:
    """Read a schema; a compact one stays as it is, of a full one the compact form is made."""
    compact = compact_schema(body, stream=stream, connection_id=connection_id)
    raw = body if is_compact(body) else compact
    return _answer(raw, compact, compact["connectors"])


def read_full(body: Json, stream: str, connection_id: str | None) -> SchemaAnswer:
    """Read the full schema of one stream as far as it has the shape of one.

    Loose streams get a connector. What a server sends beyond what was asked for is left out, and
    so are rows at the top that stand below a connector too.
    """
    scoped = _scoped(body, stream, connection_id)
    connectors = objects(scoped.get("connectors")) or [{"streams": scoped.get("streams")}]
    counted = compact_schema(scoped, stream=stream, connection_id=connection_id)
    return _answer(scoped, counted, connectors)


def _scoped(body: Json, stream: str, connection_id: str | None) -> Json:
    """Return a full schema without the rows of other streams and connections."""
    listed = body.get("connectors")
    connectors = _objects(listed)
    if not any(isinstance(connector.get("streams"), list) for connector in connectors):
        rows = _rows_of(body.get("streams"), stream, connection_id)
        return {**body, "streams": rows} if "streams" in body else body
    kept = [_scoped_connector(connector, stream, connection_id) for connector in connectors]
    scoped = {name: value for name, value in body.items() if name != "streams"}
    scoped["connectors"] = [connector for connector in kept if connector["streams"]]
    if scoped["connectors"] != listed:
        rows_left = sum(len(connector["streams"]) for connector in scoped["connectors"])
        counts = {"connector_count": len(scoped["connectors"]), "stream_count": rows_left}
        scoped |= {name: count for name, count in counts.items() if name in scoped}
    return scoped


def _scoped_connector(connector: Json, stream: str, connection_id: str | None) -> dict[str, Any]:
    rows = _rows_of(connector.get("streams"), stream, connection_id)
    scoped = {**connector, "streams": rows}
    granted = connector.get("granted_connections")
    own = [one for one in _objects(granted) if one.get("connection_id") == connection_id]
    if own:
        scoped["granted_connections"] = own
    if rows != connector.get("streams") and "stream_count" in connector:
        scoped["stream_count"] = len(rows)
    return scoped


def _rows_of(listed: object, stream: str, connection_id: str | None) -> list[Json]:
    """Return the rows of one stream; one that names another connection is not asked for."""
    return [
        row
        for row in _objects(listed)
        if row.get("name") == stream
        and (connection_id is None or _text(row.get("connection_id")) in (None, connection_id))
    ]


def _objects(listed: object) -> list[Json]:
    items = listed if isinstance(listed, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def shortened(answer: SchemaAnswer, connectors: Sequence[Json], note: str) -> SchemaAnswer:
    """Return a schema with less in it, and what is said of that."""
    raw = {**answer.raw, "connectors": list(connectors), "note": note}
    return _answer(raw, raw, connectors)._replace(stream_count=answer.stream_count, note=note)


def _answer(raw: Json, counted: Json, connectors: Sequence[Json]) -> SchemaAnswer:
    rows = [_connector(connector) for connector in connectors]
    count = raw.get("stream_count")
    total = count if isinstance(count, int) else counted.get("stream_count", 0)
    return SchemaAnswer(raw, rows, total)


def _connector(connector: Json) -> ConnectorRow:
    streams = connector.get("streams")
    left_out = connector.get("stream_names_left_out")
    return ConnectorRow(
        _text(connector.get("connector_key")) or _text(connector.get("connector_id")) or "",
        _connections(connector.get("granted_connections")),
        [_stream(row) for row in streams] if isinstance(streams, list) else [],
        left_out if isinstance(left_out, int) else 0,
        {name: value for name, value in connector.items() if name != "streams"},
    )


def _connections(listed: object) -> dict[str, str | None]:
    items = listed if isinstance(listed, list) else []
    bare = {item: None for item in items if isinstance(item, str)}
    named = {
        id: _text(item.get("display_name"))
        for item in items
        if isinstance(item, Mapping) and (id := _text(item.get("connection_id")))
    }
    return {**bare, **named}


def _stream(row: Any) -> StreamRow:
    stream: Json = row if isinstance(row, Mapping) else {"name": row}
    return StreamRow(
        name=_text(stream.get("name")) or "?",
        label=_text(stream.get("label")),
        counts=_counts(stream),
        fields={
            name: field if isinstance(field, str | Mapping) else ""
            for name, field in fields_of(stream).items()
        },
        primary_key=_texts(stream.get("primary_key")),
        default_sort=_text(stream.get("default_sort")),
        relations=[
            Relation(name, _text(one.get("cardinality")), _whole(one.get("max_limit")))
            for one in expands_of(stream)
            if (name := _text(one.get("name")))
        ],
        views=_views(stream.get("views")),
        search=_texts(stream.get("search")),
        count_kinds=_texts(stream.get("count")),
        aggregate_count=stream["aggregate_count"]
        if isinstance(stream.get("aggregate_count"), bool)
        else None,
        envelope={name: value for name, value in stream.items() if name not in _FIELD_MEMBERS},
    )


_FIELD_MEMBERS = ("fields", "field_capabilities")


def _counts(row: Json) -> dict[str, int | None]:
    counts = row.get("record_counts")
    if isinstance(counts, Mapping):
        return {name: _whole(count) for name, count in counts.items()}
    own = _text(row.get("connection_id"))
    return {own: _whole(row.get("record_count"))} if own else {}


def _views(listed: object) -> list[str]:
    items = listed if isinstance(listed, list) else []
    ids = (item.get("id") if isinstance(item, Mapping) else item for item in items)
    return [id for id in ids if isinstance(id, str)]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
