"""Renamed chats: a chat stays the same one when a group, or a contact, gets another name.

No export tells the id of its chat, only what the phone calls it. Of each chat some marks of what
was said in it are kept. An export under another name that has them is of that chat.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, count, islice
from typing import Any, NamedTuple
from zlib import crc32

from pdpp.sources.formats.whatsapp.lines import MARKS, ChatLine
from pdpp.sources.keys import RecordKey, digest_key
from pdpp.sources.source import NOTHING_KNOWN, AccountKnowledge

_MOST_TOLD = 3
_RENAMED = "{name} is a chat that has another name too: nearly all of it stands in both"
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


class MarkedChat(NamedTuple):
    """What a chat is known by, and its marks."""

    key: str
    marks: list[int]


class RenamedChats:
    """The chats of an export, and those that came before into its account and into others.

    Of a name only a digest is kept: a chat may be deleted, and its name is to be gone then.
    """

    def __init__(self, found: Sequence[NamedChat], known: AccountKnowledge = NOTHING_KNOWN) -> None:
        """Take the chats of an export, and what earlier imports kept."""
        self._found = found
        self._own = {name: MarkedChat(*chat) for name, chat in known.own.items()}
        self._others = [MarkedChat(*chat) for other in known.others for chat in other.values()]

    def in_account(self, known: AccountKnowledge) -> "RenamedChats":
        """Return the same chats in an account."""
        return RenamedChats(self._found, known)

    def kept(self) -> Mapping[str, Any]:
        """Return what a later import into the account is to know."""
        return {name: list(chat) for name, chat in self._named.items()}

    def key_of(self, name: str) -> RecordKey:
        """Return what a chat is known by."""
        return RecordKey(self._named[_digest(name)].key)

    def notes(self) -> Sequence[str]:
        """Tell of some chats that are taken for others."""
        keys = Counter(chat.key for chat in self._named.values())
        names = dict.fromkeys(chat.name for chat in self._found)
        renamed = (name for name in names if self.key_of(name) != _digest(name))
        told = (name for name in renamed if keys[self.key_of(name)] > 1)
        return [_RENAMED.format(name=name) for name in islice(told, _MOST_TOLD)]

    @cached_property
    def _named(self) -> Mapping[str, MarkedChat]:
        """Return the chats of the account by their names, the oldest first.

        One that is like another has its key, also if the other is in another account: when the two
        are merged, it is there once. A key that another chat has here is nobody else's, though a
        chat of another account that is like that one is called as this one is.
        """
        named, own, others = dict(self._own), _Alike(self._own.values()), _Alike(self._others)
        taken = {chat.key for chat in named.values()}
        for name, marks in self._found:
            known = named.get(_digest(name))
            if known is not None:
                chat = MarkedChat(known.key, _smallest({*known.marks, *marks}))
            elif (like := own.oldest_like(marks)) is not None:
                chat = MarkedChat(like.key, _smallest(marks))
            else:
                like = others.oldest_like(marks)
                keys = chain([like.key] if like else [], _keys(name))
                chat = MarkedChat(next(key for key in keys if key not in taken), _smallest(marks))
            named[_digest(name)] = chat
            taken.add(chat.key)
            own.add(chat)
        return named


class _Alike:
    """Chats in their order, found by their marks: to compare each with each takes long."""

    def __init__(self, chats: Iterable[MarkedChat]) -> None:
        self._chats: list[MarkedChat] = []
        self._places: dict[int, list[int]] = {}
        for chat in chats:
            self.add(chat)

    def add(self, chat: MarkedChat) -> None:
        for mark in chat.marks:
            self._places.setdefault(mark, []).append(len(self._chats))
        self._chats.append(chat)

    def oldest_like(self, marks: list[int]) -> MarkedChat | None:
        """Return the oldest chat that is the same one as that with some marks."""
        shared = Counter(place for mark in marks for place in self._places.get(mark, ()))
        candidates = sorted(place for place, number in shared.items() if number >= _FEWEST_SHARED)
        alike = (self._chats[place] for place in candidates)
        return next((chat for chat in alike if _are_alike(marks, chat.marks)), None)


def _digest(name: str) -> str:
    return str(digest_key(name))


def _keys(name: str) -> Iterator[str]:
    """Yield the keys that a chat of a name can have: nearly always the first one."""
    yield _digest(name)
    yield from (str(digest_key(name, str(number))) for number in count(2))


def _smallest(marks: Iterable[int]) -> list[int]:
    return sorted(marks)[:_MOST]


def _are_alike(one: list[int], other: list[int]) -> bool:
    """Tell whether two chats are one, by the marks up to where those of both are whole."""
    ends = [marks[-1] for marks in (one, other) if len(marks) == _MOST]
    end = min(ends, default=_BEYOND)
    ours, theirs = ({mark for mark in marks if mark <= end} for marks in (one, other))
    shared = len(ours & theirs)
    return shared >= max(_FEWEST_SHARED, _SHARE * min(len(ours), len(theirs)))
