"""How a record's number is made: its feed and a sequence; with a place, its row in the index."""

FEED_SHIFT = 36
PLACE_BITS = 7
PLACE_MASK = (1 << PLACE_BITS) - 1
MOST_FEEDS = 1 << 20
MOST_PLACES = 1 << PLACE_BITS


def record_number(feed: int, sequence: int) -> int:
    """Return the number of a record."""
    return feed << FEED_SHIFT | sequence


def feed_of(record: int) -> int:
    """Return the feed a record's number names."""
    return record >> FEED_SHIFT


def index_row(record: int, place: int) -> int:
    """Return the row of the full-text index for one field of a record."""
    return record << PLACE_BITS | place
