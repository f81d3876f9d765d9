"""The vault: grants and the hashes of tokens."""

from collections.abc import Iterator
from typing import Any

import apsw
import orjson

from pdpp.model.grant import AccessMode, Allowance, Grant
from pdpp.store.port import Token
from pdpp.store.sqlite.predicate import SUBJECT

_GRANT_COLUMNS = (
    "grant_id, client_id, purpose, access_mode, allowances, created_at, expires_at, revoked_at"
)
_TOKEN_COLUMNS = "hash, kind, label, created_at, grant_id, expires_at, revoked_at"  # noqa: S105


def add_grant(db: apsw.Connection, grant: Grant) -> None:
    """Keep a grant."""
    allowances = orjson.dumps([allowance.as_json() for allowance in grant.allowances]).decode()
    db.execute(
        f"INSERT INTO approval (subject, {_GRANT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            SUBJECT,
            grant.id,
            grant.client_id,
            grant.purpose,
            grant.access_mode.value,
            allowances,
            grant.created_at,
            grant.expires_at,
            grant.revoked_at,
        ),
    )


def grants(db: apsw.Connection, grant_id: str | None = None) -> Iterator[Grant]:
    """Yield grants, oldest first, or the one with an id."""
    for row in db.execute(
        f"SELECT {_GRANT_COLUMNS} FROM approval WHERE subject = ?"
        " AND grant_id = coalesce(?, grant_id) ORDER BY created_at, grant_id",
        (SUBJECT, grant_id),
    ):
        yield _grant(row)


def _grant(row: tuple[Any, ...]) -> Grant:
    number, client_id, purpose, mode, allowances, created_at, expires_at, revoked_at = row
    return Grant(
        id=number,
        client_id=client_id,
        purpose=purpose,
        access_mode=AccessMode(mode),
        allowances=tuple(Allowance.from_json(data) for data in orjson.loads(allowances)),
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
    )


def revoke_grant(db: apsw.Connection, grant_id: str, now: int) -> bool:
    """Revoke a grant and its tokens; tell whether there was one to revoke."""
    db.execute(
        "UPDATE approval SET revoked_at = ? WHERE subject = ? AND grant_id = ?"
        " AND revoked_at IS NULL",
        (now, SUBJECT, grant_id),
    )
    changed = db.changes() > 0
    db.execute(
        "UPDATE token SET revoked_at = ? WHERE subject = ? AND grant_id = ? AND revoked_at IS NULL",
        (now, SUBJECT, grant_id),
    )
    return changed


def add_token(db: apsw.Connection, token: Token) -> None:
    """Keep a token's hash."""
    db.execute(
        f"INSERT INTO token (subject, {_TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            SUBJECT,
            token.hash,
            token.kind,
            token.label,
            token.created_at,
            token.grant_id,
            token.expires_at,
            token.revoked_at,
        ),
    )


def token(db: apsw.Connection, token_hash: str) -> Token | None:
    """Return a token by its hash."""
    row = next(
        db.execute(
            f"SELECT {_TOKEN_COLUMNS} FROM token WHERE subject = ? AND hash = ?",
            (SUBJECT, token_hash),
        ),
        None,
    )
    return None if row is None else Token(*row)
