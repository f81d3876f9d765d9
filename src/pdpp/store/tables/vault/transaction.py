"""Vault transactions: what the authorization server writes, on the one connection that writes."""

from collections.abc import Collection, Sequence
from typing import Any

import orjson

from pdpp.model.grant import Allowance, Grant, Package
from pdpp.model.instant import DAY
from pdpp.store.tables.database import TableConnection
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.vault import grants as grant_rows
from pdpp.store.tables.vault import holding
from pdpp.store.tables.vault.reader import (
    CLIENT_COLUMNS,
    CONSENT_COLUMNS,
    REFRESH_COLUMNS,
    SHORT_LIVED_COLUMNS,
    TableVaultReader,
)
from pdpp.store.vault import Consent, RefreshToken, RegisteredClient, ShortLivedSecret, Token

_MOST_SWEPT = 5_000
_KEPT_AFTER_END = DAY


class TableVaultTransaction(TableVaultReader):
    """Changes grants, tokens and clients in a transaction that its caller begins and ends."""

    def __init__(self, db: TableConnection) -> None:
        self._connection = db
        self.revoked: list[str] = []
        """What this transaction took back, as lines that are kept beside the database."""
        self.rotated: list[RefreshToken] = []
        """The refresh tokens that replaced others, which are kept beside the database as well."""

    @property
    def _db(self) -> TableConnection:
        return self._connection

    def _insert(self, table: str, columns: str, *values: Any, verb: str = "INSERT") -> None:
        places = ", ".join("?" * (len(values) + 1))
        self._db.execute(
            f"{verb} INTO {table} (owner, {columns}) VALUES ({places})", (OWNER, *values)
        )

    # Clients

    def keep_client(self, client: RegisteredClient) -> None:
        """Add a client, or replace what is kept of it."""
        self._insert(
            "client",
            CLIENT_COLUMNS,
            client.id,
            client.name,
            _json(client.redirect_uris),
            client.created_at,
            _json(client.grant_types),
            _json(client.about),
            client.fresh_until,
            client.approved_at,
            verb="INSERT OR REPLACE",
        )

    def revoke_client(self, client_id: str, now: int) -> None:
        """Revoke all grants and tokens of a client and delete its unfinished requests."""
        unended, times = holding.unended(self._db)
        of_client = f"WHERE owner = ? AND client_id = ? AND {unended}"
        for table, key, revoke in (
            ("package INDEXED BY package_client", "package_id", self.revoke_package),
            ("grant INDEXED BY grant_client", "grant_id", self.revoke_grant),
        ):
            rows = self._db.execute(
                f"SELECT {key} FROM {table} {of_client}", (OWNER, client_id, *times)
            )
            for (name,) in rows.fetchall():
                revoke(str(name), now)
        grant_rows.revoke(
            self._db, "refresh_token INDEXED BY refresh_token_client", "client_id", client_id, now
        )
        self._db.execute(
            "DELETE FROM short_lived_secret INDEXED BY short_lived_secret_client"
            " WHERE owner = ? AND client_id = ?",
            (OWNER, client_id),
        )

    def trim_clients(self, most: int) -> None:
        """Delete the oldest clients that were never approved until at most this many are left."""
        self._db.execute(
            "DELETE FROM client WHERE owner = ? AND client_id IN (SELECT client_id FROM client"
            " WHERE owner = ? AND approved_at IS NULL ORDER BY created_at DESC, client_id"
            " LIMIT -1 OFFSET ?)",
            (OWNER, OWNER, most),
        )

    # Short-lived secrets

    def add_secret(self, secret: ShortLivedSecret) -> None:
        """Keep a short-lived secret's hash."""
        body = _json(secret.body)
        self._insert(
            "short_lived_secret",
            f"{SHORT_LIVED_COLUMNS}, size",
            secret.hash,
            secret.kind,
            body,
            secret.created_at,
            secret.expires_at,
            secret.client_id,
            secret.used_at,
            secret.address,
            len(body),
        )

    def use_secret(self, secret: ShortLivedSecret, now: int) -> bool:
        """Use up a short-lived secret; tell whether it was still unused."""
        self._db.execute(
            "UPDATE short_lived_secret SET used_at = ? WHERE owner = ? AND kind = ? AND hash = ?"
            " AND used_at IS NULL",
            (now, OWNER, secret.kind, secret.hash),
        )
        return self._db.changes() > 0

    def change_secret(self, secret: ShortLivedSecret) -> None:
        """Replace the body and the end of a secret."""
        self._db.execute(
            "UPDATE short_lived_secret SET body = ?, expires_at = ?"
            " WHERE owner = ? AND kind = ? AND hash = ?",
            (_json(secret.body), secret.expires_at, OWNER, secret.kind, secret.hash),
        )

    def drop_secret(self, secret: ShortLivedSecret) -> None:
        """Forget one secret."""
        self._db.execute(
            "DELETE FROM short_lived_secret WHERE owner = ? AND kind = ? AND hash = ?",
            (OWNER, secret.kind, secret.hash),
        )

    def drop_ended_requests(self, now: int, most: int) -> int:
        """Forget requests that nobody approved in time, a few; return how many those were."""
        return self._delete(
            "short_lived_secret",
            "kind, hash",
            "expires_at < ? AND address IS NOT NULL"
            " AND ifnull(json_extract(body, '$.approved'), 0) = 0",
            now,
            most,
        )

    def drop_secrets(self, kind: str, client_id: str | None = None) -> None:
        """Forget the short-lived secrets of a kind, of one client or of all."""
        self._db.execute(
            "DELETE FROM short_lived_secret"
            " WHERE owner = ? AND kind = ? AND (? IS NULL OR client_id = ?)",
            (OWNER, kind, client_id, client_id),
        )

    # Tokens

    def add_refresh_token(self, refresh: RefreshToken) -> None:
        """Keep a refresh token's hash."""
        self._insert(
            "refresh_token",
            REFRESH_COLUMNS,
            refresh.hash,
            refresh.family,
            refresh.client_id,
            refresh.scope,
            refresh.created_at,
            refresh.expires_at,
            refresh.grant_id,
            refresh.package_id,
            refresh.audience,
            refresh.used_at,
            refresh.successor,
            refresh.revoked_at,
        )

    def use_refresh_token(self, refresh_hash: str, successor: str, now: int) -> None:
        """Remember what replaced a refresh token; the time of its first use stays."""
        self._db.execute(
            "UPDATE refresh_token SET used_at = coalesce(used_at, ?), successor = ?"
            " WHERE owner = ? AND hash = ?",
            (now, successor, OWNER, refresh_hash),
        )
        last = self.refresh(successor)
        if last is not None:
            self.rotated.append(last)

    def withdraw(self, refresh: RefreshToken, now: int) -> None:
        """Revoke what was given for a refresh token: its successor and the access token with it."""
        grant_rows.revoke(self._db, "refresh_token", "hash", str(refresh.successor), now)
        self._db.execute(
            "UPDATE token INDEXED BY token_family SET revoked_at = ? WHERE owner = ?"
            " AND family = ? AND created_at >= ? AND revoked_at IS NULL",
            (now, OWNER, refresh.family, refresh.used_at),
        )

    def revoke_family(self, family: str, now: int) -> None:
        """Revoke every refresh token and access token of a family."""
        self._note(grant_rows.revoke_family(self._db, family, now), "family", family)

    def add_token(self, token: Token) -> None:
        """Keep a token's hash."""
        grant_rows.add_token(self._db, token)

    def revoke_token(self, token_hash: str, now: int) -> bool:
        """Revoke one access token; tell whether there was one to revoke."""
        changed = grant_rows.revoke(self._db, "token", "hash", token_hash, now)
        return self._note(changed, "token", token_hash)

    def revoke_grant(self, grant_id: str, now: int) -> bool:
        """Revoke a grant and its tokens; tell whether there was one to revoke."""
        return self._note(grant_rows.revoke_grant(self._db, grant_id, now), "grant", grant_id)

    def revoke_package(self, package_id: str, now: int) -> bool:
        """Revoke a package with its grants and tokens; tell whether there was one to revoke."""
        return self._note(
            grant_rows.revoke_package(self._db, package_id, now), "package", package_id
        )

    def _note(self, changed: bool, kind: str, name: str) -> bool:
        if changed:
            self.revoked.append(f"{kind} {name}")
        return changed

    # Approvals

    def add_consent(self, consent: Consent) -> None:
        """Keep the evidence of an approval."""
        self._insert(
            "consent",
            CONSENT_COLUMNS,
            consent.id,
            consent.client_id,
            consent.decided_at,
            consent.digest,
            consent.text,
            _json(consent.revisions),
            consent.grant_id,
            consent.package_id,
        )

    def add_grant(self, grant: Grant) -> None:
        """Keep a grant."""
        grant_rows.add_grant(self._db, grant)

    def change_allowances(
        self, grant_id: str, allowances: Sequence[Allowance], removed: Collection[str] = ()
    ) -> None:
        """Replace what a grant allows; what it opened of ``removed`` accounts is taken back."""
        before, after = self._opened(grant_id), {a.connection_id for a in allowances}
        grant_rows.change_allowances(self._db, grant_id, allowances)
        for connection_id in sorted(before & {*removed}):
            self.revoked.append(f"closed {grant_rows.account_of_grant(grant_id, connection_id)}")
        # A merge may let a grant open an account under the id of one that was removed before.
        for connection_id in sorted(after - before):
            self.revoked.append(f"opened {grant_rows.account_of_grant(grant_id, connection_id)}")

    def _opened(self, grant_id: str) -> set[str]:
        grant = grant_rows.grant(self._db, grant_id)
        return set() if grant is None else {a.connection_id for a in grant.allowances}

    def add_package(self, package: Package) -> None:
        """Keep a package."""
        grant_rows.add_package(self._db, package)

    def end_approval(self, grant_id: str | None, package_id: str | None, at: int) -> None:
        """Let a grant or a package with its grants end at a moment that was not known before."""
        for table, column, value in (
            ("grant", "grant_id", grant_id),
            ("grant", "package_id", package_id),
            ("package", "package_id", package_id),
        ):
            self._db.execute(
                f"UPDATE {table} SET expires_at = ? WHERE owner = ? AND {column} = ?",
                (at, OWNER, value),
            )

    # Care

    def keep_setting(self, name: str, value: bytes | None) -> None:
        """Keep a value under a name, or forget it."""
        if value is None:
            self._db.execute("DELETE FROM setting WHERE owner = ? AND name = ?", (OWNER, name))
        else:
            self._insert("setting", "name, value", name, value, verb="INSERT OR REPLACE")

    def sweep(self, now: int, idle: int) -> int:
        """Forget what has ended and clients never approved; return how many rows that were."""
        uncollected = self._end_uncollected(now)
        self._end_keyless(now)
        ended = now - _KEPT_AFTER_END
        return uncollected + sum(
            self._delete(table, keys, condition, before)
            for table, keys, condition, before in (
                (
                    "short_lived_secret",
                    "kind, hash",
                    "expires_at < ? AND kind IN ('review', 'pushed', 'user_code')",
                    now,
                ),
                ("short_lived_secret", "kind, hash", "expires_at < ?", ended),
                ("token", "hash", "expires_at < ? AND family IS NOT NULL", ended),
                ("refresh_token", "hash", "expires_at < ?", ended),
                ("client", "client_id", "created_at < ? AND approved_at IS NULL", now - idle),
            )
        )

    def _delete(
        self, table: str, keys: str, condition: str, before: int, most: int = _MOST_SWEPT
    ) -> int:
        self._db.execute(
            f"DELETE FROM {table} WHERE owner = ? AND ({keys}) IN"
            f" (SELECT {keys} FROM {table} WHERE owner = ? AND {condition} LIMIT ?)",
            (OWNER, OWNER, before, most),
        )
        return self._db.changes()

    def _end_uncollected(self, now: int) -> int:
        """Revoke approvals whose code nobody came for: no token can ever open them.

        A few at a time, and without their bodies: a stranger decides how long those are.
        """
        rows = self._db.execute(
            "SELECT kind, hash, json_extract(body, '$.grant_id'),"
            " json_extract(body, '$.package_id') FROM short_lived_secret"
            " INDEXED BY short_lived_secret_end WHERE owner = ? AND expires_at < ?"
            " AND kind IN ('code', 'device') AND used_at IS NULL LIMIT ?",
            (OWNER, now, _MOST_SWEPT),
        ).fetchall()
        for kind, stored_hash, grant_id, package_id in rows:
            self._revoke_approval(grant_id, package_id, now)
            self._db.execute(
                "DELETE FROM short_lived_secret WHERE owner = ? AND kind = ? AND hash = ?",
                (OWNER, kind, stored_hash),
            )
        return len(rows)

    def _end_keyless(self, now: int) -> None:
        """Revoke approvals whose refresh tokens all are: they have one family, and get no other.

        Not while an access token of theirs is kept: who bears that is to ask for a new approval,
        and not to hear that the owner took one back.
        """
        unended, times = holding.unended(self._db)
        rows = self._db.execute(
            "SELECT max(grant_id), max(package_id) FROM refresh_token r WHERE owner = ?"
            f" GROUP BY owner, family HAVING count(CASE WHEN {unended} THEN 1 END) = 0"
            " AND NOT EXISTS (SELECT 1 FROM token t INDEXED BY token_family"
            " WHERE t.owner = r.owner AND t.family = r.family)",
            (OWNER, *times),
        )
        for grant_id, package_id in rows.fetchall():
            self._revoke_approval(grant_id, package_id, now)

    def _revoke_approval(self, grant_id: Any, package_id: Any, now: int) -> None:
        if package_id:
            grant_rows.revoke_package(self._db, package_id, now)
        elif grant_id:
            grant_rows.revoke_grant(self._db, grant_id, now)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
