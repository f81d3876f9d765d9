"""Texts of documents: pages one after another, bounded, with what the document says of itself."""

from collections.abc import Iterable
from dataclasses import dataclass, field

LONGEST_TEXT = 1_000_000
MOST_PAGES = 2_000


class NotReadable(Exception):
    """A document whose text cannot be had, with the reason."""


@dataclass(slots=True)
class PagedText:
    """The text of a document and where its pages begin in it."""

    text: str = ""
    offsets: list[int] = field(default_factory=list)
    lost_pages: int = 0
    lost_parts: int = 0
    """What is missing in pages: an element that is too long to be held, or a text of a cell."""
    lost_notes: int = 0
    """Comments on pages and fields of forms that cannot be read."""
    is_cut: bool = False
    title: str = ""
    author: str = ""
    created: str | None = None
    modified: str | None = None

    def take(self, pages: Iterable[str | None]) -> None:
        """Put pages together; one that is None could not be read."""
        pieces: list[str] = []
        length = 0
        for number, page in enumerate(pages):
            if number >= MOST_PAGES or length >= LONGEST_TEXT:
                self.is_cut = True
                break
            self.offsets.append(length)
            self.lost_pages += page is None
            piece = (page or "").strip()
            self.is_cut |= len(piece) > LONGEST_TEXT - length
            piece = piece[: LONGEST_TEXT - length]
            pieces.append(piece)
            length += len(piece) + 1
        self.text = "\n".join(pieces)
