"""The search tool: hits with evidence, in one page that fits."""

from collections.abc import Sequence

from pdpp.mcp.drawing import structured, text
from pdpp.mcp.drawing.hit import draw, hit_view, shortened
from pdpp.mcp.drawing.label import beyond, nameless
from pdpp.mcp.drawing.result import (
    MOST_CHARS,
    MOST_DEFAULT_CHARS,
    MOST_SEARCH_STRUCTURED,
    MOST_SEARCH_TEXT,
    Less,
    result,
)
from pdpp.mcp.drawing.structured import noted
from pdpp.mcp.drawing.view import DrawnHit, NextCall, SearchView
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.search_answer import NO_HITS, SearchAnswer, SearchResults, results_of
from pdpp.mcp.reading.search_params import SearchParams
from pdpp.mcp.tools.given import SearchArguments
from pdpp.model.errors import PayloadTooLarge
from pdpp.wire.paging import following

DEFAULT_LIMIT = 10
_BRIEF = 120
_MORE_ROOM = (
    f"a page of at most {DEFAULT_LIMIT} hits ends near 10,000 characters; with a higher limit up "
    "to 30,000 come at once"
)
_ROUTES = {
    "lexical": ["search"],
    "semantic": ["search", "semantic"],
    "hybrid": ["search", "hybrid"],
}


async def search(reader: GrantReader, arguments: SearchArguments) -> JsonObject:
    """Run the search tool; a page shows as many hits as fit and goes on right after them.

    A server that does not tell the cursor after the last that fits is asked again, for so many.
    """
    limit = arguments.get("limit", DEFAULT_LIMIT)
    page = _SearchPage(reader, arguments, limit)
    while True:
        results = await _search(reader, arguments, limit, page.room)
        hits = enumerate(results.hits, 1)
        drawn = [draw(number, hit_view(reader, hit)) for number, hit in hits]
        result = page.show(results, drawn)
        if result is not None:
            return result
        limit = len(drawn)


class _SearchPage:
    """Lays hits out in both halves of an answer, no more of them than fit."""

    def __init__(self, reader: GrantReader, arguments: SearchArguments, limit: int) -> None:
        small = limit <= DEFAULT_LIMIT
        self._short_of = limit if small else 0
        """How many hits there are on a page that room did not cut, where more room can be had."""
        self._reader = reader
        self._arguments = arguments
        self._length = reader.client.codec.length
        self.most_text = MOST_SEARCH_TEXT if small else MOST_CHARS
        self.most_structured = MOST_SEARCH_STRUCTURED if small else MOST_CHARS

    @property
    def room(self) -> int:
        """Return how many characters of hits are of use."""
        return self.most_structured

    def _trim(self, results: SearchResults, drawn: list[DrawnHit]) -> None:
        """Drop the hits that do not fit beside what every page has; one stays at least."""
        page = results.first(len(results.hits)) or NO_HITS
        frame = page.without_hits()
        text_left, object_left = self._left(self._view(results, frame, ()))
        for count, (hit, one) in enumerate(zip(results.hits, drawn, strict=True)):
            text_left -= len(one.text) + 1
            object_left -= self._length((hit.sent.as_json(), one.result, one.rung))
            if count and (text_left < 0 or object_left < 0):
                del drawn[count:]
                break

    def show(self, results: SearchResults, drawn: list[DrawnHit]) -> JsonObject | None:
        """Return the page of these hits, the last of them dropped where it is too large.

        None where the server must be asked for exactly so many.
        """
        trimmed = False
        while True:
            page = results.first(len(drawn))
            if page is None:
                return None
            view = self._view(results, page, drawn)
            spoken, shaped = self._halves(view)
            if self._fits(spoken, shaped):
                return result(spoken, shaped)
            if len(drawn) <= 1:
                return self._barest(view)
            if trimmed:
                drawn.pop()
            else:
                self._trim(results, drawn)
                trimmed = True

    def _view(
        self, results: SearchResults, page: SearchAnswer, drawn: Sequence[DrawnHit]
    ) -> SearchView:
        onward = None
        if page.next_cursor is not None:
            onward = NextCall("next", "search", following(self._arguments, page.next_cursor))
        elif not results.hits:
            onward = NextCall("what there is", "schema", {})
        return SearchView(
            page=page,
            hits=drawn,
            next=onward,
            notes=[
                *page.meta.warnings,
                *page.meta.advice.sentences(),
                *beyond(results.extra, "hits"),
                *nameless(page.nameless, "hits"),
                *([_MORE_ROOM] if self._is_cut(page, drawn) else []),
            ],
            unavailable=results.unavailable,
        )

    def _is_cut(self, page: SearchAnswer, drawn: Sequence[DrawnHit]) -> bool:
        """Tell whether a page ends for want of room, and a longer one may be asked for."""
        return page.next_cursor is not None and len(drawn) < self._short_of

    def _left(self, frame: SearchView) -> tuple[int, int]:
        """Return how much room a page without hits leaves in either half."""
        spoken, shaped = self._halves(frame)
        return self.most_text - len(spoken), self.most_structured - self._length(shaped)

    def _halves(self, view: SearchView) -> tuple[str, JsonObject]:
        shaped = structured.search_structured(view)
        # Not measured where it must be short: this is done again for every page that is tried.
        may_be_long = self.most_structured > MOST_DEFAULT_CHARS
        return text.search_text(view), noted(shaped, Less.ROWS) if may_be_long else shaped

    def _fits(self, spoken: str, shaped: JsonObject) -> bool:
        return len(spoken) <= self.most_text and self._length(shaped) <= self.most_structured

    def _barest(self, view: SearchView) -> JsonObject:
        """Return one hit whose envelope alone is too large without what the results repeat."""
        note = "the server's envelope was too large and is left out of data"
        page = view.page.bare(has_more=view.next is not None)
        for most in (400, 120, 40, 0):
            bare = view._replace(
                page=page,
                hits=[draw(1, shortened(drawn.hit, most)) for drawn in view.hits],
                notes=[note] if most < _BRIEF else [*view.notes, note],
            )
            spoken, shaped = self._halves(bare)
            if self._fits(spoken, shaped):
                return result(spoken, shaped)
        raise PayloadTooLarge(
            "The id of the first hit alone is too long for an answer; search one connection or "
            "stream.",
            param="query",
        )


async def _search(
    reader: GrantReader, arguments: SearchArguments, limit: int, room: int
) -> SearchResults:
    route = _ROUTES[arguments.get("mode", "lexical")]
    connection_id = arguments.get("connection_id")
    params = _params(arguments, limit)
    if reader.children is not None and connection_id is None and len(reader.children) > 1:
        from pdpp.mcp.reading.package import search_package

        return await search_package(reader, route, params, room)
    answer = await reader.search(reader.client_for(connection_id), route, params, room)
    return results_of(answer, limit)


def _params(arguments: SearchArguments, limit: int) -> SearchParams:
    params: SearchParams = {"q": arguments["query"], "limit": limit}
    if "streams" in arguments:
        params["streams"] = arguments["streams"]
    if "connection_id" in arguments:
        params["connection_id"] = arguments["connection_id"]
    if "filter" in arguments:
        params["filter"] = arguments["filter"]
    if "cursor" in arguments:
        params["cursor"] = arguments["cursor"]
    return params
