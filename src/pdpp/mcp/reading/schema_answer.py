"""Schema answers: what may be read, from whichever form a server tells it in."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pdpp.evidence.compact import (
    compact_schema,
    expands_of,
    fields_of,
    loose_rows,
    objects,
    stream_flags,
)
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts, facts_of
from pdpp.mcp.reading.stream_name import StreamName
from pdpp.wire.members import Json, flag_in, object_in, objects_in, text_in, texts_in, whole_in
from pdpp.wire.verbatim import Verbatim

_NOTHING: Mapping[str, int | None] = MappingProxyType({})


class Relation(NamedTuple):
    """A relation that can be expanded."""

    name: str
    cardinality: str | None
    max_limit: int | None


class FieldOffer(NamedTuple):
    """What may be asked of a field: its flags, and in a full schema everything that is told."""

    flags: str
    sent: Verbatim | None = None


class StreamRow(NamedTuple):
    """One stream of a schema; what a server did not tell is None or empty."""

    name: str
    label: str | None = None
    counts: Mapping[str, int | None] = _NOTHING
    """How many records each connection has of it, None where that is not told."""

    fields: Mapping[str, FieldOffer] = MappingProxyType({})
    primary_key: Sequence[str] = ()
    default_sort: str | None = None
    relations: Sequence[Relation] | None = None
    """None where a server does not say whether there are any."""

    views: Sequence[str] = ()
    search: Sequence[str] = ()
    count_kinds: Sequence[str] = ()
    aggregate_count: bool | None = None
    envelope: Verbatim = Verbatim()
    """The members around the fields, as they were sent."""


class ConnectorRow(NamedTuple):
    """One connector with its connections by id; a connection may have no name."""

    key: str
    connections: Mapping[str, str | None]
    streams: Sequence[StreamRow]
    streams_left_out: int
    envelope: Verbatim
    """The members around the streams, as they were sent."""

    named_by: str = "connector_key"
    """The member that the server named it with."""

    @property
    def stream_names(self) -> list[str]:
        """Return the name of each stream once."""
        return sorted({row.name for row in self.streams})


class SchemaAnswer(NamedTuple):
    """A schema to be sent on (``document``), and what is read out of it."""

    document: Verbatim
    connectors: Sequence[ConnectorRow]
    stream_count: int
    note: str | None = None
    choices: Sequence[ConnectionChoice] = ()
    """The connections that have a stream whose full schema this is."""

    is_index: bool = False
    """Whether it lists names alone, also where the fields of a stream were asked for."""

    @property
    def streams(self) -> list[StreamRow]:
        """Return the streams of all connectors."""
        return [row for connector in self.connectors for row in connector.streams]

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
            return facts_of({name: offer.flags for name, offer in row.fields.items()})
        return NO_FACTS


def is_compact(body: Json) -> bool:
    """Tell whether a server answered with a compact schema of its own."""
    return body.get("detail") == "compact" and isinstance(body.get("connectors"), list)


def read_compact(
    body: Json, stream: str | None = None, connection_id: str | None = None
) -> SchemaAnswer:
    """Read a schema; a compact one stays as it is, of a full one the compact form is made."""
    compact = compact_schema(body, stream=stream, connection_id=connection_id)
    return _answer(body if is_compact(body) else compact, compact, compact["connectors"])


def read_full(body: Json, stream: str, connection_id: str | None) -> SchemaAnswer:
    """Read the full schema of one stream as far as it has the shape of one.

    Loose streams get a connector. What a server sends beyond what was asked for is left out, and
    so are rows at the top that stand below a connector too.
    """
    scoped = _scoped(body, stream, connection_id)
    connectors = objects(scoped.get("connectors")) or [{"streams": scoped.get("streams")}]
    counted = compact_schema(scoped, stream=stream, connection_id=connection_id)
    choices = [
        ConnectionChoice(id, connector.key or None, name)
        for connector in map(_connector, objects(counted["connectors"]))
        for id, name in connector.connections.items()
    ]
    return _answer(scoped, counted, connectors)._replace(choices=choices)


def _scoped(body: Json, stream: str, connection_id: str | None) -> Json:
    """Return a full schema without the rows of other streams and connections."""
    listed = body.get("connectors")
    connectors = objects_in(body, "connectors")
    if not any(isinstance(connector.get("streams"), list) for connector in connectors):
        rows = _rows_of(body.get("streams"), stream, connection_id)
        return {**body, "streams": rows} if "streams" in body else body
    kept = [
        (_scoped_connector(connector, rows), rows)
        for connector, listed_rows in _with_loose_rows(body, connectors)
        if (rows := _rows_of(listed_rows, stream, connection_id))
    ]
    scoped = {name: value for name, value in body.items() if name != "streams"}
    scoped["connectors"] = [_granted_alone(connector, connection_id) for connector, _ in kept]
    if scoped["connectors"] != listed:
        rows_left = sum(len(rows) for _, rows in kept)
        counts = {"connector_count": len(kept), "stream_count": rows_left}
        scoped |= {name: count for name, count in counts.items() if name in scoped}
    return scoped


def _with_loose_rows(body: Json, connectors: Sequence[Json]) -> list[tuple[Json, list[object]]]:
    """Return the connectors with their rows, and rows at the top that stand below none of them."""
    with_rows = [(one, list(_listed(one.get("streams")))) for one in connectors]
    for home, row in loose_rows(body):
        if home is None:
            with_rows.append(({n: row[n] for n in _NAMED_BY if n in row}, [row]))
        else:
            with_rows[home][1].append(row)
    return with_rows


def _scoped_connector(connector: Json, rows: Sequence[Json]) -> Json:
    scoped = {**connector, "streams": rows}
    if rows != connector.get("streams") and "stream_count" in connector:
        scoped["stream_count"] = len(rows)
    return scoped


def _granted_alone(connector: Json, connection_id: str | None) -> Json:
    """Return a connector with the one connection that was asked for, where it names that."""
    granted = objects_in(connector, "granted_connections")
    own = [one for one in granted if one.get("connection_id") == connection_id]
    return {**connector, "granted_connections": own} if own else connector


def _rows_of(listed: object, stream: str, connection_id: str | None) -> list[Json]:
    """Return the rows of one stream; one that names another connection is not asked for."""
    return [
        row
        for row in _listed(listed)
        if isinstance(row, Mapping)
        and row.get("name") == stream
        and (connection_id is None or text_in(row, "connection_id") in (None, connection_id))
    ]


_NAMED_BY = ("connector_key", "connector_id")
_FIELD_MEMBERS = ("fields", "field_capabilities")


def _answer(document: Json, counted: Json, connectors: Sequence[Json]) -> SchemaAnswer:
    rows = [_connector(connector) for connector in connectors]
    total = whole_in(document, "stream_count")
    if total is None:
        total = whole_in(counted, "stream_count") or 0
    return SchemaAnswer(Verbatim(document), rows, total)


def _connector(connector: Json) -> ConnectorRow:
    named_by = next((name for name in _NAMED_BY if text_in(connector, name)), "")
    return ConnectorRow(
        text_in(connector, named_by) or "",
        _connections(connector.get("granted_connections")),
        [_stream(row) for row in _listed(connector.get("streams"))],
        0,
        Verbatim(connector).without("streams"),
        named_by,
    )


def _connections(listed: object) -> dict[str, str | None]:
    items = _listed(listed)
    bare = {item: None for item in items if isinstance(item, str)}
    named = {
        id: text_in(item, "display_name")
        for item in items
        if isinstance(item, Mapping) and (id := text_in(item, "connection_id"))
    }
    return {**bare, **named}


def _stream(row: object) -> StreamRow:
    stream: Json = row if isinstance(row, Mapping) else {"name": row}
    return StreamRow(
        name=text_in(stream, "name") or "?",
        label=text_in(stream, "label"),
        counts=_counts(stream),
        fields=_offers(fields_of(stream)),
        primary_key=texts_in(stream, "primary_key"),
        default_sort=text_in(stream, "default_sort"),
        relations=_relations(stream),
        views=_views(stream.get("views")),
        search=texts_in(stream, "search"),
        count_kinds=texts_in(stream, "count"),
        aggregate_count=flag_in(stream, "aggregate_count"),
        envelope=Verbatim(stream).without(*_FIELD_MEMBERS),
    )


def _offers(fields: Json) -> dict[str, FieldOffer]:
    flags = stream_flags(fields)
    return {
        name: FieldOffer(flags[name], Verbatim(facts) if isinstance(facts, Mapping) else None)
        for name, facts in fields.items()
    }


def _relations(stream: Json) -> Sequence[Relation] | None:
    relations = [
        Relation(name, text_in(one, "cardinality"), whole_in(one, "max_limit"))
        for one in expands_of(stream)
        if (name := text_in(one, "name"))
    ]
    is_told = not {"expand", "expand_capabilities"}.isdisjoint(stream)
    return relations if relations or is_told else None


def _counts(row: Json) -> dict[str, int | None]:
    counts = object_in(row, "record_counts")
    if counts or isinstance(row.get("record_counts"), Mapping):
        return {name: whole_in(counts, name) for name in counts}
    own = text_in(row, "connection_id")
    return {own: whole_in(row, "record_count")} if own else {}


def _views(listed: object) -> list[str]:
    ids = (item.get("id") if isinstance(item, Mapping) else item for item in _listed(listed))
    return [id for id in ids if isinstance(id, str)]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
