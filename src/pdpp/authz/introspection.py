"""Introspection: what a token opens, told to a resource server that the owner trusts."""

from typing import Any

from pdpp.authz.client_metadata import READ_SCOPE
from pdpp.authz.granted import granted_details
from pdpp.authz.principal import Gate, Principal, bearer
from pdpp.authz.request import ServerOrigins
from pdpp.authz.token import TokenKind, hash_token
from pdpp.model.errors import AuthenticationError, Overloaded, PdppError
from pdpp.model.grant import ACTIVE, status
from pdpp.model.instant import SECOND
from pdpp.store.port import Store

SUBJECT_ID = "owner"
"""The one person a store belongs to."""

_ASKERS = (TokenKind.OWNER.value, TokenKind.RESOURCE_SERVER.value)


def may_introspect(store: Store, authorization: str | None, now: int) -> bool:
    """Tell whether a caller is the owner, or a resource server the owner made a secret for."""
    try:
        token = store.vault.token(hash_token(bearer(authorization)))
    except AuthenticationError:
        return False
    return token is not None and token.kind in _ASKERS and status(token, now) == ACTIVE


def introspect(gate: Gate, store: Store, secret: str, origins: ServerOrigins) -> dict[str, Any]:
    """Return what a token opens now; of one that opens nothing, only that."""
    try:
        principal = gate.admit(f"Bearer {secret}")
    except Overloaded:
        # Nobody knows now what it opens: a client must not be sent away for that.
        raise
    except PdppError:
        return {"active": False}
    token = principal.token
    facts: dict[str, Any] = {
        "active": True,
        "token_type": "Bearer",
        "iss": origins.issuer,
        "iat": token.created_at // SECOND,
        "pdpp_token_kind": token.kind,
        "subject_id": SUBJECT_ID,
        "sub": SUBJECT_ID,
    }
    if token.expires_at is not None:
        facts["exp"] = token.expires_at // SECOND
    if token.audience is not None:
        facts["aud"] = origins.outward(token.audience)
    return facts if principal.is_owner else facts | _approval(principal, store, gate)


def _approval(principal: Principal, store: Store, gate: Gate) -> dict[str, Any]:
    """Return what a client's token stands for: of a package, the grants that are still good."""
    approval = principal.package or principal.grant
    answer: dict[str, Any] = {
        "scope": READ_SCOPE,
        "client_id": approval.client_id if approval is not None else principal.token.label,
    }
    if principal.package is not None:
        answer["grant_package_id"] = principal.package.id
        grants = gate.good_grants(principal)
    else:
        answer["grant_id"] = principal.token.grant_id
        grants = [principal.grant] if principal.grant is not None else []
    return answer | {"authorization_details": granted_details(grants, store.catalogue())}
