"""How a record is numbered: by its feed and a sequence; and its rows in the full-text index.

In the index a newer record has the smaller row, because the engine walks upwards faster.
"""

FEED_SHIFT = 36
PLACE_BITS = 7
PLACE_MASK = (1 << PLACE_BITS) - 1
MOST_FEEDS = 1 << 20
MOST_PLACES = 1 << PLACE_BITS

_SEQUENCE_MASK = (1 << FEED_SHIFT) - 1


def record_number(feed: int, sequence: int) -> int:
    """Return the number of a record."""
    return feed << FEED_SHIFT | sequence


def feed_of(record: int) -> int:
    """Return the feed a record's number names."""
    return record >> FEED_SHIFT


def turned(record: int) -> int:
    """Return a record's number with its sequence counted from the other end; twice is itself."""
    return record ^ _SEQUENCE_MASK


def index_row(record: int, place: int) -> int:
    """Return the row of the full-text index for one field of a record."""
    return turned(record) << PLACE_BITS | place


def index_span(feed: int) -> tuple[int, int]:
    """Return the first and the last row that the records of a feed can have in the index."""
    low = feed << FEED_SHIFT
    return low << PLACE_BITS, (low | _SEQUENCE_MASK) << PLACE_BITS | PLACE_MASK
