"""Record answers: one record or a page of them, from whichever server sends it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pdpp.evidence.fence import visible
from pdpp.evidence.handle import Handle
from pdpp.mcp.reading.list_meta import ListMeta, read_meta
from pdpp.wire.answer import answer_without
from pdpp.wire.members import Json, flag_in, id_in, object_in, objects_in, text_in, whole_in
from pdpp.wire.verbatim import Verbatim

_ENVELOPE = (
    "object",
    "stream",
    "connection_id",
    "connector_key",
    "display_name",
    "emitted_at",
    "version",
    "deleted",
    "deleted_at",
)
_PAGE = ("object", "has_more", "next_cursor", "next_changes_since", "meta")


class ServerRecord(NamedTuple):
    """One record; a member that the server did not send is None or empty."""

    id: str
    stream: str
    connection_id: str | None
    connector_key: str | None
    display_name: str | None
    emitted_at: str | None
    version: int | None
    deleted: bool
    deleted_at: str | None
    data: Mapping[str, object]
    related: "Mapping[str, RelatedRecords]"
    envelope: Verbatim
    """The members around the data, as they were sent but for what cannot be seen in labels."""

    @property
    def handle(self) -> Handle:
        """Return what names the record; self-contained where its connection is known."""
        return Handle(self.connection_id, self.stream, self.id)


class RelatedRecords(NamedTuple):
    """The records of an expanded relation."""

    records: Sequence[ServerRecord]
    has_more: bool


class ServerRecordPage(NamedTuple):
    """A page of records or changes."""

    records: Sequence[ServerRecord]
    next_cursor: str | None
    next_changes_since: str | None
    has_more: bool | None
    meta: ListMeta
    envelope: Verbatim
    """What the server says of the page as a whole."""

    nameless: int = 0
    """How many records the server sent without an id; nothing can be asked about them."""


def read_record(body: Json, stream: str, record_id: str = "") -> ServerRecord:
    """Read one record; ``stream`` and ``record_id`` are what was asked for."""
    id = id_in(body, "id") or id_in(body, "record_id") or record_id
    return ServerRecord(
        id=id,
        stream=text_in(body, "stream") or stream,
        connection_id=text_in(body, "connection_id"),
        connector_key=text_in(body, "connector_key"),
        display_name=text_in(body, "display_name"),
        emitted_at=text_in(body, "emitted_at"),
        version=whole_in(body, "version"),
        deleted=bool(body.get("deleted")),
        deleted_at=text_in(body, "deleted_at"),
        data=object_in(body, "data"),
        related={name: _related(name, v) for name, v in object_in(body, "expanded").items()},
        envelope=Verbatim(body).only(*_ENVELOPE).with_members({"id": id, **_labels(body)}),
    )


def _labels(body: Json) -> Json:
    labels = ((name, text_in(body, name)) for name in ("connector_key", "display_name"))
    return {name: visible(text, lines=False) for name, text in labels if text is not None}


def _related(name: str, value: object) -> RelatedRecords:
    body: Json = value if isinstance(value, Mapping) else {}
    if isinstance(body.get("data"), list):
        records = objects_in(body, "data")
        has_more = flag_in(body, "has_more") or False
    else:
        records, has_more = ([body] if body else []), False
    return RelatedRecords([read_record(record, name) for record in records], has_more)


def read_page(body: Json, stream: str) -> ServerRecordPage:
    """Read a page of records."""
    if not isinstance(body.get("data"), list):
        raise answer_without("list of records")
    records = [read_record(row, stream) for row in objects_in(body, "data")]
    named = [record for record in records if record.id]
    return ServerRecordPage(
        records=named,
        next_cursor=text_in(body, "next_cursor"),
        next_changes_since=text_in(body, "next_changes_since"),
        has_more=flag_in(body, "has_more"),
        meta=read_meta(body),
        envelope=Verbatim(body).only(*_PAGE),
        nameless=len(records) - len(named),
    )
