"""Issuance: codes, device codes and refresh tokens become tokens, each of them once."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.token import TokenKind, hash_token, mint
from pdpp.model.errors import OAuthError
from pdpp.model.grant import Grant, Package
from pdpp.store.vault import Ledger, Refresh, Slip

NOT_GOOD = "It is unknown, used, expired or revoked; start again."


@dataclass(frozen=True, slots=True)
class Warrant:
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
    def of_slip(cls, slip: Slip, *, refreshes: bool) -> "Warrant":
        """Return what a code or a device code stands for."""
        body: Mapping[str, Any] = slip.body
        return cls(
            family=body["family"],
            client_id=str(slip.client_id),
            scope=body["scope"],
            grant_id=body["grant_id"],
            package_id=body["package_id"],
            audience=body["audience"],
            refreshes=refreshes and not body["single_use"],
            detailed=body["detailed"],
        )

    @classmethod
    def of_refresh(cls, refresh: Refresh) -> "Warrant":
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
class Issued:
    """Tokens as they are handed out, once."""

    access: str
    refresh: str | None
    warrant: Warrant
    issued_at: int
    expires_at: int


class Issuer:
    """Issues tokens inside one transaction, at one moment."""

    def __init__(self, ledger: Ledger, lifetimes: Lifetimes, now: int) -> None:
        self._ledger = ledger
        self._lifetimes = lifetimes
        self._now = now

    def refuse_replay(self, slip: Slip) -> None:
        """End everything a code gave when it comes a second time: one of the two is a thief."""
        if slip.used_at is not None:
            self._ledger.revoke_family(slip.body["family"], self._now)
            raise invalid_grant()
        if slip.expires_at <= self._now:
            raise invalid_grant()

    def redeem(self, slip: Slip, audience: str | None, *, refreshes: bool) -> Issued:
        """Return the tokens for a code or an approved device, which is used up."""
        self.refuse_replay(slip)
        self._ledger.use_slip(slip, self._now)
        warrant = _narrowed(Warrant.of_slip(slip, refreshes=refreshes), audience)
        end = self._end_of(warrant)
        issued = self._issue(warrant, end)
        if slip.body["single_use"]:
            self._ledger.end_approval(warrant.grant_id, warrant.package_id, issued.expires_at)
        return issued

    def rotate(self, refresh: Refresh, audience: str | None) -> Issued:
        """Return new tokens for a refresh token, which is replaced.

        One that comes again shortly after, while nobody has used its successor, belongs to a
        client that never got the answer: the successor and what came with it are withdrawn. Any
        other that comes again ends its family.
        """
        if refresh.revoked_at is not None or (
            refresh.used_at is not None and not self._answer_was_lost(refresh)
        ):
            self._ledger.revoke_family(refresh.family, self._now)
            raise invalid_grant()
        if refresh.expires_at <= self._now:
            raise invalid_grant()
        warrant = Warrant.of_refresh(refresh)
        end = self._end_of(warrant)
        if refresh.used_at is not None:
            self._ledger.withdraw(refresh, self._now)
        issued = self._issue(_narrowed(warrant, audience), end)
        self._ledger.use_refresh(refresh.hash, hash_token(str(issued.refresh)), self._now)
        return issued

    def _answer_was_lost(self, refresh: Refresh) -> bool:
        if refresh.used_at is None or self._now - refresh.used_at > self._lifetimes.grace:
            return False
        successor = self._ledger.refresh(refresh.successor or "")
        return successor is not None and successor.used_at is successor.revoked_at is None

    def _end_of(self, warrant: Warrant) -> int | None:
        """Return when the approval ends; refuse when it has."""
        approval: Grant | Package | None
        if warrant.package_id is not None:
            approval = self._ledger.package(warrant.package_id)
        else:
            approval = self._ledger.grant(warrant.grant_id or "")
        if approval is None or approval.revoked_at is not None:
            raise invalid_grant()
        if approval.expires_at is not None and approval.expires_at <= self._now:
            raise invalid_grant()
        return approval.expires_at

    def _issue(self, warrant: Warrant, end: int | None) -> Issued:
        """Make an access token and, where the client may refresh, a refresh token."""
        expires_at = _first(self._now + self._lifetimes.access, end)
        access, token = mint(
            TokenKind.CLIENT if warrant.package_id is None else TokenKind.PACKAGE,
            warrant.client_id,
            self._now,
            grant_id=warrant.grant_id,
            package_id=warrant.package_id,
            expires_at=expires_at,
            audience=warrant.audience,
        )
        self._ledger.add_token(replace(token, family=warrant.family))
        refresh = self._add_refresh(warrant, end) if warrant.refreshes else None
        return Issued(access, refresh, warrant, self._now, expires_at)

    def _add_refresh(self, warrant: Warrant, end: int | None) -> str:
        secret = f"pdpp_refresh_{secrets.token_urlsafe(32)}"
        self._ledger.add_refresh(
            Refresh(
                hash=hash_token(secret),
                family=warrant.family,
                client_id=warrant.client_id,
                scope=warrant.scope,
                created_at=self._now,
                expires_at=_first(self._now + self._lifetimes.refresh, end),
                grant_id=warrant.grant_id,
                package_id=warrant.package_id,
                audience=warrant.audience,
            )
        )
        return secret


def _narrowed(warrant: Warrant, audience: str | None) -> Warrant:
    """Return a warrant for the resource a token request names, which cannot be another one."""
    if audience is None or audience == warrant.audience:
        return warrant
    if warrant.audience is not None:
        raise OAuthError("This approval is for another resource.", error="invalid_target")
    return replace(warrant, audience=audience)


def _first(moment: int, end: int | None) -> int:
    return moment if end is None else min(moment, end)


def invalid_grant() -> OAuthError:
    """Return the one answer for every code or token that is not good, whatever the reason."""
    return OAuthError(NOT_GOOD, error="invalid_grant")
