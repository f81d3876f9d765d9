"""Tokens: random text a caller bears; only its hash is kept."""

import hashlib
import secrets
from enum import StrEnum

from pdpp.store.vault import Token


class TokenKind(StrEnum):
    OWNER = "owner"
    CLIENT = "client"
    PACKAGE = "mcp_package"
    RESOURCE_SERVER = "resource_server"


def hash_token(secret: str) -> str:
    """Return the hash under which a token is kept."""
    # A plain hash is enough: the secret has 256 random bits, which nobody guesses, so a slow hash
    # would only slow down every request.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def token_id(token: Token) -> str:
    """Return the name of a kept token: it tells tokens apart and opens nothing."""
    return f"tok_{token.hash[:16]}"


def mint(
    kind: TokenKind,
    label: str,
    now: int,
    *,
    grant_id: str | None = None,
    package_id: str | None = None,
    expires_at: int | None = None,
    audience: str | None = None,
) -> tuple[str, Token]:
    """Return a new token's text, to be shown once, and what is kept of it."""
    secret = f"pdpp_{kind.value.removeprefix('mcp_')}_{secrets.token_urlsafe(32)}"
    return secret, Token(
        hash=hash_token(secret),
        kind=kind.value,
        label=label,
        created_at=now,
        grant_id=grant_id,
        expires_at=expires_at,
        package_id=package_id,
        audience=audience,
    )
