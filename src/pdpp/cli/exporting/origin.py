"""Origins: where an export comes from, over the network under a grant or from the store itself."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class ExportStream(NamedTuple):
    """One stream of one connection, with how many records it is said to have."""

    connection_id: str
    stream: str
    records: int | None = None


class ExportBatch(NamedTuple):
    """Lines of records, and where the next ones begin; without a cursor one begins anew."""

    lines: Sequence[bytes]
    cursor: str | None


class ExportOrigin(Protocol):
    """What can be exported."""

    scope: str
    name: str

    def connections(self) -> Sequence[Mapping[str, str]]:
        """Return the accounts."""
        ...

    def declarations(self) -> Iterator[tuple[str, bytes]]:
        """Yield the sources by their key, where whoever asks may have them."""
        ...

    def import_secret(self) -> bytes | None:
        """Return what importers hash keys with, where the owner exports the whole store."""
        ...

    def places(self) -> Sequence[ExportStream]:
        """Return what there are records of."""
        ...

    def batches(self, place: ExportStream, cursor: str | None) -> Iterator[ExportBatch]:
        """Yield the records of a place, from a cursor on."""
        ...

    def blobs(self) -> Iterator[str] | None:
        """Yield every blob there is, or None where only those that records refer to are known."""
        ...

    def save_blob(self, blob_id: str, path: Path) -> str | None:
        """Save a blob and return its media type, None where it is not to be had."""
        ...
