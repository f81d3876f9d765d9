"""Grants: what the owner approved for one client, resolved to plain facts when it was made."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol


class AccessMode(StrEnum):
    SINGLE_USE = "single_use"
    CONTINUOUS = "continuous"


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open stretch of time, ``since`` included and ``until`` not, in microseconds."""

    since: int | None = None
    until: int | None = None

    def intersect(self, other: "Interval") -> "Interval":
        """Return the stretch both cover."""
        since = max((b for b in (self.since, other.since) if b is not None), default=None)
        until = min((b for b in (self.until, other.until) if b is not None), default=None)
        return Interval(since, until)

    def holds(self, moment: int | None) -> bool:
        """Tell whether a moment lies inside; none does not."""
        if moment is None or (self.since is not None and moment < self.since):
            return False
        return self.until is None or moment < self.until

    @property
    def empty(self) -> bool:
        """Tell whether no moment lies inside."""
        return self.since is not None and self.until is not None and self.since >= self.until


@dataclass(frozen=True, slots=True)
class Allowance:
    """One stream of one connection that a grant opens, and how far.

    ``fields`` is always the explicit list, resolved against the declaration revision named here;
    ``whole`` says that the owner chose every field of that revision. ``keys`` limits the records
    by key, ``time`` by the declared consent time.
    """

    connection_id: str
    stream: str
    revision: str
    fields: tuple[str, ...]
    whole: bool = True
    time: Interval | None = None
    keys: frozenset[str] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the allowance as JSON data."""
        return {
            "connection_id": self.connection_id,
            "stream": self.stream,
            "revision": self.revision,
            "fields": list(self.fields),
            "whole": self.whole,
            "since": self.time.since if self.time else None,
            "until": self.time.until if self.time else None,
            "record_ids": sorted(self.keys) if self.keys is not None else None,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Allowance":
        """Return the allowance that ``as_json`` wrote."""
        since, until = data["since"], data["until"]
        keys = data["record_ids"]
        return cls(
            connection_id=data["connection_id"],
            stream=data["stream"],
            revision=data["revision"],
            fields=tuple(data["fields"]),
            whole=data["whole"],
            time=None if since is None and until is None else Interval(since, until),
            keys=None if keys is None else frozenset(keys),
        )


@dataclass(frozen=True, slots=True)
class Grant:
    """An immutable approval; only revocation changes what it allows."""

    id: str
    client_id: str
    purpose: str
    access_mode: AccessMode
    allowances: tuple[Allowance, ...]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    package_id: str | None = None

    def revisions(self) -> Iterable[str]:
        """Return the declaration revisions this grant refers to."""
        return sorted({allowance.revision for allowance in self.allowances})


@dataclass(frozen=True, slots=True)
class Package:
    """Several grants approved at once for one client; its token reads only through them."""

    id: str
    client_id: str
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None


class Ending(Protocol):
    """What can be revoked and can expire: a grant, a package, a token."""

    @property
    def expires_at(self) -> int | None: ...
    @property
    def revoked_at(self) -> int | None: ...


ACTIVE, REVOKED, EXPIRED = "active", "revoked", "expired"


def status(given: Ending, now: int) -> str:
    """Return whether something that was given still opens anything."""
    if given.revoked_at is not None:
        return REVOKED
    ended = given.expires_at is not None and given.expires_at <= now
    return EXPIRED if ended else ACTIVE
