"""Merging schemas: what the grants of a package open, as one compact schema."""

from collections.abc import Sequence

from pdpp.mcp.reading.schema_answer import ConnectorRow, SchemaAnswer, StreamRow
from pdpp.wire.verbatim import Verbatim, all_json


def merged_schema(parts: Sequence[SchemaAnswer], *, with_fields: bool) -> SchemaAnswer:
    """Put the schemas of several grants together; connectors of one key become one."""
    merged: dict[str, ConnectorRow] = {}
    for part in parts:
        for connector in part.connectors:
            known = merged.get(connector.key)
            merged[connector.key] = connector if known is None else _joined(known, connector)
    connectors = list(merged.values())
    stream_count = sum(part.stream_count for part in parts)
    first = parts[0].document if parts else Verbatim()
    members = {
        "object": "schema",
        "detail": "compact",
        "bearer": {"scope": "package", "token_kind": "mcp_package"},
        "connectors": all_json(_document(one, with_fields=with_fields) for one in connectors),
        "connector_count": len(connectors),
        "stream_count": stream_count,
    }
    document = first.only("field_capability_legend").with_members(members)
    return SchemaAnswer(document, connectors, stream_count)


def _joined(known: ConnectorRow, other: ConnectorRow) -> ConnectorRow:
    """Return a connector with the connections and streams of both."""
    rows = list(known.streams)
    for row in other.streams:
        at = next((n for n, one in enumerate(rows) if _bare(one) == _bare(row)), None)
        if at is None:
            rows.append(row)
        else:
            rows[at] = rows[at]._replace(counts={**rows[at].counts, **row.counts})
    return known._replace(connections={**known.connections, **other.connections}, streams=rows)


def _bare(row: StreamRow) -> StreamRow:
    """Return a stream without what differs between the connections that have it."""
    return row._replace(counts={}, envelope=row.envelope.without("record_counts"))


def _document(connector: ConnectorRow, *, with_fields: bool) -> Verbatim:
    connections = [
        {"connection_id": id, **({"display_name": name} if name else {})}
        for id, name in connector.connections.items()
    ]
    members = {
        "granted_connections": connections,
        "stream_count": len(connector.streams),
        "streams": all_json(_row(row, with_fields=with_fields) for row in connector.streams),
    }
    return connector.envelope.with_members(members)


def _row(row: StreamRow, *, with_fields: bool) -> Verbatim:
    members: dict[str, object] = {"record_counts": dict(row.counts)}
    if with_fields:
        flags = {name: offer.flags for name, offer in row.fields.items()}
        members["field_capabilities"] = flags
    return row.envelope.with_members(members)
