"""The vault: grants and the hashes of tokens."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import orjson

from pdpp.model.grant import AccessMode, Allowance, Grant, Package
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.vault import holding
from pdpp.store.vault import Token

_GRANT_COLUMNS = (
    "grant_id, client_id, purpose, access_mode, allowances, created_at, expires_at, revoked_at, "
    "package_id"
)
_TOKEN_COLUMNS = ", ".join(field.name for field in fields(Token))


def add_grant(db: TableConnection, grant: Grant) -> None:
    """Keep a grant."""
    allowances = _allowances_json(grant.allowances)
    db.execute(
        f"INSERT INTO grant (owner, {_GRANT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            OWNER,
            grant.id,
            grant.client_id,
            grant.purpose,
            grant.access_mode.value,
            allowances,
            grant.created_at,
            grant.expires_at,
            grant.revoked_at,
            grant.package_id,
        ),
    )


def change_allowances(db: TableConnection, grant_id: str, allowances: Sequence[Allowance]) -> None:
    """Replace what a grant opens."""
    db.execute(
        "UPDATE grant SET allowances = ? WHERE owner = ? AND grant_id = ?",
        (_allowances_json(allowances), OWNER, grant_id),
    )


def account_of_grant(grant_id: str, connection_id: str) -> str:
    """Return one word for an account that a grant opens, which does not tell its id."""
    digest = hashlib.sha256(f"{grant_id}/{connection_id}".encode()).hexdigest()[:32]
    return f"{grant_id}/{digest}"


def opens_account(db: TableReader, account: str) -> bool:
    """Tell whether a grant that is good opens an account."""
    known = grant(db, account.partition("/")[0])
    if known is None or known.revoked_at is not None:
        return False
    return any(_is_of(allowance, known, account) for allowance in known.allowances)


def close_account(db: TableConnection, account: str, now: int) -> None:
    """Let a grant open an account no longer; revoke it where it opens nothing else."""
    known = grant(db, account.partition("/")[0])
    if known is None:
        return
    left = [a for a in known.allowances if not _is_of(a, known, account)]
    if left:
        change_allowances(db, known.id, left)
    else:
        revoke_grant(db, known.id, now)


def _is_of(allowance: Allowance, known: Grant, account: str) -> bool:
    return account_of_grant(known.id, allowance.connection_id) == account


def _allowances_json(allowances: Sequence[Allowance]) -> str:
    return orjson.dumps([allowance.as_json() for allowance in allowances]).decode()


def grant(db: TableReader, grant_id: str) -> Grant | None:
    """Return a grant."""
    row = next(
        db.execute(
            f"SELECT {_GRANT_COLUMNS} FROM grant WHERE owner = ? AND grant_id = ?",
            (OWNER, grant_id),
        ),
        None,
    )
    return None if row is None else _grant(row)


def grants(db: TableReader) -> Iterator[Grant]:
    """Yield all grants, oldest first."""
    for row in db.execute(
        f"SELECT {_GRANT_COLUMNS} FROM grant WHERE owner = ? ORDER BY created_at, grant_id",
        (OWNER,),
    ):
        yield _grant(row)


@lru_cache(maxsize=256)
def _grant(row: tuple[Any, ...]) -> Grant:
    """Return the grant of a row; the same row is unfolded once, for it is read again and again."""
    number, client_id, purpose, mode, allowances, *times, package_id = row
    created_at, expires_at, revoked_at = times
    return Grant(
        id=number,
        client_id=client_id,
        purpose=purpose,
        access_mode=AccessMode(mode),
        allowances=tuple(Allowance.from_json(data) for data in orjson.loads(allowances)),
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
        package_id=package_id,
    )


def add_package(db: TableConnection, package: Package) -> None:
    """Keep a package."""
    db.execute(
        "INSERT INTO package VALUES (?, ?, ?, ?, ?, ?)",
        (
            OWNER,
            package.id,
            package.client_id,
            package.created_at,
            package.expires_at,
            package.revoked_at,
        ),
    )


def package(db: TableReader, package_id: str) -> Package | None:
    """Return a package."""
    row = next(
        db.execute(
            "SELECT package_id, client_id, created_at, expires_at, revoked_at FROM package"
            " WHERE owner = ? AND package_id = ?",
            (OWNER, package_id),
        ),
        None,
    )
    return None if row is None else Package(*row)


def approval_bytes(db: TableReader, grant_id: str | None, package_id: str | None) -> int:
    """Return how long what a grant opens is as it is kept, or all grants of a package."""
    statement = "SELECT coalesce(sum(octet_length(allowances)), 0) FROM grant"
    if package_id is not None:
        statement += " INDEXED BY grant_package WHERE owner = ? AND package_id = ?"
        return int(db.execute(statement, (OWNER, package_id)).get)
    statement += " WHERE owner = ? AND grant_id = ?"
    return int(db.execute(statement, (OWNER, grant_id)).get)


@lru_cache(maxsize=16)
def _grants(rows: tuple[tuple[Any, ...], ...]) -> tuple[Grant, ...]:
    """Return the grants of a package, which may have thousands that are read again and again."""
    return tuple(map(_grant, rows))


def package_grants(db: TableReader, package_id: str) -> tuple[Grant, ...]:
    """Return the grants of a package in the order they were made."""
    rows = db.execute(
        f"SELECT {_GRANT_COLUMNS} FROM grant INDEXED BY grant_package"
        " WHERE owner = ? AND package_id = ?"
        " ORDER BY created_at, grant_id",
        (OWNER, package_id),
    )
    return _grants(tuple(map(tuple, rows.fetchall())))


# Nothing has counted these tables for the engine, and all rows are of one owner: without a word
# on which index to use it would look at every row.

_OF_FAMILY = ("refresh_token INDEXED BY refresh_token_family", "token INDEXED BY token_family")
"""What came from one approval."""


def revoke(db: TableConnection, table: str, column: str, value: str, now: int) -> bool:
    """Revoke the rows of a table that are not yet, or only held; tell whether there were any."""
    unended, times = holding.unended(db)
    db.execute(
        f"UPDATE {table} SET revoked_at = ? WHERE owner = ? AND {column} = ? AND {unended}",
        (now, OWNER, value, *times),
    )
    return db.changes() > 0


def revoke_package(db: TableConnection, package_id: str, now: int) -> bool:
    """Revoke a package with its grants and tokens; tell whether there was one to revoke."""
    changed = revoke(db, "package", "package_id", package_id, now)
    for table in ("grant INDEXED BY grant_package", "token INDEXED BY token_package"):
        revoke(db, table, "package_id", package_id, now)
    return changed


def revoke_grant(db: TableConnection, grant_id: str, now: int) -> bool:
    """Revoke a grant and its tokens; tell whether there was one to revoke."""
    changed = revoke(db, "grant", "grant_id", grant_id, now)
    revoke(db, "token INDEXED BY token_grant", "grant_id", grant_id, now)
    return changed


def revoke_family(db: TableConnection, family: str, now: int) -> bool:
    """Revoke every token that came from one approval; tell whether there was one to revoke."""
    changed = [revoke(db, table, "family", family, now) for table in _OF_FAMILY]
    return any(changed)


def is_family_good(db: TableReader, family: str) -> bool:
    """Tell whether some token that came from one approval is not revoked."""
    statement = "SELECT 1 FROM {} WHERE owner = ? AND family = ? AND revoked_at IS NULL LIMIT 1"
    found = (db.execute(statement.format(table), (OWNER, family)).get for table in _OF_FAMILY)
    return any(row is not None for row in found)


def add_token(db: TableConnection, token: Token) -> None:
    """Keep a token's hash."""
    db.execute(
        f"INSERT INTO token (owner, {_TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            OWNER,
            token.hash,
            token.kind,
            token.label,
            token.created_at,
            token.grant_id,
            token.expires_at,
            token.revoked_at,
            token.package_id,
            token.audience,
            token.family,
        ),
    )


def token(db: TableReader, token_hash: str) -> Token | None:
    """Return a token by its hash."""
    row = next(
        db.execute(
            f"SELECT {_TOKEN_COLUMNS} FROM token WHERE owner = ? AND hash = ?",
            (OWNER, token_hash),
        ),
        None,
    )
    return None if row is None else Token(*row)


def tokens(db: TableReader, kind: str) -> list[Token]:
    """Return the tokens of a kind, ended ones too, the oldest first."""
    rows: list[tuple[Any, ...]] = db.execute(
        f"SELECT {_TOKEN_COLUMNS} FROM token WHERE owner = ? AND kind = ?"
        " ORDER BY created_at, hash",
        (OWNER, kind),
    ).fetchall()
    return [Token(*row) for row in rows]
