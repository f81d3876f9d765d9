"""The vault: what the authorization server keeps, and the one way to decide something about it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from pdpp.model.grant import Allowance, Grant, Package


@dataclass(frozen=True, slots=True)
class RegisteredClient:
    """A program that asks for access, as it describes itself; nothing it says is verified.

    ``id`` is one we gave, or the https address of the client's own document; that document is read
    again after ``fresh_until``. ``approved_at`` is when the owner first let it read.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    created_at: int
    grant_types: tuple[str, ...] = ("authorization_code", "refresh_token")
    about: Mapping[str, str] = field(default_factory=dict)
    fresh_until: int | None = None
    approved_at: int | None = None


@dataclass(frozen=True, slots=True)
class ShortLivedSecret:
    """A short-lived secret that was handed out: only its hash is kept, with what it stands for."""

    hash: str
    kind: str
    body: Mapping[str, Any]
    created_at: int
    expires_at: int
    client_id: str | None = None
    used_at: int | None = None
    address: str | None = None
    """Where the request came from that made it, where a stranger's did."""


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token as it is kept: only its hash, what it opens, where, and until when.

    ``audience`` is the resource it was issued for; a token without one is good at all of ours.
    ``family`` names what came from one approval.
    """

    hash: str
    kind: str
    label: str
    created_at: int
    grant_id: str | None = None
    expires_at: int | None = None
    revoked_at: int | None = None
    package_id: str | None = None
    audience: str | None = None
    family: str | None = None


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """A refresh token as it is kept: its family is everything that came from one approval."""

    hash: str
    family: str
    client_id: str
    scope: str
    created_at: int
    expires_at: int
    grant_id: str | None = None
    package_id: str | None = None
    audience: str | None = None
    used_at: int | None = None
    successor: str | None = None
    revoked_at: int | None = None


@dataclass(frozen=True, slots=True)
class Consent:
    """The evidence of an approval: who, what, when, and the exact text the owner saw."""

    id: str
    client_id: str
    decided_at: int
    digest: str
    text: str
    revisions: tuple[str, ...]
    grant_id: str | None = None
    package_id: str | None = None


class VaultReader(Protocol):
    """What can be looked up."""

    def client(self, client_id: str) -> RegisteredClient | None: ...
    def clients(self) -> Iterator[RegisteredClient]:
        """Yield every client the owner approved once, the oldest first."""
        ...

    def secret(self, kind: str, secret_hash: str) -> ShortLivedSecret | None:
        """Return a secret, used or not, in time or not."""
        ...

    def secrets(self, kind: str, now: int, most: int) -> Sequence[ShortLivedSecret]:
        """Return the newest secrets of a kind that are unused and in time."""
        ...

    def outstanding(self, address: str | None = None) -> tuple[int, int]:
        """Return how many requests of strangers are kept, and their bytes."""
        ...

    def refresh(self, refresh_hash: str) -> RefreshToken | None: ...
    def consents(self, client_id: str | None = None) -> Iterator[Consent]:
        """Yield the evidence of approvals, the newest first."""
        ...

    def setting(self, name: str) -> bytes | None: ...
    def grant(self, grant_id: str) -> Grant | None: ...
    def grants(self) -> Iterator[Grant]:
        """Yield every grant, ended ones too, the oldest first."""
        ...

    def held_grants(self) -> list[str]:
        """Return the grants that wait for the owner since the store was restored here."""
        ...

    def package(self, package_id: str) -> Package | None: ...
    def approval_bytes(self, grant_id: str | None, package_id: str | None) -> int:
        """Return how long what a grant opens is as it is kept, or all grants of a package."""
        ...

    def package_grants(self, package_id: str) -> Iterator[Grant]:
        """Yield the grants of a package in the order they were made."""
        ...

    def token(self, token_hash: str) -> Token | None: ...
    def tokens(self, kind: str) -> Iterator[Token]:
        """Yield the tokens of a kind, ended ones too, the oldest first."""
        ...


class VaultTransaction(VaultReader, Protocol):
    """What can be changed, inside one transaction, which also sees its own changes."""

    def keep_client(self, client: RegisteredClient) -> None:
        """Add a client, or replace what is kept of it."""
        ...

    def trim_clients(self, most: int) -> None:
        """Forget the oldest clients that were never approved until there are no more than this."""
        ...

    def add_secret(self, secret: ShortLivedSecret) -> None: ...
    def use_secret(self, secret: ShortLivedSecret, now: int) -> bool:
        """Use up a short-lived secret; tell whether it was still unused."""
        ...

    def change_secret(self, secret: ShortLivedSecret) -> None:
        """Replace the body and the end of a secret."""
        ...

    def drop_secret(self, secret: ShortLivedSecret) -> None:
        """Forget one secret."""
        ...

    def drop_ended_requests(self, now: int, most: int) -> int:
        """Forget requests that nobody approved in time, a few; return how many those were."""
        ...

    def drop_secrets(self, kind: str, client_id: str | None = None) -> None:
        """Forget the short-lived secrets of a kind, of one client or of all."""
        ...

    def add_refresh_token(self, refresh: RefreshToken) -> None: ...
    def use_refresh_token(self, refresh_hash: str, successor: str, now: int) -> None: ...
    def withdraw(self, refresh: RefreshToken, now: int) -> None:
        """Revoke what was given for a refresh token: its successor and the access token with it."""
        ...

    def revoke_family(self, family: str, now: int) -> None:
        """Revoke every refresh token and access token of a family."""
        ...

    def add_consent(self, consent: Consent) -> None: ...
    def keep_setting(self, name: str, value: bytes | None) -> None: ...
    def add_grant(self, grant: Grant) -> None: ...
    def change_allowances(
        self, grant_id: str, allowances: Sequence[Allowance], removed: Collection[str] = ()
    ) -> None:
        """Let a grant open something else, where accounts were merged or ``removed``."""
        ...

    def add_package(self, package: Package) -> None: ...
    def add_token(self, token: Token) -> None: ...
    def revoke_token(self, token_hash: str, now: int) -> bool:
        """Revoke one access token; tell whether there was one to revoke."""
        ...

    def revoke_grant(self, grant_id: str, now: int) -> bool:
        """Revoke a grant and its tokens; tell whether there was one to revoke."""
        ...

    def revoke_package(self, package_id: str, now: int) -> bool:
        """Revoke a package with its grants and tokens; tell whether there was one to revoke."""
        ...

    def revoke_client(self, client_id: str, now: int) -> None:
        """Revoke everything a client holds and forget what it has under way."""
        ...

    def end_approval(self, grant_id: str | None, package_id: str | None, at: int) -> None:
        """Let a grant or a package with its grants end at a moment that was not known before."""
        ...

    def sweep(self, now: int, idle: int) -> int:
        """Forget what has ended and clients never approved; return how many rows that were."""
        ...


class Vault(VaultReader, Protocol):
    """Looked up at any time, changed only in a transaction, so that a race has one winner."""

    def confirm(self, grant_ids: Collection[str] | None) -> None:
        """Let held grants be good again, or all that is held; what is known as revoked stays so."""
        ...

    def transaction(self) -> AbstractContextManager[VaultTransaction]:
        """Hold one write transaction: everything decided in it is kept, or nothing."""
        ...

    def keep_token(self, token: Token) -> None:
        """Keep a token in a transaction of its own."""
        ...

    def keep_grant(self, grant: Grant, tokens: Sequence[Token] = ()) -> None:
        """Keep a grant with its tokens in a transaction of its own."""
        ...

    def keep_package(
        self, package: Package, grants: Sequence[Grant], tokens: Sequence[Token] = ()
    ) -> None:
        """Keep a package with its grants and tokens in a transaction of its own."""
        ...
