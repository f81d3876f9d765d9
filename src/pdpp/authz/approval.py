"""Approvals: the grants and packages that an owner's yes makes, by whichever way it is said."""

import secrets
from collections.abc import Iterable, Iterator
from itertools import groupby

from pdpp.model.grant import AccessMode, Allowance, Grant, Package


def new_grant(
    allowances: tuple[Allowance, ...],
    *,
    client_id: str,
    purpose: str,
    now: int,
    expires_at: int | None,
    access_mode: AccessMode = AccessMode.CONTINUOUS,
    package: Package | None = None,
) -> Grant:
    """Return a grant of our own making, by itself or as a part of a package."""
    return Grant(
        id=f"grt_{secrets.token_hex(8)}",
        client_id=client_id,
        purpose=purpose,
        access_mode=access_mode,
        allowances=allowances,
        created_at=now,
        expires_at=expires_at,
        package_id=None if package is None else package.id,
    )


def new_package(client_id: str, now: int, expires_at: int | None) -> Package:
    """Return a package, which opens nothing before it has grants."""
    return Package(f"pkg_{secrets.token_hex(8)}", client_id, now, expires_at)


def by_connection(allowances: Iterable[Allowance]) -> Iterator[tuple[Allowance, ...]]:
    """Yield what each grant of a package allows: the streams of one connection."""
    for _, own in groupby(allowances, key=lambda allowance: allowance.connection_id):
        yield tuple(own)
