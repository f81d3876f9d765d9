"""The address of a database, with whose records in it are meant."""

from dataclasses import dataclass, field

from pdpp.configuration.kind import without_password
from pdpp.store.bucket import BucketAddress


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a PostgreSQL database is, and which of its owners is served."""

    url: str = field(repr=False)
    """With the password, if it has one: never shown."""
    owner: str
    replica_url: str | None = field(default=None, repr=False)
    """Where a replica is that may answer reads; with its password, too."""
    read_lag_seconds: float = 0.0
    """How far behind it may be for clients that tolerate it."""
    bucket: BucketAddress | None = None
    """Where large blobs are, None where they are in the data folder."""

    def __str__(self) -> str:
        return without_password(self.url)
