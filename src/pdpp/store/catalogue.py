"""The catalogue: which sources, connections and streams a store holds, and how they are indexed."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from pdpp.model.declaration import Declaration, Kind, Stream

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
"""Letters and digits that nobody takes for one another."""


def new_connection_id() -> str:
    """Return an id for a new connection that tells nothing about the account."""
    return "cin_" + "".join(secrets.choice(_ALPHABET) for _ in range(12))


@dataclass(frozen=True, slots=True)
class Connection:
    """One configured account of a source."""

    connection_id: str
    connector_key: str
    display_name: str


@dataclass(frozen=True, slots=True)
class Feed:
    """One stream of one connection: the unit that grants open and that is counted.

    ``compared`` are the fields that records are filtered, sorted and grouped by, each with the kind
    it is compared as. ``searched`` are the fields whose words are searched, ``blobs`` the fields
    that refer to stored files.
    """

    id: int
    connection: Connection
    stream: Stream
    compared: Mapping[str, Kind]
    searched: tuple[str, ...]
    blobs: tuple[str, ...]

    @property
    def address(self) -> tuple[str, str]:
        """Return the connection and the stream, by which a catalogue finds this feed."""
        return self.connection.connection_id, self.stream.name


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything declared, as one immutable value."""

    version: int
    sources: Mapping[str, Declaration]
    revisions: Mapping[str, Declaration]
    connections: Mapping[str, Connection]
    feeds: Mapping[tuple[str, str], Feed]
    merged: Mapping[str, str] = field(default_factory=dict)
    """Connections that became part of others, each with the one it is part of now."""
    past: int = 0
    """Another one where the store goes on from an earlier moment: nothing made before holds then.
    """

    def account_of(self, connection_id: str) -> str:
        """Return the connection that one is part of now: mostly itself."""
        return self.merged.get(connection_id, connection_id)

    def feed_of(self, connection_id: str, stream: str) -> Feed | None:
        """Return a stream of a connection, or of what that is part of now."""
        return self.feeds.get((self.account_of(connection_id), stream))
