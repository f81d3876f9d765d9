"""Tables of Apple Notes: sets of rows and columns that several devices may change at once.

A table is a list of objects that name each other by their place in it. Rows and columns are known
by ids, and what a device wrote under an id of its own is the same row as the one it stands for.
"""

from collections.abc import Iterator, Mapping

from pdpp.sources.reading.protobuf import Message, unpacked

_TABLE = "com.apple.notes.ICTable"
_MOST_CELLS = 10_000

# Numbers of fields, of the document and of the objects in it.
_OBJECTS, _KEYS, _TYPES, _IDS = 3, 4, 5, 6
_DICTIONARY, _NOTE, _MAP, _ORDERED = 6, 10, 13, 16
_NUMBER, _PLACE = 2, 6


def table_text(content: bytes) -> str | None:
    """Return a table as Markdown, or None where it is no table."""
    plain = unpacked(content)
    if plain is None:
        return None
    return _Table(Message(plain).message(2, 3)).text()


class _Table:
    """The objects of one table."""

    def __init__(self, document: Message) -> None:
        self._objects = document.messages(_OBJECTS)
        self._keys = document.texts(_KEYS)
        self._types = document.texts(_TYPES)
        self._ids = {content: number for number, content in enumerate(document.contents(_IDS))}

    def text(self) -> str | None:
        """Return the cells as lines of Markdown."""
        members = self._members()
        if "cellColumns" not in members:
            return None
        rows = self._order(members.get("crRows"))
        columns = self._order(members.get("crColumns"))
        cells = dict(self._cells(members["cellColumns"], rows, columns))
        if not cells:
            return None
        height = 1 + max(row for row, _ in cells)
        width = 1 + max(column for _, column in cells)
        lines = [
            "| " + " | ".join(cells.get((row, column), "") for column in range(width)) + " |"
            for row in range(height)
        ]
        return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])

    def _members(self) -> Mapping[str, Message]:
        for candidate in self._objects:
            root = candidate.message(_MAP)
            kind = root.number(1)
            if kind is None or not 0 <= kind < len(self._types) or self._types[kind] != _TABLE:
                continue
            return {
                self._keys[key]: member
                for entry in root.messages(3)
                if 0 <= (key := entry.number(1) or 0) < len(self._keys)
                and (member := self._named(entry.message(2))) is not None
            }
        return {}

    def _named(self, reference: Message) -> Message | None:
        place = reference.number(_PLACE)
        if place is None or not 0 <= place < len(self._objects):
            return None
        return self._objects[place]

    def _order(self, axis: Message | None) -> dict[int, int]:
        """Return the place of each row or column by the number of its id."""
        if axis is None:
            return {}
        ordering = axis.message(_ORDERED, 1)
        order = {
            number: place
            for place, item in enumerate(ordering.message(1).messages(2))
            if (number := self._ids.get(next(iter(item.contents(2)), b""))) is not None
        }
        for element in ordering.message(2).messages(1):
            key, value = self._id(element.message(1)), self._id(element.message(2))
            if key in order and value is not None:
                order[value] = order[key]
        return order

    def _id(self, reference: Message) -> int | None:
        """Return the number of the id that an object holds."""
        holder = self._named(reference)
        return holder.message(_MAP, 3, 2).number(_NUMBER) if holder is not None else None

    def _cells(
        self, grid: Message, rows: Mapping[int, int], columns: Mapping[int, int]
    ) -> Iterator[tuple[tuple[int, int], str]]:
        count = 0
        for column in grid.message(_DICTIONARY).messages(1):
            inner = self._named(column.message(2))
            at = columns.get(self._id(column.message(1)) or 0)
            for row in inner.message(_DICTIONARY).messages(1) if inner and at is not None else ():
                line = rows.get(self._id(row.message(1)) or 0)
                cell = self._named(row.message(2))
                count += 1
                if line is None or cell is None or at is None or count > _MOST_CELLS:
                    continue
                text = cell.message(_NOTE).text(2) or ""
                yield (line, at), " ".join(text.replace("\ufffc", "").split())
