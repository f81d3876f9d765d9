"""Vectors of meaning, as a store keeps them: one for each searched text of each record.

A vector is made of one field of one record and of nothing else, so that it says nothing about
another. Only texts that a declaration offers for search by meaning get one, and none that it marks
as sensitive.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from pdpp.model.declaration import Field
from pdpp.store.scope import Reach

SENSITIVE = "x_pdpp_sensitive"
"""The mark of a property whose text never becomes a vector."""


class TextVector(NamedTuple):
    """The vector of one field of a record."""

    record: int
    field: str
    vector: bytes


class PendingTexts(NamedTuple):
    """A record whose texts have no vectors yet: its feed, its number, its texts by field."""

    feed: int
    record: int
    texts: Mapping[str, str]


def has_meaning(field: Field) -> bool:
    """Tell whether the texts of a field may become vectors."""
    return field.semantic and field.lexical and not field.schema.get(SENSITIVE)


class MeaningStore(Protocol):
    """The vectors of a store."""

    def pending(self, most: int) -> Sequence[PendingTexts]:
        """Return some records that have no vectors yet, of the streams that are to have them."""
        ...

    def progress(self) -> tuple[int, int]:
        """Return how many records have their vectors, and how many are to have them."""
        ...

    def keep(self, done: Sequence[PendingTexts], vectors: Sequence[TextVector]) -> None:
        """Keep the vectors of some records that are still as they were when they were pending."""
        ...

    def shown(self, reach: Reach) -> frozenset[str]:
        """Return the visible fields of which a visible record has a vector."""
        ...

    def off(self) -> frozenset[tuple[str, str]]:
        """Return the streams, by connection and name, that the owner keeps out of it."""
        ...

    def turn(self, address: tuple[str, str], *, on: bool) -> None:
        """Let a stream be searched by meaning or not; what is turned off is deleted at once."""
        ...

    def forget(self) -> None:
        """Delete all vectors."""
        ...
