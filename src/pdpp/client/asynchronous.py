"""The same client for programs that run an event loop: its reads wait in threads.

What a read takes and returns is said once, in ``Client``; here each is only turned into one that
is awaited, with its signature and its words.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from pdpp.client.blob import Blob
from pdpp.client.client import Client
from pdpp.client.listing import Changes, Listing
from pdpp.client.result import Hit, Page, Record
from pdpp.wire.http import HttpSender

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


async def _apart(items: Iterator[T]) -> AsyncIterator[T]:
    """Yield the items of an iterator; a thread waits for each."""
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


def _awaited(
    read: Callable[Concatenate[Client, P], T],
) -> "Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]":
    """Return a read as one that is awaited: a thread waits for it, and the loop goes on."""

    @wraps(read)
    async def asked(self: "AsyncClient", /, *given: P.args, **options: P.kwargs) -> T:
        return await asyncio.to_thread(read, self._client, *given, **options)

    return asked


def _turned(
    read: Callable[Concatenate[Client, P], S], turn: Callable[[S], T]
) -> "Callable[Concatenate[AsyncClient, P], T]":
    """Return a read that asks for nothing yet, with its result as one whose parts are awaited."""

    @wraps(read)
    def asked(self: "AsyncClient", /, *given: P.args, **options: P.kwargs) -> T:
        return turn(read(self._client, *given, **options))

    return asked


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
        client = cls.__new__(cls)
        client._client = Client.connected(url, cache_root=cache_root, timeout=timeout)
        return client

    @classmethod
    def over(cls, http: HttpSender, origin: str) -> "AsyncClient":
        """Return a client whose requests another sender carries, which knows the caller."""
        client = cls.__new__(cls)
        client._client = Client.over(http, origin)
        return client

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
        """Close all connections."""
        self._client.close()

    ask = _awaited(Client.ask)
    schema = _awaited(Client.schema)
    ask_schema = _awaited(Client.ask_schema)
    streams = _awaited(Client.streams)
    records = _turned(Client.records, AsyncListing[Record])
    changes = _turned(Client.changes, AsyncChanges)
    record = _awaited(Client.record)
    window = _awaited(Client.window)
    windows = _turned(Client.windows, _apart)
    search = _turned(Client.search, AsyncListing[Hit])
    ask_search = _awaited(Client.ask_search)
    aggregate = _awaited(Client.aggregate)
    save_blob = _awaited(Client.save_blob)
    citation_url = _turned(Client.citation_url, str)

    def blob(self, blob_id: str, *, offset: int = 0) -> AsyncBlob:
        """Open a blob with ``async with``, to be read piece by piece."""
        return AsyncBlob(self._client, blob_id, offset)
