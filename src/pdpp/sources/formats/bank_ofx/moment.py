"""Moments: times as OFX writes them, with or without an hour and a zone."""

import re
from datetime import datetime, timedelta, timezone

_MOMENT = re.compile(
    r"(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(?:(\d{2})(?:\.\d{1,6})?)?)?"
    r"(?:\[([+-]?\d{1,2}(?:\.\d{1,2})?)(?::[^\]]*)?\])?\Z"
)


def read_moment(text: str) -> tuple[str | None, str | None]:
    """Return the day that a time names, and the moment itself where its zone is known."""
    match = _MOMENT.match(text.strip())
    if match is None:
        return None, None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - the zone follows
    except ValueError:
        return None, None
    zone = match.group(7)
    if zone is None:
        return moment.date().isoformat(), None
    offset = timezone(timedelta(minutes=round(float(zone) * 60)))
    return moment.date().isoformat(), moment.replace(tzinfo=offset).isoformat()
