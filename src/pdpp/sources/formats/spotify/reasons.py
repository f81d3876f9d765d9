"""Reasons: why a play began or ended, by the codes of Spotify, in the words of people."""

from types import MappingProxyType

_REASONS = MappingProxyType(
    {
        "appload": "the app started",
        "backbtn": "back button",
        "clickrow": "chosen from a list",
        "clickside": "chosen at the side",
        "endplay": "something else was played",
        "fwdbtn": "skipped forward",
        "logout": "logged out",
        "playbtn": "play button",
        "remote": "from another device",
        "trackdone": "the one before ended",
        "trackerror": "error",
        "unexpected-exit": "the app ended",
        "unexpected-exit-while-paused": "the app ended in a pause",
        "uriopen": "opened by a link",
    }
)


def reason_words(code: str | None, **others: str) -> str | None:
    """Return why a play began or ended; ``others`` are codes that mean something else here."""
    return None if code is None else others.get(code) or _REASONS.get(code, code)
