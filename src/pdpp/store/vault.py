"""The vault: what the authorization server keeps, and the one way to decide something about it."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from pdpp.model.grant import Grant, Package
from pdpp.store.port import Token


@dataclass(frozen=True, slots=True)
class Client:
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
class Slip:
    """A short-lived secret that was handed out: only its hash is kept, with what it stands for."""

    hash: str
    kind: str
    body: Mapping[str, Any]
    created_at: int
    expires_at: int
    client_id: str | None = None
    used_at: int | None = None


@dataclass(frozen=True, slots=True)
class Refresh:
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
    shown: str
    revisions: tuple[str, ...]
    grant_id: str | None = None
    package_id: str | None = None


class Shelf(Protocol):
    """What can be looked up."""

    def client(self, client_id: str) -> Client | None: ...
    def clients(self) -> Iterator[Client]:
        """Yield every client the owner approved once, the oldest first."""
        ...

    def slip(self, kind: str, slip_hash: str) -> Slip | None:
        """Return a slip, used or not, in time or not."""
        ...

    def refresh(self, refresh_hash: str) -> Refresh | None: ...
    def consents(self, client_id: str | None = None) -> Iterator[Consent]:
        """Yield the evidence of approvals, the newest first."""
        ...

    def setting(self, name: str) -> bytes | None: ...
    def grant(self, grant_id: str) -> Grant | None: ...
    def package(self, package_id: str) -> Package | None: ...
    def token(self, token_hash: str) -> Token | None: ...
    def tokens(self, kind: str) -> Iterator[Token]:
        """Yield the tokens of a kind, ended ones too, the oldest first."""
        ...


class Ledger(Shelf, Protocol):
    """What can be changed, inside one transaction, which also sees its own changes."""

    def keep_client(self, client: Client) -> None:
        """Add a client, or replace what is kept of it."""
        ...

    def trim_clients(self, most: int) -> None:
        """Forget the oldest clients that were never approved until there are no more than this."""
        ...

    def add_slip(self, slip: Slip) -> None: ...
    def use_slip(self, slip: Slip, now: int) -> bool:
        """Use up a slip; tell whether it was still unused."""
        ...

    def change_slip(self, slip: Slip) -> None:
        """Replace the body and the end of a slip."""
        ...

    def drop_slips(self, kind: str, client_id: str | None = None) -> None:
        """Forget the slips of a kind, of one client or of all."""
        ...

    def add_refresh(self, refresh: Refresh) -> None: ...
    def use_refresh(self, refresh_hash: str, successor: str, now: int) -> None: ...
    def withdraw(self, refresh: Refresh, now: int) -> None:
        """Revoke what was given for a refresh token: its successor and the access token with it."""
        ...

    def revoke_family(self, family: str, now: int) -> None:
        """Revoke every refresh token and access token of a family."""
        ...

    def add_consent(self, consent: Consent) -> None: ...
    def keep_setting(self, name: str, value: bytes | None) -> None: ...
    def add_grant(self, grant: Grant) -> None: ...
    def add_package(self, package: Package) -> None: ...
    def add_token(self, token: Token) -> None: ...
    def revoke_token(self, token_hash: str, now: int) -> None: ...
    def revoke_client(self, client_id: str, now: int) -> None:
        """Revoke everything a client holds and forget what it has under way."""
        ...

    def end_approval(self, grant_id: str | None, package_id: str | None, at: int) -> None:
        """Let a grant or a package with its grants end at a moment that was not known before."""
        ...

    def sweep(self, now: int, idle: int) -> int:
        """Forget what has ended and clients never approved; return how many rows that were."""
        ...


class Vault(Shelf, Protocol):
    """Looked up at any time, changed only in a transaction, so that a race has one winner."""

    def deciding(self) -> AbstractContextManager[Ledger]: ...
