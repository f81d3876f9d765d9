"""Listings: lists that are read page by page as they are asked for."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from pdpp.client.request import ReadRequest
from pdpp.client.result import Page, Record
from pdpp.wire.answer import UnexpectedAnswer
from pdpp.wire.paging import following

T = TypeVar("T")


class Listing(Generic[T]):
    """A list of the server: iterate over its items, over its ``pages()``, or take the first."""

    def __init__(self, read: Callable[[ReadRequest], Page[T]], request: ReadRequest) -> None:
        self._read = read
        self._request = request

    def first(self) -> Page[T]:
        """Return the first page alone."""
        return self._read(self._request)

    def pages(self) -> Iterator[Page[T]]:
        """Yield one page after the other; each is asked for when it is needed."""
        request = self._request
        while True:
            page = self._read(request)
            yield page
            if not page.has_more or page.next_cursor is None:
                return
            if page.next_cursor == request.params.get("cursor"):
                raise UnexpectedAnswer("The server's cursor does not move on; reading was ended.")
            request = self._request._replace(
                params=following(self._request.params, page.next_cursor)
            )

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.items


class Changes(Listing[Record]):
    """What changed; after the last page ``bookmark`` is where the next reading begins."""

    bookmark: str | None = None

    def pages(self) -> Iterator[Page[Record]]:
        """Yield one page after the other, and keep the bookmark of the last."""
        for page in super().pages():
            if not page.has_more:
                self.bookmark = page.next_changes_since or self.bookmark
            yield page
