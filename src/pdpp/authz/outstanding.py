"""Outstanding requests: how many strangers may have wait here at once, and how large they may be.

Anybody who reaches the server may ask. What asks waits in the store until its owner decides or its
time is over, so it is bounded: in all and by address, in number and in bytes. Each new request
first takes away a few that have ended, so that the bounds hold for the file, too.
"""

from dataclasses import dataclass

from pdpp.model.errors import OAuthError
from pdpp.store.vault import VaultTransaction

_DROPPED_WITH_EACH = 32


@dataclass(frozen=True, slots=True)
class RequestBounds:
    """How many requests may wait, and their bytes, in all and from one address."""

    requests: int = 1_000
    bytes: int = 8 << 20
    address_requests: int = 200
    address_bytes: int = 2 << 20


def make_room(
    transaction: VaultTransaction, bounds: RequestBounds, address: str | None, now: int
) -> None:
    """Forget a few requests that have ended; refuse a new one where too much waits already."""
    transaction.drop_ended_requests(now, _DROPPED_WITH_EACH)
    if address is None:
        return
    count, size = transaction.outstanding(address)
    if count >= bounds.address_requests or size >= bounds.address_bytes:
        raise _too_many("Too many requests from this address wait for the owner", 429)
    count, size = transaction.outstanding()
    if count >= bounds.requests or size >= bounds.bytes:
        raise _too_many("Too many requests wait for the owner", 503)


def _too_many(message: str, status: int) -> OAuthError:
    return OAuthError(
        f"{message}; try again later.",
        error="temporarily_unavailable",
        status=status,
        headers={"Retry-After": "60"},
    )
