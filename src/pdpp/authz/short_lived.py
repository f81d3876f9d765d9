"""Short-lived secrets: codes, sessions, requests that wait. Only the hash of each is kept."""

import secrets
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pdpp.authz.token import hash_token
from pdpp.store.vault import ShortLivedSecret, VaultReader


class SecretKind(StrEnum):
    REVIEW = "review"
    CODE = "code"
    DEVICE = "device"
    USER_CODE = "user_code"
    PUSHED = "pushed"
    SESSION = "session"
    BROWSER = "browser"
    LOGIN_CODE = "login_code"
    CHALLENGE = "challenge"


_PREFIXES = {
    SecretKind.REVIEW: "rev_",
    SecretKind.CODE: "code_",
    SecretKind.DEVICE: "dev_",
    SecretKind.PUSHED: "urn:ietf:params:oauth:request_uri:",
    SecretKind.SESSION: "ses_",
    SecretKind.BROWSER: "brw_",
}


REOPENED = "waiting_"
"""Begins the name under which the owner opens a request again whose page was closed: its own name
is not kept, only the hash of it. Without the owner's session either is worth nothing."""


def new_secret(
    kind: SecretKind,
    body: Mapping[str, Any],
    now: int,
    life: int,
    *,
    client_id: str | None = None,
    text: str | None = None,
    address: str | None = None,
) -> tuple[str, ShortLivedSecret]:
    """Return a new secret's text, to be handed out once, and what is kept of it."""
    if text is None:
        text = _PREFIXES[kind] + secrets.token_urlsafe(32)
    return text, ShortLivedSecret(
        hash_token(text), kind.value, body, now, now + life, client_id, address=address
    )


def find_secret(
    vault: VaultReader, kind: SecretKind, text: str, now: int
) -> ShortLivedSecret | None:
    """Return a short-lived secret that is still good: known, unused and in time."""
    return _good(vault.secret(kind.value, hash_token(text)), now)


def find_review(vault: VaultReader, review_id: str, now: int) -> ShortLivedSecret | None:
    """Return a request that still waits, by its own name or by the one it is opened again with."""
    if review_id.startswith(REOPENED):
        return _good(vault.secret(SecretKind.REVIEW.value, review_id.removeprefix(REOPENED)), now)
    return find_secret(vault, SecretKind.REVIEW, review_id, now)


def _good(secret: ShortLivedSecret | None, now: int) -> ShortLivedSecret | None:
    if secret is None or secret.used_at is not None or secret.expires_at <= now:
        return None
    return secret
