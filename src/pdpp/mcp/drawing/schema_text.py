"""The text half of a schema: what may be read in all, or the fields of one stream."""

from collections.abc import Sequence

from pdpp.evidence.amount import counted
from pdpp.evidence.fence import quote
from pdpp.mcp.drawing.escaping import call_lines, escaped, label, plain, unavailable_lines, word
from pdpp.mcp.drawing.result import Less
from pdpp.mcp.drawing.text import arranged
from pdpp.mcp.drawing.view import SchemaView
from pdpp.mcp.reading.schema_answer import ConnectorRow, FieldOffer, Relation, StreamRow

_FLAG_HELP = (
    "flags: eq exact filter · r range filter · sort sortable · lex words searched · "
    "a what can be aggregated · role how it is shown"
)
_DECLARED = FieldOffer("declared")
_DECLARED_HELP = "declared: the field is there; this server does not say what may be asked of it"


def schema_text(view: SchemaView) -> str:
    """Return the index of what may be read, or the fields of one stream."""
    schema = view.schema
    if view.stream is None or schema.is_index:
        first, *rows = _index(schema.connectors, schema.stream_count)
    else:
        first, *rows = _scoped(schema.connectors)
    about = unavailable_lines(view.unavailable)
    if schema.note is not None:
        about.append(f"note: {schema.note}")
    return arranged([first], rows, [*about, *call_lines(view.calls)], Less.CONNECTION)


def _index(connectors: Sequence[ConnectorRow], stream_count: int) -> list[str]:
    connections = sum(len(connector.connections) for connector in connectors)
    lines = [
        f"{counted(len(connectors), 'connector')}, {counted(connections, 'connection')}, "
        f"{counted(stream_count, 'stream')}."
    ]
    for connector in connectors:
        granted = ", ".join(_connection(id, name) for id, name in connector.connections.items())
        lines.append(f"{plain(connector.key)}: {granted}" if connector.key else granted)
        several = len(connector.connections) > 1
        rows = [_stream(row, several) for row in connector.streams]
        left_out = counted(connector.streams_left_out, "stream")
        lines.append("  " + (" · ".join(rows) or left_out))
    return lines


def _connection(id: str, name: str | None) -> str:
    return f"{label(name)} ({word(id)})" if name else word(id)


def _stream(row: StreamRow, several: bool) -> str:
    name = plain(row.name)
    if not several or not row.counts:
        total = next(iter(row.counts.values()), None)
        return name if total is None else f"{name} {total:,}"
    parts = [f"{word(c)} {n:,}" if n is not None else word(c) for c, n in row.counts.items()]
    return f"{name} ({', '.join(parts)})"


def _scoped(connectors: Sequence[ConnectorRow]) -> list[str]:
    lines = [
        line
        for connector in connectors
        for row in connector.streams
        for line in _stream_lines(connector, row)
    ]
    offers = [offer for c in connectors for row in c.streams for offer in row.fields.values()]
    bare = bool(offers) and all(offer == _DECLARED for offer in offers)
    return [*lines, _DECLARED_HELP if bare else _FLAG_HELP]


def _stream_lines(connector: ConnectorRow, row: StreamRow) -> list[str]:
    counts = row.counts or dict.fromkeys(connector.connections)
    places = [
        _place(connector.connections.get(id) or id, id, count) for id, count in counts.items()
    ]
    head = [plain(name) for name in (row.name, connector.key) if name]
    if places:
        head.append(", ".join(places))
    if row.label:
        head.append(f"label {quote(row.label)}")
    if row.primary_key:
        head.append(f"key {', '.join(map(plain, row.primary_key))}")
    if row.default_sort:
        head.append(f"sorted by {plain(row.default_sort)}")
    if row.count_kinds:
        head.append(f"count {'|'.join(map(plain, row.count_kinds))}")
    lines = [" · ".join(head)]
    lines += [f"  {plain(name)}{_flags(offer)}" for name, offer in row.fields.items()]
    return [*lines, "  " + " · ".join(_offers(row))]


def _place(name: str, id: str, count: int | None) -> str:
    records = "" if count is None else f", {counted(count, 'record')}"
    return f"{label(name)} ({word(id)}{records})"


def _flags(offer: FieldOffer) -> str:
    if offer.sent is not None:
        return f": {escaped(offer.sent.as_json())}"
    listed = plain(offer.flags).removeprefix("t=").split(",")
    return "  " + " ".join(listed) if offer.flags else ""


def _offers(row: StreamRow) -> list[str]:
    """Return what else may be asked of a stream; what a server does not tell is not said."""
    offers = ["fields projection: any of these"]
    if row.relations is not None:
        offers.append(f"expand: {', '.join(map(_relation, row.relations)) or 'none'}")
    for what, names in (("views", row.views), ("search", row.search)):
        if names:
            offers.append(f"{what}: {', '.join(map(plain, names))}")
    if row.aggregate_count is not None:
        offers.append(f"aggregate count: {'yes' if row.aggregate_count else 'no'}")
    return offers


def _relation(relation: Relation) -> str:
    about = [plain(relation.cardinality)] if relation.cardinality else []
    about += [f"up to {relation.max_limit}"] if relation.max_limit is not None else []
    return plain(relation.name) + (f" ({', '.join(about)})" if about else "")
