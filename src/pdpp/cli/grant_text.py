"""Grants as JSON data and as sentences."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from pdpp.cli.client_name import named
from pdpp.evidence.fence import quote, visible
from pdpp.model import instant
from pdpp.model.grant import Allowance, Grant, Package, status
from pdpp.store.catalogue import Connection
from pdpp.store.vault import Token

Given = Grant | Package | Token

_MOST_KEYS = 10


def document(grant: Grant, now: int) -> dict[str, Any]:
    """Return a grant as JSON data, with times as text."""
    return {
        "grant_id": grant.id,
        "grant_package_id": grant.package_id,
        "client_id": grant.client_id,
        "purpose": grant.purpose,
        "status": status(grant, now),
        **moments(grant),
        "allowances": [_allowance(allowance) for allowance in grant.allowances],
    }


def moments(given: Given) -> dict[str, str | None]:
    """Return when something was given and when it ends or ended, as text."""
    return {
        "created_at": instant.to_text(given.created_at),
        "expires_at": _text(given.expires_at),
        "revoked_at": _text(given.revoked_at),
    }


def end_of(given: Given) -> str:
    """Return the day on which something ends, for a list."""
    return "never" if given.expires_at is None else instant.to_date_text(given.expires_at)


def _text(moment: int | None) -> str | None:
    return None if moment is None else instant.to_text(moment)


def _allowance(allowance: Allowance) -> dict[str, Any]:
    time = allowance.time
    bounds = (None, None) if time is None else (_text(time.since), _text(time.until))
    return allowance.as_json() | {"since": bounds[0], "until": bounds[1]}


def in_words(
    grant: Grant, connections: Mapping[str, Connection], clients: Mapping[str, str], now: int
) -> Iterator[str]:
    """Yield the lines that tell a person what a grant lets its client see."""
    until = "" if grant.expires_at is None else f" until {instant.to_text(grant.expires_at)}"
    ended = "" if grant.revoked_at is None else f" since {instant.to_text(grant.revoked_at)}"
    client = visible(named(grant.client_id, clients), lines=False)
    yield f"Grant {grant.id}, {status(grant, now)}{ended}: {client} may read{until}"
    yield f"  purpose: {quote(grant.purpose)}"
    for connection_id, allowances in groupby(
        grant.allowances, lambda connection: connection.connection_id
    ):
        connection = connections.get(connection_id)
        name = (
            connection_id if connection is None else f"{connection.display_name} ({connection_id})"
        )
        yield f"  {visible(name, lines=False)}"
        for allowance in allowances:
            yield "    " + visible(_stream(allowance), lines=False)


def _stream(allowance: Allowance) -> str:
    fields = "every field" if allowance.whole else f"only {', '.join(allowance.fields)}"
    parts = [f"{allowance.stream}: {fields}"]
    if allowance.time is not None and allowance.time.since is not None:
        parts.append(f"from {instant.to_text(allowance.time.since)}")
    if allowance.time is not None and allowance.time.until is not None:
        parts.append(f"before {instant.to_text(allowance.time.until)}")
    if allowance.keys is not None:
        keys = sorted(allowance.keys)
        more = f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
        parts.append(f"only the records {', '.join(keys[:_MOST_KEYS])}{more}")
    return ", ".join(parts)
