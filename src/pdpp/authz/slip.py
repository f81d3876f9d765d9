"""Slips: secrets that live for minutes or hours. One rule: random text out, only its hash kept."""

import secrets
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pdpp.authz.token import hash_token
from pdpp.store.vault import Shelf, Slip


class SlipKind(StrEnum):
    REVIEW = "review"
    CODE = "code"
    DEVICE = "device"
    USER_CODE = "user_code"
    PUSHED = "pushed"
    SESSION = "session"


_PREFIXES = {
    SlipKind.REVIEW: "rev_",
    SlipKind.CODE: "code_",
    SlipKind.DEVICE: "dev_",
    SlipKind.PUSHED: "urn:ietf:params:oauth:request_uri:",
    SlipKind.SESSION: "ses_",
}


def draw(
    kind: SlipKind,
    body: Mapping[str, Any],
    now: int,
    life: int,
    *,
    client_id: str | None = None,
    secret: str | None = None,
) -> tuple[str, Slip]:
    """Return a new slip's text, to be handed out once, and what is kept of it."""
    if secret is None:
        secret = _PREFIXES[kind] + secrets.token_urlsafe(32)
    return secret, Slip(hash_token(secret), kind.value, body, now, now + life, client_id)


def find(shelf: Shelf, kind: SlipKind, secret: str, now: int) -> Slip | None:
    """Return a slip that is still good: known, unused and in time."""
    slip = shelf.slip(kind.value, hash_token(secret))
    if slip is None or slip.used_at is not None or slip.expires_at <= now:
        return None
    return slip
