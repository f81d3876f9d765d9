"""The local zone: the clock of the machine, with its changes in summer and in winter."""

import os
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_CLOCK = Path("/etc/localtime")


def local_zone() -> tzinfo:
    """Return the zone of the machine."""
    # Where no zone can be read, as on Windows, the offset of today is all there is: a time of
    # another season is then an hour off.
    return _zone_of(os.environ.get("TZ")) or datetime.now(UTC).astimezone().tzinfo or UTC


@lru_cache(maxsize=4)
def _zone_of(name: str | None) -> tzinfo | None:
    """Return the zone that a variable names, or that of the machine where it is not set."""
    with suppress(OSError, ValueError, ZoneInfoNotFoundError):
        if name:
            return ZoneInfo(name.removeprefix(":"))
        if name is None:
            with _CLOCK.open("rb") as rules:
                return ZoneInfo.from_file(rules)
    return None
