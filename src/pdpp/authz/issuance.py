"""Issuance: codes, device codes and refresh tokens become tokens, each of them once."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.token import TokenKind, hash_token, mint
from pdpp.model.errors import OAuthError
from pdpp.model.grant import Grant, Package
from pdpp.store.vault import RefreshToken, ShortLivedSecret, VaultTransaction

NOT_GOOD = "It is unknown, used, expired or revoked; start again."


@dataclass(frozen=True, slots=True)
class TokenBasis:
    """What a token is issued on: an approval, for one client, of one family."""

    family: str
    client_id: str
    scope: str
    grant_id: str | None
    package_id: str | None
    audience: str | None
    refreshes: bool
    detailed: bool = False
    """Whether the client asked with details, and so learns what of them was granted."""

    @classmethod
    def of_secret(cls, secret: ShortLivedSecret, *, refreshes: bool) -> "TokenBasis":
        """Return what a code or a device code stands for."""
        body: Mapping[str, Any] = secret.body
        return cls(
            family=body["family"],
            client_id=str(secret.client_id),
            scope=body["scope"],
            grant_id=body["grant_id"],
            package_id=body["package_id"],
            audience=body["audience"],
            refreshes=refreshes and not body["single_use"],
            detailed=body["detailed"],
        )

    @classmethod
    def of_refresh(cls, refresh: RefreshToken) -> "TokenBasis":
        """Return what a refresh token stands for."""
        return cls(
            family=refresh.family,
            client_id=refresh.client_id,
            scope=refresh.scope,
            grant_id=refresh.grant_id,
            package_id=refresh.package_id,
            audience=refresh.audience,
            refreshes=True,
        )


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """Tokens as they are handed out, once."""

    access: str
    refresh: str | None
    basis: TokenBasis
    issued_at: int
    expires_at: int


class Issuer:
    """Issues tokens inside one transaction, at one moment."""

    def __init__(self, transaction: VaultTransaction, lifetimes: Lifetimes, now: int) -> None:
        self._transaction = transaction
        self._lifetimes = lifetimes
        self._now = now

    def refuse_replay(self, secret: ShortLivedSecret) -> None:
        """End everything a code gave when it comes a second time: one of the two is a thief."""
        if secret.used_at is not None:
            self._transaction.revoke_family(secret.body["family"], self._now)
            raise invalid_grant()
        if secret.expires_at <= self._now:
            raise invalid_grant()

    def redeem(
        self, secret: ShortLivedSecret, audience: str | None, *, refreshes: bool
    ) -> IssuedTokens:
        """Return the tokens for a code or an approved device, which is used up."""
        self.refuse_replay(secret)
        self._transaction.use_secret(secret, self._now)
        basis = _narrowed(TokenBasis.of_secret(secret, refreshes=refreshes), audience)
        end = self._end_of(basis)
        issued = self._issue(basis, end)
        if secret.body["single_use"]:
            self._transaction.end_approval(basis.grant_id, basis.package_id, issued.expires_at)
        return issued

    def rotate(self, refresh: RefreshToken, audience: str | None) -> IssuedTokens:
        """Return new tokens for a refresh token, which is replaced.

        One that comes again shortly after, while nobody has used its successor, belongs to a
        client that never got the answer: the successor and what came with it are withdrawn. Any
        other that comes again ends its family.
        """
        if refresh.revoked_at is not None or (
            refresh.used_at is not None and not self._answer_was_lost(refresh)
        ):
            self._transaction.revoke_family(refresh.family, self._now)
            raise invalid_grant()
        if refresh.expires_at <= self._now:
            raise invalid_grant()
        basis = TokenBasis.of_refresh(refresh)
        end = self._end_of(basis)
        if refresh.used_at is not None:
            self._transaction.withdraw(refresh, self._now)
        issued = self._issue(_narrowed(basis, audience), end)
        self._transaction.use_refresh_token(
            refresh.hash, hash_token(str(issued.refresh)), self._now
        )
        return issued

    def _answer_was_lost(self, refresh: RefreshToken) -> bool:
        if refresh.used_at is None or self._now - refresh.used_at > self._lifetimes.grace:
            return False
        successor = self._transaction.refresh(refresh.successor or "")
        return successor is not None and successor.used_at is successor.revoked_at is None

    def _end_of(self, basis: TokenBasis) -> int | None:
        """Return when the approval ends; refuse when it has."""
        approval: Grant | Package | None
        if basis.package_id is not None:
            approval = self._transaction.package(basis.package_id)
        else:
            approval = self._transaction.grant(basis.grant_id or "")
        if approval is None or approval.revoked_at is not None:
            raise invalid_grant()
        if approval.expires_at is not None and approval.expires_at <= self._now:
            raise invalid_grant()
        return approval.expires_at

    def _issue(self, basis: TokenBasis, end: int | None) -> IssuedTokens:
        """Make an access token and, where the client may refresh, a refresh token."""
        expires_at = _first(self._now + self._lifetimes.access, end)
        access, token = mint(
            TokenKind.CLIENT if basis.package_id is None else TokenKind.PACKAGE,
            basis.client_id,
            self._now,
            grant_id=basis.grant_id,
            package_id=basis.package_id,
            expires_at=expires_at,
            audience=basis.audience,
        )
        self._transaction.add_token(replace(token, family=basis.family))
        refresh = self._add_refresh(basis, end) if basis.refreshes else None
        return IssuedTokens(access, refresh, basis, self._now, expires_at)

    def _add_refresh(self, basis: TokenBasis, end: int | None) -> str:
        secret = f"pdpp_refresh_{secrets.token_urlsafe(32)}"
        self._transaction.add_refresh_token(
            RefreshToken(
                hash=hash_token(secret),
                family=basis.family,
                client_id=basis.client_id,
                scope=basis.scope,
                created_at=self._now,
                expires_at=_first(self._now + self._lifetimes.refresh, end),
                grant_id=basis.grant_id,
                package_id=basis.package_id,
                audience=basis.audience,
            )
        )
        return secret


def _narrowed(basis: TokenBasis, audience: str | None) -> TokenBasis:
    """Return a basis for the resource a token request names, which cannot be another one."""
    if audience is None or audience == basis.audience:
        return basis
    if basis.audience is not None:
        raise OAuthError("This approval is for another resource.", error="invalid_target")
    return replace(basis, audience=audience)


def _first(moment: int, end: int | None) -> int:
    return moment if end is None else min(moment, end)


def invalid_grant() -> OAuthError:
    """Return the one answer for every code or token that is not good, whatever the reason."""
    return OAuthError(NOT_GOOD, error="invalid_grant")
