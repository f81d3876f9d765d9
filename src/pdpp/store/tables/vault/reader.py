"""Looking up: clients, short-lived secrets, refresh tokens and consents as they are looked up."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import orjson

from pdpp.model.grant import Grant, Package
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.vault import grants as grant_rows
from pdpp.store.tables.vault import holding
from pdpp.store.vault import Consent, RefreshToken, RegisteredClient, ShortLivedSecret, Token

CLIENT_COLUMNS = (
    "client_id, name, redirect_uris, created_at, grant_types, about, fresh_until, approved_at"
)
SHORT_LIVED_COLUMNS = "hash, kind, body, created_at, expires_at, client_id, used_at, address"
REFRESH_COLUMNS = (
    "hash, family, client_id, scope, created_at, expires_at, grant_id, package_id, audience, "
    "used_at, successor, revoked_at"
)
CONSENT_COLUMNS = "consent_id, client_id, decided_at, digest, text, revisions, grant_id, package_id"


class TableVaultReader(ABC):
    """Reads grants, tokens, clients and secrets through the connection that it is given."""

    @property
    @abstractmethod
    def _db(self) -> TableReader:
        """Return the connection."""

    def _row(self, statement: str, *values: Any) -> tuple[Any, ...] | None:
        return next(iter(self._db.execute(statement, (OWNER, *values)).fetchall()), None)

    def client(self, client_id: str) -> RegisteredClient | None:
        """Return a client."""
        row = self._row(
            f"SELECT {CLIENT_COLUMNS} FROM client WHERE owner = ? AND client_id = ?", client_id
        )
        return None if row is None else _client(row)

    def clients(self) -> Iterator[RegisteredClient]:
        """Yield every client the owner approved once, the oldest first."""
        rows = self._db.execute(
            f"SELECT {CLIENT_COLUMNS} FROM client WHERE owner = ? AND approved_at IS NOT NULL"
            " ORDER BY approved_at, client_id",
            (OWNER,),
        ).fetchall()
        return map(_client, rows)

    def secret(self, kind: str, secret_hash: str) -> ShortLivedSecret | None:
        """Return a secret, used or not, in time or not."""
        row = self._row(
            f"SELECT {SHORT_LIVED_COLUMNS} FROM short_lived_secret"
            " WHERE owner = ? AND kind = ? AND hash = ?",
            kind,
            secret_hash,
        )
        return None if row is None else _secret(row)

    def secrets(self, kind: str, now: int, most: int) -> list[ShortLivedSecret]:
        """Return the newest secrets of a kind that are unused and in time."""
        rows = self._db.execute(
            f"SELECT {SHORT_LIVED_COLUMNS} FROM short_lived_secret WHERE owner = ? AND kind = ?"
            " AND used_at IS NULL AND expires_at > ? ORDER BY created_at DESC, hash LIMIT ?",
            (OWNER, kind, now, most),
        ).fetchall()
        return [_secret(row) for row in rows]

    def outstanding(self, address: str | None = None) -> tuple[int, int]:
        """Return how many requests wait that came from strangers, and how many bytes they take."""
        row = self._row(
            "SELECT count(*), ifnull(sum(size), 0) FROM short_lived_secret"
            # A partial index of strangers' requests alone: the count stays cheap while somebody
            # floods the server.
            " INDEXED BY short_lived_secret_address WHERE owner = ? AND address IS NOT NULL"
            " AND address = coalesce(?, address)",
            address,
        )
        return (0, 0) if row is None else (int(row[0]), int(row[1]))

    def refresh(self, refresh_hash: str) -> RefreshToken | None:
        """Return a refresh token by its hash."""
        row = self._row(
            f"SELECT {REFRESH_COLUMNS} FROM refresh_token WHERE owner = ? AND hash = ?",
            refresh_hash,
        )
        return None if row is None else RefreshToken(*row)

    def consents(self, client_id: str | None = None) -> Iterator[Consent]:
        """Yield the evidence of approvals, the newest first."""
        rows = self._db.execute(
            f"SELECT {CONSENT_COLUMNS} FROM consent WHERE owner = ?"
            " AND client_id = coalesce(?, client_id) ORDER BY decided_at DESC, consent_id",
            (OWNER, client_id),
        ).fetchall()
        return map(_consent, rows)

    def setting(self, name: str) -> bytes | None:
        """Return a value that was kept under a name."""
        row = self._row("SELECT value FROM setting WHERE owner = ? AND name = ?", name)
        return None if row is None else bytes(row[0])

    def grant(self, grant_id: str) -> Grant | None:
        """Return a grant."""
        return grant_rows.grant(self._db, grant_id)

    def grants(self) -> Iterator[Grant]:
        """Yield every grant, ended ones too, the oldest first."""
        return grant_rows.grants(self._db)

    def held_grants(self) -> list[str]:
        """Return the grants that wait for the owner since the store was restored here."""
        return holding.held_grants(self._db)

    def package(self, package_id: str) -> Package | None:
        """Return a package."""
        return grant_rows.package(self._db, package_id)

    def approval_bytes(self, grant_id: str | None, package_id: str | None) -> int:
        """Return how long what a grant opens is as it is kept, or all grants of a package."""
        return grant_rows.approval_bytes(self._db, grant_id, package_id)

    def package_grants(self, package_id: str) -> Iterator[Grant]:
        """Yield the grants of a package in the order they were made."""
        return iter(grant_rows.package_grants(self._db, package_id))

    def token(self, token_hash: str) -> Token | None:
        """Return a token by its hash."""
        return grant_rows.token(self._db, token_hash)

    def tokens(self, kind: str) -> Iterator[Token]:
        """Yield the tokens of a kind, ended ones too, the oldest first."""
        return iter(grant_rows.tokens(self._db, kind))


def _secret(row: Any) -> ShortLivedSecret:
    stored_hash, kind, body, *rest = row
    return ShortLivedSecret(stored_hash, kind, orjson.loads(body), *rest)


def _client(row: tuple[Any, ...]) -> RegisteredClient:
    client_id, name, redirect_uris, created_at, grant_types, about, *times = row
    return RegisteredClient(
        client_id,
        name,
        tuple(orjson.loads(redirect_uris)),
        created_at,
        tuple(orjson.loads(grant_types)),
        orjson.loads(about),
        *times,
    )


def _consent(row: tuple[Any, ...]) -> Consent:
    consent_id, client_id, decided_at, digest, text, revisions, grant_id, package_id = row
    return Consent(
        consent_id,
        client_id,
        decided_at,
        digest,
        text,
        tuple(orjson.loads(revisions)),
        grant_id,
        package_id,
    )
