"""What the demo world talks about, and when."""

from datetime import date

from pdpp.demo.topics.choir import CHOIR
from pdpp.demo.topics.household import FAMILY_LIFE, PAPERWORK
from pdpp.demo.topics.kyoto import KYOTO_TRIP
from pdpp.demo.topics.office import HARBOUR, LANTERN, QUILLFISH
from pdpp.demo.topics.renovation import RENOVATION
from pdpp.demo.topics.topic import Topic

TRIP = (date(2026, 4, 2), date(2026, 4, 14))
_TRIP_TALK = (date(2025, 11, 1), date(2026, 5, 20))
_BUILDING = (date(2025, 12, 1), date(2026, 7, 15))


def home_topics(day: date) -> tuple[Topic, ...]:
    """Return what occupies Nora at home on a day; what matters more comes more often."""
    topics: tuple[Topic, ...] = (FAMILY_LIFE, FAMILY_LIFE, PAPERWORK, CHOIR)
    if _BUILDING[0] <= day <= _BUILDING[1]:
        topics += (RENOVATION, RENOVATION, RENOVATION)
    if _TRIP_TALK[0] <= day <= _TRIP_TALK[1]:
        topics += (KYOTO_TRIP, KYOTO_TRIP)
    return topics


def work_topics(day: date) -> tuple[Topic, ...]:
    """Return what the studio works on; the festival fills the summer."""
    topics: tuple[Topic, ...] = (HARBOUR, HARBOUR, QUILLFISH)
    return (*topics, LANTERN, LANTERN) if day.month in (5, 6, 7, 8) else topics


__all__ = [
    "CHOIR",
    "FAMILY_LIFE",
    "HARBOUR",
    "KYOTO_TRIP",
    "LANTERN",
    "PAPERWORK",
    "QUILLFISH",
    "RENOVATION",
    "TRIP",
    "Topic",
    "home_topics",
    "work_topics",
]
