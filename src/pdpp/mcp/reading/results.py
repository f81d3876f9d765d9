"""What a search found: hits in their order, and the envelope of the first so many of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.resource_client import ServerAnswer, hits_of

_CURSOR = re.compile(r"(?<=[?&]cursor=)[^&]*")


class SearchResults(NamedTuple):
    """Hits to show; ``first`` is the envelope of so many, None where only the server can tell.

    ``extra`` hits were sent although nobody asked for them; ``unavailable`` sources gave none.
    """

    hits: Sequence[Mapping[str, Any]]
    first: Callable[[int], Mapping[str, Any] | None]
    extra: int = 0
    unavailable: Sequence[ConnectionChoice] = ()


def results_of(answer: ServerAnswer, limit: int) -> SearchResults:
    """Return what a server found; its page can be cut after a hit whose cursor it told.

    The cursors are those after the last hits.
    """
    body, sent = answer.body, hits_of(answer.body)
    hits, cursors = sent[:limit], answer.cursors
    untold = len(sent) - len(cursors)

    def first(count: int) -> Mapping[str, Any] | None:
        if count == len(hits):
            return body if len(sent) <= limit else _shorn(body, hits)
        if untold < 0 or count <= untold:
            return None
        return _cut(body, hits[:count], cursors[count - 1 - untold])

    return SearchResults(hits, first, extra=len(sent) - len(hits))


def _shorn(body: Mapping[str, Any], hits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return an envelope without the hits that were not asked for."""
    kept = {name: body[name] for name in ("next_cursor", "meta") if name in body}
    return {"object": "list", "data": hits, **kept}


def _cut(
    body: Mapping[str, Any], hits: Sequence[Mapping[str, Any]], cursor: str
) -> Mapping[str, Any]:
    """Return the envelope of the first hits of a page, as the server gives one that goes on."""
    url = str(body.get("url"))
    following = _CURSOR.sub(cursor, url) if "cursor=" in url else f"{url}&cursor={cursor}"
    ahead = {"has_more": True, "next_cursor": cursor, "links": {"next": following}}
    return {**body, "data": hits, **ahead}
