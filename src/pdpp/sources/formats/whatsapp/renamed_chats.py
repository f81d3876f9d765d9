"""Renamed chats: a chat stays the same one when a group, or a contact, gets another name.

No export tells the id of its chat, only what the phone calls it. Of each chat some marks of what
was said in it are kept. An export under another name that has them is of that chat.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple
from zlib import crc32

from pdpp.sources.formats.whatsapp.lines import MARKS, ChatLine
from pdpp.sources.keys import RecordKey, digest_key
from pdpp.sources.source import Recall

SHAPE = "named chats"
_MOST = 1_000
_BEYOND = 1 << 32
_FEWEST_SHARED = 20
_SHARE = 0.8
"""So many marks must two chats share: greetings and news are sent to several at once."""
_SHORTEST = 16
"""Characters of a message that nobody else sends in the same minute."""


class ChatMarks:
    """Marks of a chat: of the checksums of its messages the smallest.

    Which these are does not depend on where an export ends: two exports share those of the
    messages that both hold. In a chat with one person, who is called as it is, only what that
    person wrote counts: one message may be sent to many people at once.
    """

    def __init__(self, called: str) -> None:
        self._called = called
        self._every, self._theirs = _Checksums(), _Checksums()

    def see(self, line: ChatLine) -> None:
        """Take one more message into account, unless it may stand there otherwise next time."""
        stamp, sender, text = line
        if sender is None or len(text) < _SHORTEST or "<" in text or text[0] in MARKS:
            return
        # A phone set to another country writes the numbers of a date in another order, and the
        # year without its century.
        said = f"{sum(stamp.numbers) % 100} {stamp.hour % 12}:{stamp.minute} {text}"
        mark = crc32(said.encode("utf-8", "surrogatepass"))
        self._every.add(mark)
        if sender == self._called:
            self._theirs.add(mark)

    def told(self) -> list[int]:
        """Return the marks."""
        return self._theirs.smallest() or self._every.smallest()


class _Checksums:
    """The smallest of some checksums."""

    def __init__(self) -> None:
        self._held: set[int] = set()
        self._end = _BEYOND

    def add(self, checksum: int) -> None:
        if checksum < self._end:
            self._held.add(checksum)
            if len(self._held) >= 2 * _MOST:
                self._held = set(_smallest(self._held))
                self._end = max(self._held)

    def smallest(self) -> list[int]:
        return _smallest(self._held)


class NamedChat(NamedTuple):
    """What a chat is called, and its marks."""

    name: str
    marks: list[int]


class RenamedChats:
    """The chats that came in before, the oldest first, and those of an export that comes in now.

    Of a name only a digest is kept: a chat may be deleted, and its name is to be gone then.
    """

    def __init__(self, recall: Recall, found: Iterable[NamedChat]) -> None:
        """Take how to ask what earlier imports kept, and the chats of an export."""
        self._marks: dict[str, list[int]] = {**recall("whatsapp", SHAPE)}
        self._found: dict[str, str] = {}
        for name, marks in found:
            key = str(digest_key(name))
            self._found[key] = name
            self._marks[key] = _smallest({*self._marks.get(key, []), *marks})

    def kept(self) -> Mapping[str, Any]:
        """Return what a later import is to know."""
        return {key: self._marks[key] for key in self._found if self._marks[key]}

    def key_of(self, name: str) -> RecordKey:
        """Return what a chat is known by: the oldest that is the same one tells."""
        key = str(digest_key(name))
        # One that is like another may itself have been known by a third.
        while (oldest := self._oldest_like(key)) != key:
            key = oldest
        return RecordKey(key)

    def _oldest_like(self, key: str) -> str:
        """Return the oldest chat that is like one, perhaps itself."""
        marks = self._marks.get(key, [])
        shared = Counter(other for mark in marks for other in self._chats_with.get(mark, ()))
        candidates = [other for other, count in shared.items() if count >= _FEWEST_SHARED]
        alike = (other for other in sorted(candidates, key=self._places.__getitem__))
        return next((other for other in alike if _are_alike(marks, self._marks[other])), key)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {key: place for place, key in enumerate(self._marks)}

    @cached_property
    def _chats_with(self) -> Mapping[int, Sequence[str]]:
        """Return the chats that have a mark, by that: to compare each with each takes long."""
        chats: dict[int, list[str]] = {}
        for key, marks in self._marks.items():
            for mark in marks:
                chats.setdefault(mark, []).append(key)
        return chats

    def notes(self) -> Iterable[str]:
        """Tell of chats that are taken for others."""
        for key, name in self._found.items():
            if self.key_of(name) != key:
                yield f"{name} is a chat that has another name too: nearly all of it stands in both"


def _smallest(marks: Iterable[int]) -> list[int]:
    return sorted(marks)[:_MOST]


def _are_alike(one: list[int], other: list[int]) -> bool:
    """Tell whether two chats are one, by the marks up to where those of both are whole."""
    ends = [marks[-1] for marks in (one, other) if len(marks) == _MOST]
    end = min(ends, default=_BEYOND)
    ours, theirs = ({mark for mark in marks if mark <= end} for marks in (one, other))
    shared = len(ours & theirs)
    return shared >= max(_FEWEST_SHARED, _SHARE * min(len(ours), len(theirs)))
