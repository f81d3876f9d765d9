"""States of a store: a read may assume the last one that was seen, and learns if it is over."""


class StateChanged(Exception):
    """A read assumed a state of the store that is over; nothing was answered."""
