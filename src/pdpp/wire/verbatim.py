"""Verbatim: what a server sent, to be sent on and never looked into."""

from collections.abc import Iterable, Mapping


class Verbatim:
    """An object of a server's answer as it was sent.

    What is looked at in an answer is read once, where the answer comes in, into typed values. The
    answer itself goes on in this type: members can be left out or put in by name, and the whole can
    be written down. Its JSON has the type ``object``, so that the type checker refuses to index it.
    """

    __slots__ = ("_sent",)

    def __init__(self, sent: Mapping[str, object] | None = None) -> None:
        self._sent: Mapping[str, object] = {} if sent is None else sent

    def __repr__(self) -> str:
        return f"Verbatim of {len(self._sent)} members"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verbatim) and self._sent == other._sent

    __hash__ = None  # type: ignore[assignment]

    def only(self, *names: str) -> "Verbatim":
        """Return the members of these names, as far as they were sent."""
        return Verbatim({name: self._sent[name] for name in names if name in self._sent})

    def without(self, *names: str) -> "Verbatim":
        """Return everything but the members of these names."""
        return Verbatim({name: value for name, value in self._sent.items() if name not in names})

    def last(self, name: str) -> "Verbatim":
        """Return the same with the member of a name, if it was sent, after all others."""
        return Verbatim({**self.without(name)._sent, **self.only(name)._sent})

    def with_members(self, members: Mapping[str, object]) -> "Verbatim":
        """Return the same with some members put in; one of a name that is there takes its place."""
        return Verbatim({**self._sent, **members})

    def as_json(self) -> object:
        """Return the JSON to be written down."""
        return self._sent


def all_json(parts: Iterable[Verbatim]) -> list[object]:
    """Return the JSON of several parts."""
    return [part.as_json() for part in parts]
