"""Paging: how the page that follows is asked for, of any server and by every program of ours."""

from collections.abc import Mapping

FIRST_PAGE_ONLY = ("changes_since",)
"""What only the first page is asked with: the cursor of changes holds where the bookmark was, and
the reference server begins anew where both are sent."""


def following(asked: Mapping[str, object], cursor: str) -> dict[str, object]:
    """Return what the next page of a list is asked with."""
    kept = {name: value for name, value in asked.items() if name not in FIRST_PAGE_ONLY}
    return {**kept, "cursor": cursor}
