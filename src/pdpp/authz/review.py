"""Reviews: authorization requests that wait for the owner."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Review:
    """An authorization request that waits for the owner's decision.

    ``id`` stands in the address of the consent page and is useless without the owner's session.
    A device has no redirect URI; ``device`` is then the hash of its secret. Without ``details`` the
    owner picks what the client may see.
    """

    id: str
    issuer: str
    client_id: str
    redirect_uri: str | None
    state: str | None
    scope: str
    resource: str | None
    code_challenge: str | None
    details: tuple[Mapping[str, Any], ...]
    device: str | None
    created_at: int
    expires_at: int

    def as_json(self) -> dict[str, Any]:
        """Return what is kept; the id is not, only its hash is."""
        kept = asdict(self)
        return {name: kept[name] for name in _KEPT}

    @classmethod
    def from_json(
        cls, review_id: str, data: Mapping[str, Any], created_at: int, expires_at: int
    ) -> "Review":
        """Return the review that ``as_json`` wrote, among other things that may stand there."""
        kept = {name: data[name] for name in _KEPT}
        kept["details"] = tuple(kept["details"])
        return cls(**kept, id=review_id, created_at=created_at, expires_at=expires_at)


_KEPT = tuple(
    field.name for field in fields(Review) if field.name not in ("id", "created_at", "expires_at")
)


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """Where the owner's browser goes after a decision; nowhere when a device waits for it."""

    location: str | None
