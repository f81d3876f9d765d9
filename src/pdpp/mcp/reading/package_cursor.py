"""Package cursors: how far each grant of a package was read, in one text."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from pdpp.evidence.text import json_text
from pdpp.mcp.reading.reader import ChildGrant
from pdpp.mcp.reading.resource_client import Params
from pdpp.model.errors import InvalidCursor

MOST_CURSOR_CHARS = 2_000


class ChildPosition(NamedTuple):
    """How far a child was read: the hits before a page, those shown of it, and its cursor.

    Where many children are deep in their lists not every cursor has room; one that is left out
    is found again by counting.
    """

    before: int = 0
    taken: int = 0
    cursor: str = ""


def is_package_cursor(cursor: str | None) -> bool:
    """Tell whether a cursor is one of ours, for children that were asked one by one."""
    return cursor is not None and "~" in cursor


class PackageCursor:
    """Makes and opens the cursors of one search of one package."""

    def __init__(
        self, children: Sequence[ChildGrant], route: Sequence[str], params: Params
    ) -> None:
        self._names = [child.grant_id for child in children]
        asked = {k: v for k, v in params.items() if k not in ("cursor", "limit")}
        bound = json_text([self._names, list(route), asked])
        self._mark = hashlib.sha256(bound.encode()).hexdigest()[:12]

    def close(self, positions: Mapping[str, ChildPosition]) -> str:
        """Return the cursor of positions; the longest of their own cursors give way to others."""
        parts = {name: self._part(name, position) for name, position in positions.items()}
        for name in sorted(positions, key=lambda name: -len(positions[name].cursor)):
            if sum(len(part) + 1 for part in parts.values()) <= MOST_CURSOR_CHARS:
                break
            parts[name] = self._part(name, positions[name]._replace(cursor=""))
        return "~".join([self._mark, *parts.values()])

    def _part(self, name: str, position: ChildPosition) -> str:
        own = quote(position.cursor, safe="").replace("~", "%7E")
        return f"{self._names.index(name)}.{position.before}.{position.taken}.{own}"

    def open(self, cursor: str | None) -> dict[str, ChildPosition]:
        """Return the positions of a cursor; none is the start of every child.

        The children's own cursors inside it are signed by the server.
        """
        if cursor is None:
            return {name: ChildPosition() for name in self._names}
        mark, *parts = cursor.split("~")
        try:
            positions = dict(self._position(part) for part in parts)
        except (ValueError, IndexError):
            positions = {}
        if mark != self._mark or not positions:
            raise InvalidCursor(
                "This cursor was not made for this search; start again without it.", param="cursor"
            )
        return positions

    def _position(self, part: str) -> tuple[str, ChildPosition]:
        index, before, taken, own = part.split(".", 3)
        if not all(number.isdecimal() for number in (index, before, taken)):
            raise ValueError(part)
        return self._names[int(index)], ChildPosition(int(before), int(taken), unquote(own))
