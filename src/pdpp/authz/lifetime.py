"""Lifetimes: how long everything the authorization server hands out is good."""

from dataclasses import dataclass

from pdpp.model.instant import DAY, SECOND

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """One value with every lifetime, in microseconds."""

    code: int = 60 * SECOND
    access: int = HOUR
    refresh: int = 90 * DAY
    device: int = 10 * MINUTE
    session: int = 12 * HOUR
    shared_session: int = HOUR
    """How long a session lasts at an address whose cookies other ports of the host get, too."""
    browser: int = 400 * DAY
    """How long a browser that logged in is known, so that strangers' guesses do not slow it."""
    login_code: int = 10 * MINUTE
    review: int = 10 * MINUTE
    pushed: int = 90 * SECOND
    grace: int = 30 * SECOND
    """How long a refresh whose answer was lost may be tried again."""
    poll: int = 5 * SECOND
    """How long a device waits between two questions."""
    document: int = HOUR
    """How long a fetched client document is taken as it was."""
    idle_client: int = DAY
    """How long a client that never got an approval is kept."""
