"""The states of a database in which what was worked out for a search still holds."""

_MOST = 256
"""Each connection has states of its own, and one more after every write anywhere."""


class KnownStates:
    """The states in which something remembered was found to be as it is."""

    def __init__(self, first: object) -> None:
        self._states = {first}

    def __contains__(self, state: object) -> bool:
        return state in self._states

    def add(self, state: object) -> None:
        """Note one more state; where there are many, the others are looked at again."""
        if len(self._states) >= _MOST:
            self._states.clear()
        self._states.add(state)
