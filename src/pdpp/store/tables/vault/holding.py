"""Holding: approvals of a restored store wait for the owner where nobody can know what was revoked.

A backup does not know what was revoked after it was made. Where neither the data folder nor the
machine remembers, everything that lets somebody in is revoked under one moment, which is kept, so
that the owner can take that back for what is still wanted.
"""

from collections.abc import Collection
from typing import Any

import orjson

from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.records.predicate import OWNER

_TABLES = ("grant", "package", "token", "refresh_token")
_SETTING = "held_at"


def hold(db: TableConnection, now: int) -> int:
    """Suspend all grants and tokens; return how many there were."""
    count = 0
    for table in _TABLES:
        db.execute(
            f"UPDATE {table} SET revoked_at = ? WHERE owner = ? AND revoked_at IS NULL",
            (now, OWNER),
        )
        count += db.changes() if table in ("grant", "token") else 0
    # Logins, codes and requests live for minutes or hours: whoever needs one begins again.
    db.execute("DELETE FROM short_lived_secret WHERE owner = ?", (OWNER,))
    if count:
        _keep(db, [*moments(db), now])
    return count


def moments(db: TableReader) -> list[int]:
    """Return when everything was held, for each time that this happened."""
    row = next(
        db.execute("SELECT value FROM setting WHERE owner = ? AND name = ?", (OWNER, _SETTING)),
        None,
    )
    return [] if row is None else list(orjson.loads(row[0]))


def unended(db: TableReader) -> tuple[str, tuple[int, ...]]:
    """Return the condition that a row is good or only held, with its values.

    What is held may be good again, so whatever ends or changes what is good holds for it too.
    """
    times = tuple(moments(db))
    if not times:
        return "revoked_at IS NULL", ()
    return f"(revoked_at IS NULL OR revoked_at IN ({', '.join('?' * len(times))}))", times


def _keep(db: TableConnection, times: list[int]) -> None:
    db.execute(
        "INSERT OR REPLACE INTO setting VALUES (?, ?, ?)", (OWNER, _SETTING, orjson.dumps(times))
    )


def held_grants(db: TableReader) -> list[str]:
    """Return the grants that wait for the owner, the oldest first."""
    rows: list[Any] = db.execute(
        "SELECT grant_id FROM grant WHERE owner = ? AND revoked_at IN"
        " (SELECT value FROM json_each(?)) ORDER BY created_at, grant_id",
        (OWNER, orjson.dumps(moments(db)).decode()),
    ).fetchall()
    return [grant_id for (grant_id,) in rows]


def release(db: TableConnection, grant_ids: Collection[str] | None) -> None:
    """Make held grants valid again, with their packages and tokens; None releases all.

    Owner tokens are released only with all, because they open everything and name no grant.
    """
    times = orjson.dumps(moments(db)).decode()
    waiting = "owner = ? AND revoked_at IN (SELECT value FROM json_each(?))"
    if grant_ids is None:
        for table in _TABLES:
            db.execute(f"UPDATE {table} SET revoked_at = NULL WHERE {waiting}", (OWNER, times))
        _keep(db, [])
        return
    names = orjson.dumps(list(grant_ids)).decode()
    chosen = "IN (SELECT value FROM json_each(?))"
    packages = f"SELECT package_id FROM grant WHERE owner = {OWNER} AND grant_id {chosen}"
    for table, column, source in (
        ("package", "package_id", f"IN ({packages})"),
        ("token", "grant_id", chosen),
        ("token", "package_id", f"IN ({packages})"),
        ("refresh_token", "grant_id", chosen),
        ("refresh_token", "package_id", f"IN ({packages})"),
        ("grant", "grant_id", chosen),
    ):
        db.execute(
            f"UPDATE {table} SET revoked_at = NULL WHERE {waiting} AND {column} {source}",
            (OWNER, times, names),
        )
