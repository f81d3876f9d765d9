"""Pieces of pages: what repeats on an HTML page of any size, cut out one at a time."""

from collections.abc import Iterator

from pdpp.sources.reading.tree import FileEntry

_CHUNK = 1 << 18
_LARGEST = 4 << 20


def page_pieces(entry: FileEntry, begin: bytes) -> Iterator[bytes | None]:
    """Yield what follows each beginning up to the next; None for one that is too large."""
    rest, inside = b"", False
    with entry.open() as stream:
        while chunk := stream.read(_CHUNK):
            *whole, rest = (rest + chunk).split(begin)
            for piece in whole:
                if inside:
                    yield piece if len(piece) <= _LARGEST else None
                inside = True
            # No longer than it takes to see that it is too large.
            if len(rest) > 2 * _LARGEST:
                rest = rest[-_LARGEST - 1 :]
    if inside:
        yield rest if len(rest) <= _LARGEST else None
