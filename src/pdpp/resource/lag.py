"""Lag: how far behind the truth an answer may be, if its client says that it tolerates that."""

from pdpp.model.errors import InvalidRequest
from pdpp.service.settings import Settings

LAG_HEADER = "PDPP-Max-Lag"
BOUND_HEADER = "PDPP-Lag-Bound"
MOST_LAG_SECONDS = 3_600


def tolerated_lag(given: str | None, settings: Settings) -> float:
    """Return by how many seconds an answer may be behind for a client that sent a header."""
    if given is None:
        return 0.0
    if not (given.isascii() and given.isdecimal()) or int(given[:5]) > MOST_LAG_SECONDS:
        most = f"{MOST_LAG_SECONDS:,}"
        message = f"{LAG_HEADER} is a whole number of seconds from 0 to {most}."
        raise InvalidRequest(message, param=LAG_HEADER)
    return min(float(given), settings.read_lag_seconds)


def lag_headers(lag: float) -> dict[str, str]:
    """Return what tells a client that tolerates some lag how much there may be.

    That is the bound and not how far behind the replica is: that follows from writes which the
    client may not know of.
    """
    return {BOUND_HEADER: f"{lag:g}"}
