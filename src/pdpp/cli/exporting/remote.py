"""The remote origin: what a token opens, over ``/v1``."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pdpp.cli.exporting.origin import ExportBatch, ExportStream
from pdpp.client.client import Client
from pdpp.client.result import Record
from pdpp.evidence.handle import Handle
from pdpp.evidence.text import json_text
from pdpp.model.errors import NotFound

_PAGE = 100
_OWNER = "owner"


class RemoteOrigin:
    """Exports what one token opens: all of it, one stream, or one record."""

    def __init__(
        self,
        client: Client,
        *,
        stream: str | None = None,
        connection_id: str | None = None,
        record: Handle | None = None,
    ) -> None:
        self._client = client
        self.name = client.url
        self._record = None if record is None else client.record(record)
        if self._record is not None:
            stream, connection_id = self._record.stream, self._record.connection_id
        self._stream = stream
        self._rows = client.streams(stream, connection_id=connection_id)
        self.scope = "owner" if client.schema().token_kind == _OWNER else "grant"

    def connections(self) -> Sequence[Mapping[str, str]]:
        """Return the accounts of the streams."""
        accounts = {row.connection_id: row for row in self._rows}
        return [
            {
                "connection_id": row.connection_id,
                **({} if row.connector_key is None else {"connector_key": row.connector_key}),
                "display_name": row.display_name,
            }
            for row in accounts.values()
        ]

    def declarations(self) -> Iterator[tuple[str, bytes]]:
        """Yield the declarations, which a server tells its owner alone."""
        if self.scope != "owner":
            return
        rows = {row.connector_key: row for row in self._rows if row.connector_key is not None}
        for key, row in rows.items():
            full = self._client.schema(row.name, connection_id=row.connection_id, full=True)
            for document in full.declarations[:1]:
                yield key, json_text(document).encode()

    def import_secret(self) -> bytes | None:
        """Return None: no server tells anyone its secrets."""
        return None

    def places(self) -> Sequence[ExportStream]:
        """Return the streams of each account."""
        if self._record is not None:
            return [ExportStream(self._record.connection_id, self._record.stream, 1)]
        return [ExportStream(row.connection_id, row.name, row.record_count) for row in self._rows]

    def batches(self, place: ExportStream, cursor: str | None) -> Iterator[ExportBatch]:
        """Yield the pages of a stream, from a cursor on."""
        if self._record is not None:
            yield ExportBatch([_line(self._record)], None)
            return
        listing = self._client.records(
            place.stream, connection_id=place.connection_id, limit=_PAGE, cursor=cursor
        )
        for page in listing.pages():
            yield ExportBatch([_line(record) for record in page.items], page.next_cursor)

    def blobs(self) -> None:
        """Tell that only those are known that records refer to."""
        return

    def save_blob(self, blob_id: str, path: Path) -> str | None:
        """Save a blob, going on with what broke off."""
        try:
            return self._client.save_blob(blob_id, path, resume=True).media_type
        except NotFound:
            return None


def _line(record: Record) -> bytes:
    line = {"key": record.key, "data": record.data}
    if record.emitted_at is not None:
        line["emitted_at"] = record.emitted_at
    return json_text(line).encode("utf-8", "surrogatepass")
