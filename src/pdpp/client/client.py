"""The client: reads of ``/v1`` as methods with typed results."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal, Unpack

from pdpp.client import envelope, request
from pdpp.client.blob import Blob, Saved, blob_id_of, save
from pdpp.client.listing import Changes, Listing
from pdpp.client.request import (
    AggregateOptions,
    ChangeOptions,
    OneOptions,
    ReadRequest,
    RecordOptions,
    SearchOptions,
    WindowOptions,
)
from pdpp.client.result import Aggregation, Excerpt, Hit, Record, Schema, Stream, Window
from pdpp.client.session import ClientSession, RawAnswer
from pdpp.credentials import is_token, open_cache, provider_origin
from pdpp.evidence.budget import MAX_LIMIT
from pdpp.evidence.handle import Handle, complete_handle, parse_handle
from pdpp.model.errors import Conflict, InvalidRequest, NotFound, StreamNotAllowed
from pdpp.wire.answer import UnexpectedAnswer
from pdpp.wire.bearer import Bearer, FixedBearer, RenewedBearer
from pdpp.wire.citation import passage_address, record_address
from pdpp.wire.http import HttpClient, HttpLimits, HttpSender

Metric = Literal["count", "sum", "min", "max", "count_distinct"]


def _session(
    origin: str, bearer: Bearer, timeout: float, grant_id: str | None = None
) -> ClientSession:
    http = HttpClient(HttpLimits(timeout), keep_alive=True)
    return ClientSession(http, origin, bearer, grant_id=grant_id)


class Client:
    """Reads what one token opens on one server; safe from any thread.

    Errors are those of ``pdpp.model.errors``, by the code the server told, and
    ``ServerUnreachable`` where no answer came, ``UnexpectedAnswer`` where it is not of this
    protocol.
    """

    def __init__(
        self, url: str, token: str, *, timeout: float = 30.0, grant_id: str | None = None
    ) -> None:
        if not is_token(token):
            raise ValueError("a token is one printable word")
        bearer = FixedBearer(token)
        self._session = _session(provider_origin(url), bearer, timeout, grant_id)

    @classmethod
    def connected(
        cls, url: str, *, cache_root: str | None = None, timeout: float = 30.0
    ) -> "Client":
        """Return a client under the grant that ``pdpp connect`` keeps, renewed when it ends."""
        cache = open_cache(cache_root, os.environ, url)
        credential = cache.load(url)
        client = cls.__new__(cls)
        bearer = RenewedBearer(cache, credential)
        client._session = _session(credential.provider_url, bearer, timeout)
        return client

    @classmethod
    def over(cls, http: HttpSender, origin: str) -> "Client":
        """Return a client whose requests another sender carries, which knows the caller."""
        client = cls.__new__(cls)
        client._session = ClientSession(http, origin, FixedBearer("local"))
        return client

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Return the address of the server."""
        return self._session.origin

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def ask(self, asked: ReadRequest) -> RawAnswer:
        """Return the answer to any read as the server sent it."""
        return self._session.ask(asked)

    def schema(
        self, stream: str | None = None, *, connection_id: str | None = None, full: bool = False
    ) -> Schema:
        """Return what the token opens; with a stream its fields, with ``full`` their schemas."""
        return self.ask_schema(stream, connection_id, full=full).parsed(envelope.schema_of)

    def ask_schema(
        self, stream: str | None = None, connection_id: str | None = None, *, full: bool = False
    ) -> RawAnswer:
        """Return the answer with a schema; a stream that the token does not open is refused."""
        answer = self._ask_schema(request.schema(stream, connection_id, full=full))
        if stream is not None and not answer.parsed(envelope.schema_of).streams:
            raise _not_opened(stream, "stream")
        return answer

    def _ask_schema(self, asked: ReadRequest) -> RawAnswer:
        """Return the answer with a schema; a server without our views of it sends its own."""
        try:
            return self._session.ask(asked)
        except InvalidRequest as problem:
            if problem.param not in ("detail", "view"):
                raise
            return self._session.ask(asked.without_params(problem.param))

    def streams(
        self, stream: str | None = None, *, connection_id: str | None = None
    ) -> tuple[Stream, ...]:
        """Return one row for each connection and stream."""
        try:
            answer = self._session.ask(request.streams(stream, connection_id))
            if stream is None or answer.parsed(envelope.lists_rows):
                return answer.parsed(envelope.page_of(envelope.stream_of)).items
        except NotFound:
            if stream is None:
                raise
        # Another server describes the stream of one connection here, or has no such address; its
        # list has all of them.
        listed = self.streams(connection_id=connection_id)
        named = (row for row in listed if row.name == stream)
        # Nothing says that such a list is kept to one connection where that is asked for.
        rows = tuple(row for row in named if connection_id in (None, row.connection_id))
        if not rows:
            raise _not_opened(stream, "stream")
        return rows

    def records(self, stream: str, **options: Unpack[RecordOptions]) -> Listing[Record]:
        """Return the records of a stream, newest first unless asked otherwise."""
        read = envelope.page_of(envelope.record_of)
        return Listing(lambda r: self._session.read(r, read), request.records(stream, options))

    def changes(
        self, stream: str, since: str = "beginning", **options: Unpack[ChangeOptions]
    ) -> Changes:
        """Return what changed in one connection's stream since a bookmark, or everything."""
        asked = request.changes(stream, since, options)
        read = envelope.page_of(envelope.record_of)
        return Changes(lambda r: self._session.read(r, read), asked)

    def record(self, id: str | Handle, **options: Unpack[OneOptions]) -> Record:
        """Return one record by any of its names."""
        handle = complete_handle(id, options.get("connection_id"))
        return self._session.read(request.record(handle, options), envelope.record_of)

    def window(self, id: str | Handle, field: str, **options: Unpack[WindowOptions]) -> Window:
        """Return a bounded piece of one field, by offset or around the first match of a query."""
        handle = complete_handle(id, options.get("connection_id"))
        read = envelope.window_reader(handle.connection_id)
        return self._session.read(request.window(handle, field, options), read)

    def windows(
        self,
        id: str | Handle,
        field: str,
        *,
        offset_chars: int = 0,
        limit_chars: int = MAX_LIMIT,
        connection_id: str | None = None,
    ) -> Iterator[Window]:
        """Yield a long field window by window to its end, as long as it is the same text."""
        handle, digest = complete_handle(id, connection_id), None
        offset: int | None = offset_chars
        while offset is not None:
            window = self.window(handle, field, offset_chars=offset, limit_chars=limit_chars)
            if digest not in (None, window.digest):
                raise Conflict("The field has changed while it was read; begin again.")
            yield window
            if window.next_offset_chars == offset:
                raise UnexpectedAnswer("The server's offset does not move on; reading was ended.")
            digest, offset = window.digest, window.next_offset_chars

    def search(self, query: str, **options: Unpack[SearchOptions]) -> Listing[Hit]:
        """Return the records that hold some words, best first, with what proves it."""
        read = envelope.page_of(envelope.hit_of)
        return Listing(lambda r: self._ask_hits(r).parsed(read), request.search(query, options))

    def ask_search(self, query: str, **options: Unpack[SearchOptions]) -> RawAnswer:
        """Return the answer with the first page of a search as the server sent it."""
        return self._ask_hits(request.search(query, options))

    def _ask_hits(self, asked: ReadRequest) -> RawAnswer:
        """Return the answer to a search; a stream that the token does not open is refused."""
        answer = self._session.ask(asked)
        # Our servers refuse it themselves. Others find nothing there, which looks like an answer.
        if self._session.record_page is None and "cursor" not in asked.params:
            hits = answer.parsed(envelope.page_of(envelope.hit_of)).items
            named = set(asked.params.get("streams", ())) - {hit.stream for hit in hits}
            if named:
                opened = self.schema(connection_id=asked.params.get("connection_id")).streams
                for stream in sorted(named - {row.name for row in opened}):
                    raise _not_opened(stream, "streams")
        return answer

    def citation_url(self, item: Hit | Record | Window) -> str:
        """Return the address where a person opens a record, at the passage that was found.

        On our servers that is the owner's page of the record. Another server has none: then it is
        the link that the hit declares, else the record's address under ``/v1``.
        """
        address, is_page = record_address(
            self.url, self._session.record_page, parse_handle(item.id)
        )
        if not is_page:
            return item.link or address
        match item:
            case Hit(
                excerpts=(Excerpt(field_path=field, start_chars=int(s), end_chars=int(e)), *_)
            ):
                return passage_address(address, field, s, e)
            case Window(field_path=field, start_chars=start, end_chars=end):
                return passage_address(address, field, start, end)
        return address

    def aggregate(
        self, stream: str, metric: Metric = "count", **options: Unpack[AggregateOptions]
    ) -> Aggregation:
        """Return one number over the records of a stream, or one for each group."""
        asked = request.aggregate(stream, metric, options)
        return self._session.read(asked, envelope.aggregation_of)

    def blob(self, blob_id: str, *, offset: int = 0) -> Blob:
        """Open a blob, to be read piece by piece, from an offset on where the server can."""
        return Blob(self._session.download(("blobs", blob_id_of(blob_id)), offset))

    def save_blob(
        self, blob_id: str, path: str | os.PathLike[str], *, resume: bool = False
    ) -> Saved:
        """Save a blob as a file, whole or not at all; ``resume`` goes on with what broke off."""
        name = blob_id_of(blob_id)
        return save(lambda at: self.blob(name, offset=at), name, Path(path), resume=resume)


def _not_opened(stream: str, param: str) -> StreamNotAllowed:
    return StreamNotAllowed(f"The token opens no stream {stream!r}.", param=param)
