"""Known chats: the same chat as JSON and as web pages, imported one after the other.

A page does not tell the id of its chat. Both forms begin with the same messages, of which both have
the ids and the times, so that these name a chat; whichever form came first names its records.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from pdpp.sources.formats.telegram.duplicates import account_beginnings, beginnings, mark_of
from pdpp.sources.formats.telegram.pages import PageKeys, head_marks
from pdpp.sources.formats.telegram.peers import peer_id
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.tree import FileEntry

SHAPE = "known chats"
_FIRST = 3
"""So many messages of one id and time are no accident; a chat with fewer is not looked for."""


class KnownChat(NamedTuple):
    """What records of a chat are named by, and whether they tell what only JSON does.

    ``by_id`` says that its messages are named by their ids alone, as those of JSON are.
    """

    key: str
    by_id: bool
    from_json: bool


class KnownChats:
    """The chats that came in before, and those of an export that comes in now."""

    def __init__(self, kept: Mapping[str, Any]) -> None:
        """Take what earlier imports kept."""
        self._kept = dict(kept)

    def of_document(self, entry: FileEntry, places: Sequence[str]) -> Mapping[str, KnownChat]:
        """Return what the chats of a JSON document are named by, and keep that they came in so.

        To find every chat of a whole account in any case, all of it is read, which takes longer
        than to import it. That is only done if a chat came in as web pages. Else the chats are
        found that lie there as Telegram writes them.
        """
        quickly = len(places) > 1 and all(KnownChat(*chat).by_id for chat in self._kept.values())
        found = account_beginnings(entry, _FIRST) if quickly else beginnings(entry, places, _FIRST)
        chats: dict[str, KnownChat] = {}
        for begun in found:
            beginning = _beginning(begun.first)
            known = self._find(beginning) or KnownChat(begun.key, True, True)
            self._keep(beginning, known._replace(from_json=True))
            chats[begun.peer] = known
        return chats

    def of_page(self, entry: FileEntry, key: str) -> KnownChat | None:
        """Return the chat that a first page begins, if it is known, and keep its key if not."""
        said = (mark for mark in head_marks(entry) if mark[1])
        beginning = _beginning(list(islice(said, _FIRST)))
        known = self._find(beginning)
        self._keep(beginning, known or KnownChat(str(key), False, False))
        return known

    def kept(self) -> Mapping[str, Any]:
        """Return what a later import is to know."""
        return self._kept

    def _find(self, beginning: str | None) -> KnownChat | None:
        found = self._kept.get(beginning) if beginning is not None else None
        return KnownChat(*found) if found is not None else None

    def _keep(self, beginning: str | None, chat: KnownChat) -> None:
        if beginning is not None:
            self._kept[beginning] = list(chat)


def _beginning(first: Sequence[tuple[int, str]]) -> str | None:
    """Return a name for the first messages of a chat; None where there are too few."""
    said = [f"{number} {mark}" for number, mark in first]
    return str(digest_key(*said)) if len(said) == _FIRST else None


class ChatNames:
    """Names the chats of a JSON document: one that came in as web pages keeps its names."""

    def __init__(self, known: Mapping[str, KnownChat]) -> None:
        """Take what chats are named by, as ``peer_id`` calls them."""
        self._known = known
        self._kind: object = None
        self._keys: PageKeys | None = None

    def named(self, name: str, value: Any) -> Any:
        """Return a member of a document with the name that its records have."""
        if name == "type":
            self._kind = value
        elif name == "id":
            chat = self._known.get(peer_id(self._kind, value)) if isinstance(value, int) else None
            self._keys = PageKeys() if chat is not None and not chat.by_id else None
            return chat.key if chat is not None and not chat.by_id else value
        elif name == "message":
            self._kind = None
            if self._keys is not None and isinstance(value, dict):
                return self._keys.named(value, mark_of(value))
        return value
