"""Kinds: what an activity was, by the address it leads to; its title tells it in one language."""

import re

_VIDEO = re.compile(r"://(?:\w+\.)?(?:youtube\.com/(?:watch\?|shorts/)|youtu\.be/)")
_PAGE = re.compile(r"://(?:\w+\.)?google\.[\w.]+/url\?")
_SEARCH = re.compile(r"[?&](?:q|search_query)=")
_ADVERTISED = "Google Ads"
"""What stands beside videos that played as advertisements, in every language."""


def kind_of(link: str, details: str) -> str | None:
    """Return what was done, or None of what no address tells."""
    if _VIDEO.search(link):
        return "advertisement" if _ADVERTISED in details else "video"
    if _PAGE.search(link):
        return "page"
    return "search" if _SEARCH.search(link) else None
