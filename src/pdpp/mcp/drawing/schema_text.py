"""Outlines: the text half of a schema, what may be read in all or the fields of one stream."""

from collections.abc import Mapping, Sequence
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.evidence.fence import quote
from pdpp.mcp.drawing.escaping import (
    call_lines,
    escaped,
    label,
    number,
    plain,
    unavailable_lines,
    word,
)
from pdpp.mcp.drawing.view import SchemaView

_FLAG_HELP = (
    "flags: eq exact filter · r range filter · sort sortable · lex words searched · "
    "a what can be aggregated · role how it is shown"
)


def schema_text(view: SchemaView) -> str:
    """Return the index of what may be read, or the fields of one stream."""
    connectors = [c for c in view.body.get("connectors", []) if isinstance(c, Mapping)]
    lines = _index(view, connectors) if view.stream is None else _scoped(connectors)
    lines += unavailable_lines(view.unavailable)
    if view.body.get("note"):
        lines.append(f"note: {view.body['note']}")
    return "\n".join([*lines, *call_lines(view.calls)])


def _index(view: SchemaView, connectors: Sequence[Mapping[str, Any]]) -> list[str]:
    connections = sum(len(c.get("granted_connections", [])) for c in connectors)
    lines = [
        f"{counted(len(connectors), 'connector')}, {counted(connections, 'connection')}, "
        f"{counted(view.body.get('stream_count', 0), 'stream')}."
    ]
    for connector in connectors:
        granted = ", ".join(_connection(c) for c in connector.get("granted_connections", []))
        lines.append(f"{plain(str(connector.get('connector_key', '?')))}: {granted}")
        several = len(connector.get("granted_connections", [])) > 1
        rows = [_stream(row, several) for row in connector.get("streams", [])]
        lines.append("  " + (" · ".join(rows) or _left_out(connector)))
    return lines


def _left_out(connector: Mapping[str, Any]) -> str:
    return counted(int(connector.get("stream_names_left_out", 0)), "stream")


def _connection(connection: Mapping[str, Any] | str) -> str:
    if isinstance(connection, str):
        return word(connection)
    identity = word(str(connection.get("connection_id", "?")))
    name = connection.get("display_name")
    return f"{label(str(name))} ({identity})" if name else identity


def _stream(row: Mapping[str, Any] | str, several: bool) -> str:
    if isinstance(row, str):
        return word(row)
    counts = row.get("record_counts", {})
    name = plain(str(row.get("name", "?")))
    if not several or not counts:
        total = next(iter(counts.values()), None)
        return name if total is None else f"{name} {total:,}"
    parts = [f"{word(c)} {n:,}" if n is not None else word(c) for c, n in counts.items()]
    return f"{name} ({', '.join(parts)})"


def _scoped(connectors: Sequence[Mapping[str, Any]]) -> list[str]:
    lines: list[str] = []
    for connector in connectors:
        names = {
            c.get("connection_id"): c.get("display_name")
            for c in connector.get("granted_connections", [])
        }
        for row in connector.get("streams", []):
            lines += _stream_lines(connector, names, row)
    return [*lines, _FLAG_HELP]


def _stream_lines(
    connector: Mapping[str, Any], names: Mapping[Any, Any], row: Mapping[str, Any]
) -> list[str]:
    counts = row.get("record_counts") or {row.get("connection_id"): row.get("record_count")}
    places = ", ".join(
        f"{label(str(names.get(c) or c))} ({word(str(c))}, {number(n, 'record')})"
        for c, n in counts.items()
    )
    head = [plain(str(row.get("name"))), plain(str(connector.get("connector_key"))), places]
    if row.get("label"):
        head.append(f"label {quote(str(row['label']))}")
    head.append(f"key {', '.join(plain(k) for k in row.get('primary_key', []))}")
    if row.get("default_sort"):
        head.append(f"sorted by {plain(str(row['default_sort']))}")
    head.append(f"count {'|'.join(map(plain, row.get('count', []))) or 'none'}")
    lines = [" · ".join(head)]
    for name, facts in row.get("fields", {}).items():
        lines.append(f"  {plain(name)}{_flags(facts)}")
    return [*lines, "  " + " · ".join(_offers(row))]


def _flags(facts: Any) -> str:
    if isinstance(facts, str):
        return "  " + " ".join(plain(facts).removeprefix("t=").split(","))
    return f": {escaped(facts)}"


def _offers(row: Mapping[str, Any]) -> list[str]:
    expand = [
        f"{plain(str(e.get('name')))} ({plain(str(e.get('cardinality')))}, "
        f"up to {number(e.get('max_limit'))})"
        for e in row.get("expand", [])
    ]
    views = [plain(str(v.get("id") if isinstance(v, Mapping) else v)) for v in row.get("views", [])]
    return [
        "fields projection: any of these",
        f"expand: {', '.join(expand) or 'none'}",
        f"views: {', '.join(views) or 'none'}",
        f"search: {', '.join(map(plain, row.get('search', []))) or 'none'}",
        f"aggregate count: {'yes' if row.get('aggregate_count', True) else 'no'}",
    ]
