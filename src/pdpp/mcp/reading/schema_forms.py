"""Shorter forms of a schema, for one that does not fit an answer: each says what it leaves out."""

from collections.abc import Callable, Mapping
from itertools import islice

from pdpp.evidence.amount import counted
from pdpp.mcp.reading.schema_answer import ConnectorRow, FieldOffer, SchemaAnswer, StreamRow
from pdpp.wire.verbatim import Verbatim, all_json


def with_flags_alone(answer: SchemaAnswer) -> SchemaAnswer:
    """Return the fields of a full schema as a compact one tells them."""
    note = "the schema of each field is left out to fit; its flags are here"
    return _with_fields(
        answer, note, lambda row: {name: offer.flags for name, offer in row.fields.items()}
    )


def without_flags(answer: SchemaAnswer, ask: str, most: int | None = None) -> SchemaAnswer:
    """Return the fields of a stream by name alone, no more than ``most`` of them."""
    left_out = max((len(row.fields) for row in answer.streams), default=0) - (most or 1 << 20)
    names = f"and the names of {left_out} more are" if left_out > 0 else "is"
    note = f"what each field offers {names} left out to fit; {ask}"
    return _with_fields(answer, note, lambda row: dict.fromkeys(islice(row.fields, most), ""))


def _with_fields(
    answer: SchemaAnswer, note: str, fields_of: Callable[[StreamRow], Mapping[str, str]]
) -> SchemaAnswer:
    """Return a schema that tells less of the fields of its streams, and says so."""
    connectors = []
    for connector in answer.connectors:
        rows = [_with_flags(row, fields_of(row)) for row in connector.streams]
        listed = {"streams": all_json(row.envelope for row in rows)}
        envelope = connector.envelope.with_members(listed)
        connectors.append(connector._replace(streams=rows, envelope=envelope))
    return _rewritten(answer, connectors, note)


def _with_flags(row: StreamRow, flags: Mapping[str, str]) -> StreamRow:
    fields = {name: FieldOffer(listed) for name, listed in flags.items()}
    return row._replace(
        fields=fields, envelope=row.envelope.with_members({"field_capabilities": dict(flags)})
    )


def _rewritten(
    answer: SchemaAnswer, connectors: list[ConnectorRow], note: str, *, is_index: bool = False
) -> SchemaAnswer:
    """Return a schema with other connectors, each with its whole document as envelope."""
    members = {"connectors": all_json(one.envelope for one in connectors), "note": note}
    return answer._replace(
        document=answer.document.with_members(members),
        connectors=connectors,
        note=note,
        is_index=is_index,
    )


# Indexes: names alone

_ASK = "counts and labels left out to fit; ask schema with a stream or connection_id"


def named_index(answer: SchemaAnswer) -> SchemaAnswer:
    """Return an index without counts and labels; every name stays."""
    connectors = [
        _listed(connector, list(connector.connections), connector.stream_names, bare=False)
        for connector in answer.connectors
    ]
    return _rewritten(answer, connectors, _ASK, is_index=True)


def bare_index(answer: SchemaAnswer, most: int | None = None) -> SchemaAnswer:
    """Return an index in which a stream is its name and a connection its id.

    Of each connector at most so many names of streams are told.
    """
    connectors = [
        _listed(connector, list(connector.connections), connector.stream_names[:most], bare=True)
        for connector in answer.connectors
    ]
    left_out = sum(connector.streams_left_out for connector in connectors)
    more = f"the names of {counted(left_out, 'more stream')} are left out to fit; search reads all"
    return _rewritten(answer, connectors, more if left_out else _ASK, is_index=True)


def connection_index(
    answer: SchemaAnswer, most: int | None = None, what: str = "stream names"
) -> SchemaAnswer:
    """Return an index of connections, at most so many, with how many streams each connector has.

    ``what`` of them is left out.
    """
    total = sum(max(1, len(connector.connections)) for connector in answer.connectors)
    room = total if most is None else most
    connectors: list[ConnectorRow] = []
    for connector in answer.connectors:
        if room <= 0:
            break
        ids = list(connector.connections)[:room]
        connectors.append(_listed(connector, ids, [], bare=True))
        room -= max(1, len(ids))
    note = f"{what} are left out to fit; ask schema with a connection_id"
    if most is not None and most < total:
        note = (
            f"{what} and {counted(total - most, 'more connection')} are left out to fit; ask "
            "schema with a connection_id, or search, which reads all of them"
        )
    return _rewritten(answer, connectors, note, is_index=True)


def _listed(
    connector: ConnectorRow, ids: list[str], names: list[str], *, bare: bool
) -> ConnectorRow:
    """Return a connector as its name, the ids of connections and the names of streams."""
    left_out = len(connector.stream_names) - len(names)
    members: dict[str, object] = {connector.named_by: connector.key} if connector.key else {}
    members["granted_connections"] = ids if bare else [{"connection_id": id} for id in ids]
    members["streams"] = names if bare else [{"name": name} for name in names]
    if left_out:
        members["stream_names_left_out"] = left_out
    return ConnectorRow(
        connector.key,
        dict.fromkeys(ids),
        [StreamRow(name) for name in names],
        left_out,
        Verbatim(members),
        connector.named_by,
    )
