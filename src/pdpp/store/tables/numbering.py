"""How a record is numbered: by its feed and a sequence; and the fields of the word index."""

FEED_SHIFT = 36
LAST_SEQUENCE = (1 << FEED_SHIFT) - 1
"""The part of a record's number that is its place in the sequence of its feed."""
PLACE_BITS = 7
MOST_FEEDS = 1 << 20
MOST_PLACES = 1 << PLACE_BITS


def record_number(feed: int, sequence: int) -> int:
    """Return the number of a record."""
    return feed << FEED_SHIFT | sequence
