"""The address of a database, with whose records in it are meant."""

from dataclasses import dataclass, field

from pdpp.configuration.kind import without_password


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a PostgreSQL database is, and which of its owners is served."""

    url: str = field(repr=False)
    """With the password, if it has one: never shown."""
    owner: str

    def __str__(self) -> str:
        return without_password(self.url)
