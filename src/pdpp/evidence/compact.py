"""The compact schema: what a caller may ask for, in as few characters as possible.

One projection serves the resource server and any client of a server that has only the full form,
so it takes what it finds in a body and never fails on what is missing or odd.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pdpp.model.vocabulary import Kind, Role

LEGEND = (
    "t=type; role=declared presentation role; eq=exact filter[field]; "
    "r=range operators filter[field][op]; sort=sortable; lex=searched by words; "
    "sem=searched by meaning; a=aggregations (sum, min, max, count_distinct: a metric of it; "
    "group_by, group_by_time: groups of it). A flag that is absent is not offered."
)

Json = Mapping[str, Any]

_MAPPINGS = (dict, Mapping)
"""A plain dictionary, which nearly every object is, is told ten times quicker than by the ABC."""
_NOTHING = type(None)

_MOST_LABELLED = 60
"""How many streams an index may have and still tell their labels: a wide one is long enough."""


def _object(value: object) -> Json:
    return value if isinstance(value, _MAPPINGS) else {}


def objects(value: object) -> list[Json]:
    """Return the objects of a list, without what is not of the kind that its name promises."""
    items = value if isinstance(value, list) else []
    return [_sound(item) for item in items if isinstance(item, _MAPPINGS)]


_NAMES = frozenset({"primary_key", "search", "count", "connection_ids"})
_KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("name", "id", "label", "connection_id", "connector_key"), (str, _NOTHING)),
    **dict.fromkeys(("display_name", "default_sort", "cardinality"), (str, _NOTHING)),
    **dict.fromkeys(("record_count", "max_limit"), (int, _NOTHING)),
    **dict.fromkeys((*_NAMES, "expand", "expand_capabilities", "views"), (list,)),
    **dict.fromkeys(("fields", "field_capabilities", "record_counts"), _MAPPINGS),
}
_ANY_KIND = (object,)


def _sound(item: Json) -> dict[str, Any]:
    """Return an object as far as its members are what a schema of this protocol holds there."""
    return {
        name: _texts(value) if name in _NAMES else value
        for name, value in item.items()
        if isinstance(value, _KINDS.get(name, _ANY_KIND))
    }


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _picked(source: Json, *names: str) -> dict[str, Any]:
    return {name: source[name] for name in names if source.get(name) is not None}


def field_flags(field: object) -> str:
    """Return the flag string of one field of a full schema, or of a compact one as it is."""
    if isinstance(field, str):
        return field
    facts = _object(field)
    shape, ranges = _object(facts.get("schema")), _object(facts.get("range_filter"))
    kind = _kind(facts, shape)
    role = _text(facts.get("role")) or _text(shape.get("x_pdpp_role"))
    operators = _texts(ranges.get("operators")) if _usable(ranges) else []
    sums = [name for name, offer in _object(facts.get("aggregation")).items() if _usable(offer)]
    flags = (
        (f"t={kind}", kind),
        (f"role={role}", role),
        ("eq", _usable(facts.get("exact_filter"))),
        ("r=" + "|".join(operators), operators),
        ("sort", facts.get("sortable") is True),
        ("lex", _usable(facts.get("lexical_search"))),
        ("sem", _usable(facts.get("semantic_search"))),
        ("a=" + "|".join(sums), sums),
        ("g=false", facts.get("granted") is False),
    )
    return ",".join(flag for flag, offered in flags if offered)


def _usable(offer: object) -> bool:
    """Tell whether something is offered: usable under this token, or at least declared."""
    facts = _object(offer)
    return facts.get("usable", facts.get("declared")) is True


_KINDS_OF_FIELDS = frozenset(kind.value for kind in Kind)
_TYPES: Mapping[str, str] = {"string": "text", "object": "json", "array": "json"}


def _kind(facts: Json, shape: Json) -> str:
    """Return the kind of a field: as a server of ours names it, else as its JSON Schema shows."""
    named = _text(facts.get("type"))
    return named if named in _KINDS_OF_FIELDS else _type(shape) or named


def _type(shape: Json) -> str:
    """Return the kind of a JSON Schema's values."""
    if shape.get("x_pdpp_type") == "blob":
        return "blob"
    if _text(shape.get("format")) in ("date-time", "date"):
        return _text(shape.get("format"))
    kind = shape.get("type")
    if isinstance(kind, list):  # A field that may be null has a list of types.
        kind = next((one for one in kind if one != "null"), None)
    return _TYPES.get(_text(kind), _text(kind))


def fields_of(row: Json) -> Json:
    """Return the fields of a stream by name, under whichever member a server lists them."""
    return _object(row.get("field_capabilities")) or _object(row.get("fields"))


def expands_of(row: Json) -> list[Json]:
    """Return the relations of a stream that can be expanded."""
    return objects(row.get("expand_capabilities")) or objects(row.get("expand"))


def _record_counts(row: Json, connector: Json) -> dict[str, Any]:
    """Return how many records each connection has in a stream; None where that is not told."""
    counts = row.get("record_counts")
    if counts is not None and isinstance(counts, _MAPPINGS):
        return {name: n if isinstance(n, int) else None for name, n in counts.items()}
    count = row.get("record_count")
    if own := _text(row.get("connection_id")):
        return {own: count}
    granted = objects(row.get("granted_connections")) or _connections(connector)
    named = [_text(connection.get("connection_id")) for connection in granted]
    ids = _texts(row.get("connection_ids")) or [name for name in named if name]
    return {name: count if len(ids) == 1 else None for name in ids}


def _connections(connector: Json) -> list[Json]:
    return objects(connector.get("granted_connections"))


def stream_flags(fields: Json) -> dict[str, str]:
    """Return the flags of a stream's fields; the first time of an event alone has that role.

    Other servers describe an event by two times. Records are shown by the first.
    """
    flags = {name: field_flags(field) for name, field in fields.items()}
    timed = [name for name, listed in flags.items() if _EVENT_TIME in listed.split(",")]
    for name in timed[1:]:
        flags[name] = ",".join(flag for flag in flags[name].split(",") if flag != _EVENT_TIME)
    return flags


_EVENT_TIME = f"role={Role.EVENT_TIME}"


def _all_connections(connector: Json, rows: list[Json]) -> list[Json]:
    """Return the connections of a connector: those it lists, and others that its rows name."""
    listed = _connections(connector)
    known = {_text(connection.get("connection_id")) for connection in listed}
    others = {own: row for row in rows if (own := _text(row.get("connection_id"))) not in known}
    return [*listed, *(row for own, row in others.items() if own)]


def _stream_row(row: Json) -> dict[str, Any]:
    """Return everything of a stream that a caller may use, without its connections."""
    return {
        **_picked(row, "name", "label", "primary_key", "default_sort"),
        "field_capabilities": stream_flags(fields_of(row)),
        "views": _texts(row.get("views"))
        + [_text(view.get("id")) for view in objects(row.get("views"))],
        "expand_capabilities": [
            _picked(expand, "name", "cardinality", "max_limit") for expand in expands_of(row)
        ],
        **_picked(row, "search", "count", "aggregate_count"),
    }


def _index_row(row: Json) -> dict[str, Any]:
    """Return what an index says of a stream: its name, and its label where that says more."""
    name, label = _text(row.get("name")), _text(row.get("label"))
    return {"name": name, **({"label": label} if label.casefold() not in ("", name) else {})}


def _grouped(connector: Json, rows: list[Json], *, fields: bool) -> list[dict[str, Any]]:
    """Return the rows of a connector, those that differ only by connection made one."""
    groups: dict[str, dict[str, Any]] = {}
    for row in rows:
        compact_row = _stream_row(row) if fields else _index_row(row)
        # Rows are equal when everything shown of them is; a dictionary is no key, its text is one.
        group = groups.setdefault(repr(compact_row), {**compact_row, "record_counts": {}})
        for name, count in _record_counts(row, connector).items():
            group["record_counts"].setdefault(name, count)
    return list(groups.values())


def _sources(body: Json) -> list[tuple[Json, list[Json]]]:
    """Return the connectors of a body with their rows; rows at the top go by their own connector.

    A server may list the same rows at the top and below their connectors; they count once.
    """
    sources = [(one, list(objects(one.get("streams")))) for one in objects(body.get("connectors"))]
    loose: dict[tuple[str, ...], tuple[Json, list[Json]]] = {}
    for home, row in loose_rows(body):
        names = _connector_names(row)
        _, rows = (
            sources[home]
            if home is not None
            else loose.setdefault(tuple(names.values()), (names, []))
        )
        rows.append(row)
    return [*sources, *loose.values()]


def loose_rows(body: Json) -> Iterator[tuple[int | None, Json]]:
    """Yield the rows at the top that stand below no connector, with which connector they name."""
    top = objects(body.get("streams"))
    # Servers of ours have no rows there: to look through all the others took half of an answer.
    if not top:
        return
    connectors = objects(body.get("connectors"))
    below = [objects(connector.get("streams")) for connector in connectors]
    places = [_place_of(*source) for source in zip(connectors, below, strict=True)]
    names = [{_text(row.get("name")) for row in rows} for rows in below]
    for row in top:
        own, name = _place_of(row, [row]), _text(row.get("name"))
        if not any(name in at and own.may_be(p) for p, at in zip(places, names, strict=True)):
            yield next((n for n, place in enumerate(places) if own.names & place.names), None), row


class _Place(NamedTuple):
    """Where rows are from, as far as a server says: names of the connector, and connections."""

    names: frozenset[str]
    connections: frozenset[str]

    def may_be(self, connector: "_Place") -> bool:
        """Tell whether nothing that both say sets a row apart from the rows of a connector."""
        if self.connections and connector.connections:  # A connection has one connector.
            return bool(self.connections & connector.connections)
        return not self.names or not connector.names or bool(self.names & connector.names)


def _place_of(part: Json, rows: list[Json]) -> _Place:
    granted = (_text(one.get("connection_id")) for one in _connections(part))
    counted = (name for row in rows for name in _record_counts(row, {}))
    connections = frozenset(name for name in (*granted, *counted) if name)
    return _Place(frozenset(_connector_names(part).values()), connections)


def _connector_names(part: Json) -> dict[str, str]:
    """Return what a connector, or a row, says the connector is called."""
    id = _text(part.get("connector_id")) or _text(_object(part.get("source")).get("id"))
    names = {"connector_key": _text(part.get("connector_key")), "connector_id": id}
    return {member: name for member, name in names.items() if name}


def _compact_connector(
    connector: Json, rows: list[Json], stream: str | None, connection_id: str | None
) -> dict[str, Any]:
    grouped = _grouped(connector, rows, fields=stream is not None)
    if connection_id is not None:
        # A server that names no connections of a stream was asked for this one's.
        counted = [row for row in map(_only(connection_id), grouped) if row["record_counts"]]
        grouped = counted + [row for row in grouped if not row["record_counts"]]
    named = {name for row in grouped for name in row["record_counts"]}
    scoped = stream is not None or connection_id is not None
    return {
        **_picked(connector, "connector_key", "display_name"),
        **_connector_names(connector),
        **(_picked(connector, "source") if stream is not None else {}),
        "granted_connections": [
            _picked(connection, "connection_id", "display_name")
            for connection in _all_connections(connector, rows)
            if not scoped or connection.get("connection_id") in named
        ],
        "stream_count": len(grouped),
        "streams": grouped,
    }


def _only(connection_id: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what leaves of a row's counts those of one connection."""

    def kept(row: dict[str, Any]) -> dict[str, Any]:
        counts = row["record_counts"]
        own = {connection_id: counts[connection_id]} if connection_id in counts else {}
        return {**row, "record_counts": own}

    return kept


def _kept(rows: list[Json], stream: str | None) -> list[Json]:
    named = (row for row in rows if _text(row.get("name")))
    return [row for row in named if stream is None or row["name"] == stream]


def compact_schema(
    body: Json, *, stream: str | None = None, connection_id: str | None = None
) -> dict[str, Any]:
    """Return the index of a full schema, or with ``stream`` the flags of that stream's fields."""
    sources = [(connector, _kept(rows, stream)) for connector, rows in _sources(body)]
    scoped = stream is not None or connection_id is not None
    connectors = [
        connector
        for source, rows in sources
        if (connector := _compact_connector(source, rows, stream, connection_id))["streams"]
        or not scoped
    ]
    rows = [row for connector in connectors for row in connector["streams"]]
    if len(rows) > _MOST_LABELLED and stream is None:
        for row in rows:
            row.pop("label", None)
    compact = {
        "object": "schema",
        "detail": "compact",
        **_picked(body, "bearer"),
        "connectors": connectors,
        "connector_count": len(connectors),
        "stream_count": sum(max(1, len(row["record_counts"])) for row in rows),
    }
    if stream is not None:
        compact["field_capability_legend"] = LEGEND
    return compact
