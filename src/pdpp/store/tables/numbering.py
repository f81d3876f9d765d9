"""How a record is numbered: by its feed and a sequence; and the fields of the word index."""

FEED_SHIFT = 36
PLACE_BITS = 7
MOST_FEEDS = 1 << 20
MOST_PLACES = 1 << PLACE_BITS


def record_number(feed: int, sequence: int) -> int:
    """Return the number of a record."""
    return feed << FEED_SHIFT | sequence


def sequence_of(record: int) -> int:
    """Return the place of a record in the sequence of its feed."""
    return record & (1 << FEED_SHIFT) - 1


def feed_of(record: int) -> int:
    """Return the feed a record's number names."""
    return record >> FEED_SHIFT
