"""The same client for programs that run an event loop: its reads wait in threads."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Generic, TypeVar, Unpack

from pdpp.client.blob import Blob, Saved
from pdpp.client.client import Client, Metric
from pdpp.client.listing import Changes, Listing
from pdpp.client.request import (
    AggregateOptions,
    ChangeOptions,
    OneOptions,
    RecordOptions,
    Request,
    SearchOptions,
    WindowOptions,
)
from pdpp.client.result import Aggregation, Hit, Page, Record, Schema, Stream, Window
from pdpp.client.session import Answer
from pdpp.evidence.handle import Handle
from pdpp.evidence.window import MAX_LIMIT

T = TypeVar("T")


async def _apart(items: Iterator[T]) -> AsyncIterator[T]:
    """Yield what an iterator gives, each asked for in a thread."""
    nothing = object()
    while (item := await asyncio.to_thread(next, items, nothing)) is not nothing:
        yield item  # type: ignore[misc]


class AsyncListing(Generic[T]):
    """A list of the server: iterate over its items, over its ``pages()``, or take the first."""

    def __init__(self, listing: Listing[T]) -> None:
        self._listing = listing

    async def first(self) -> Page[T]:
        """Return the first page alone."""
        return await asyncio.to_thread(self._listing.first)

    def pages(self) -> AsyncIterator[Page[T]]:
        """Yield one page after the other; each is asked for when it is needed."""
        return _apart(self._listing.pages())

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item


class AsyncChanges(AsyncListing[Record]):
    """What changed; after the last page ``bookmark`` is where the next reading begins."""

    def __init__(self, listing: Changes) -> None:
        super().__init__(listing)
        self._changes = listing

    @property
    def bookmark(self) -> str | None:
        """Return where the next reading begins, after the last page."""
        return self._changes.bookmark


class AsyncBlob:
    """A blob that is being read: a context, and an iterator over its bytes."""

    def __init__(self, client: Client, blob_id: str, offset: int) -> None:
        self._client = client
        self._asked = (blob_id, offset)
        self._blob: Blob | None = None

    async def __aenter__(self) -> "AsyncBlob":
        blob_id, offset = self._asked
        self._blob = await asyncio.to_thread(self._client.blob, blob_id, offset=offset)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()

    @property
    def _opened(self) -> Blob:
        if self._blob is None:
            raise RuntimeError("open the blob with: async with client.blob(…) as blob")
        return self._blob

    @property
    def media_type(self) -> str:
        """Return what kind of bytes they are."""
        return self._opened.media_type

    @property
    def size_bytes(self) -> int | None:
        """Return how many bytes the whole blob has, where the server says so."""
        return self._opened.size_bytes

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _apart(iter(self._opened))


class AsyncClient:
    """Reads what one token opens on one server, without holding up the event loop."""

    def __init__(
        self, url: str, token: str, *, timeout: float = 30.0, grant_id: str | None = None
    ) -> None:
        self._client = Client(url, token, timeout=timeout, grant_id=grant_id)

    @classmethod
    def connected(
        cls, url: str, *, cache_root: str | None = None, timeout: float = 30.0
    ) -> "AsyncClient":
        """Return a client under the grant that ``pdpp connect`` keeps, renewed when it ends."""
        held = cls.__new__(cls)
        held._client = Client.connected(url, cache_root=cache_root, timeout=timeout)
        return held

    def __repr__(self) -> str:
        return f"AsyncClient({self.url!r})"

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Return the address of the server."""
        return self._client.url

    def close(self) -> None:
        """Let every connection go."""
        self._client.close()

    async def ask(self, asked: Request) -> Answer:
        """Return the answer to any read as the server sent it."""
        return await asyncio.to_thread(self._client.ask, asked)

    async def schema(
        self, stream: str | None = None, *, connection_id: str | None = None, full: bool = False
    ) -> Schema:
        """Return what the token opens; with a stream its fields, with ``full`` their schemas."""
        read = self._client.schema
        return await asyncio.to_thread(read, stream, connection_id=connection_id, full=full)

    async def streams(
        self, stream: str | None = None, *, connection_id: str | None = None
    ) -> tuple[Stream, ...]:
        """Return one row for each connection and stream."""
        return await asyncio.to_thread(self._client.streams, stream, connection_id=connection_id)

    def records(self, stream: str, **options: Unpack[RecordOptions]) -> AsyncListing[Record]:
        """Return the records of a stream, newest first unless asked otherwise."""
        return AsyncListing(self._client.records(stream, **options))

    def changes(
        self, stream: str, since: str = "beginning", **options: Unpack[ChangeOptions]
    ) -> AsyncChanges:
        """Return what changed in one connection's stream since a bookmark, or everything."""
        return AsyncChanges(self._client.changes(stream, since, **options))

    async def record(self, id: str | Handle, **options: Unpack[OneOptions]) -> Record:
        """Return one record by any of its names."""
        return await asyncio.to_thread(self._client.record, id, **options)

    async def window(
        self, id: str | Handle, field: str, **options: Unpack[WindowOptions]
    ) -> Window:
        """Return a bounded piece of one field, by offset or around the first match of a query."""
        return await asyncio.to_thread(self._client.window, id, field, **options)

    def walk(
        self,
        id: str | Handle,
        field: str,
        *,
        offset_chars: int = 0,
        limit_chars: int = MAX_LIMIT,
        connection_id: str | None = None,
    ) -> AsyncIterator[Window]:
        """Yield a long field window by window to its end, as long as it is the same text."""
        walked = self._client.walk(
            id,
            field,
            offset_chars=offset_chars,
            limit_chars=limit_chars,
            connection_id=connection_id,
        )
        return _apart(walked)

    def search(self, query: str, **options: Unpack[SearchOptions]) -> AsyncListing[Hit]:
        """Return the records that hold some words, best first, with what proves it."""
        return AsyncListing(self._client.search(query, **options))

    async def aggregate(
        self, stream: str, metric: Metric = "count", **options: Unpack[AggregateOptions]
    ) -> Aggregation:
        """Return one number over the records of a stream, or one for each group."""
        return await asyncio.to_thread(self._client.aggregate, stream, metric, **options)

    def blob(self, blob_id: str, *, offset: int = 0) -> AsyncBlob:
        """Open a blob with ``async with``, to be read piece by piece."""
        return AsyncBlob(self._client, blob_id, offset)

    async def save_blob(
        self, blob_id: str, path: str | os.PathLike[str], *, resume: bool = False
    ) -> Saved:
        """Save a blob as a file, whole or not at all; ``resume`` goes on with what broke off."""
        return await asyncio.to_thread(self._client.save_blob, blob_id, path, resume=resume)
