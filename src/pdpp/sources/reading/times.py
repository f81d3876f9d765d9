"""Times: how the moments that exports write down become the text that records hold.

A moment of a known zone is written with its offset, or in UTC with a ``Z``. A local time whose zone
nobody knows is *floating*: it is written without an offset, and its record says so.
"""

from datetime import UTC, datetime, tzinfo
from math import isfinite
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pdpp.model import instant
from pdpp.model.errors import ImportRefused

_LAST_SECOND = 253_402_300_799


def epoch_text(seconds: Any) -> str | None:
    """Return a count of seconds since 1970, a number or its text, as RFC 3339 text in UTC."""
    try:
        count = float(seconds)
    except (TypeError, ValueError):
        return None
    if isinstance(seconds, bool) or not isfinite(count) or not 0 <= count <= _LAST_SECOND:
        return None
    return instant.to_text(round(count * instant.SECOND))


def moment_text(text: object) -> str | None:
    """Return RFC 3339 text as it is, or None where it is not a time with a zone."""
    if not isinstance(text, str) or len(text) < len("2026-01-31T08:00:00Z"):
        return None
    # Without a zone nobody knows the moment; the record would be dated by a guess.
    if text[-1] not in "Zz" and text[-6] not in "+-":
        return None
    return text if instant.parse(text) is not None else None


def local_text(moment: datetime, zone: tzinfo | None) -> tuple[str, bool]:
    """Return a local time as text, and whether it is floating because its zone is not known."""
    if moment.tzinfo is not None:
        return _with_offset(moment), False
    if zone is None:
        return moment.isoformat(), True
    return _with_offset(moment.replace(tzinfo=zone)), False


def _with_offset(moment: datetime) -> str:
    offset = moment.utcoffset()
    # Before standard time, zones were off by seconds (Amsterdam by 19 min 32 s until 1937), which
    # RFC 3339 cannot write.
    if offset is None or offset.total_seconds() % 60:
        moment = moment.astimezone(UTC)
    return moment.isoformat().replace("+00:00", "Z")


def zone_named(name: str | None) -> tzinfo | None:
    """Return the zone that the owner named, or None where none was."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ImportRefused(
            f"{name!r} is not a time zone; write one such as Europe/Lisbon"
        ) from None
