"""Search parameters: what a page of hits is asked for with."""

from collections.abc import Mapping
from typing import Required, TypedDict, cast


class SearchParams(TypedDict, total=False):
    """The parameters of a search on the wire."""

    q: Required[str]
    limit: Required[int]
    streams: list[str]
    connection_id: str
    filter: Mapping[str, object]
    cursor: str


def from_start(params: SearchParams) -> SearchParams:
    """Return the search from its first page on."""
    return cast("SearchParams", {name: value for name, value in params.items() if name != "cursor"})
