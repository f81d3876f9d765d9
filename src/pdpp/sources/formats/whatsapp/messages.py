"""Messages: what stands in a chat, each with all of its lines and what it is known by."""

from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo
from typing import NamedTuple

from pdpp.sources.formats.whatsapp.attached import without_file
from pdpp.sources.formats.whatsapp.layout import LONGEST_LINE, ChatLayout, decoded
from pdpp.sources.formats.whatsapp.lines import ChatLine, chat_line
from pdpp.sources.formats.whatsapp.years import YearCount
from pdpp.sources.item import Skipped
from pdpp.sources.keys import RecordKey, digest_key
from pdpp.sources.reading.lines import lines
from pdpp.sources.reading.tree import FileEntry, Tree

_LONGEST_MESSAGE = 4 << 20
_CUT = "a last line that does not end; the file may be cut off"


class Chat(NamedTuple):
    """One chat and how its times are read."""

    tree: Tree
    entry: FileEntry
    name: str
    key: RecordKey
    layout: ChatLayout
    zone: tzinfo | None


class _Lines(NamedTuple):
    """The lines of a message: its first one, and those that follow it."""

    first: ChatLine
    number: int
    more: list[str]
    year_told: bool = True


class ChatMessage(NamedTuple):
    """A whole message, with its moment as it stands and as it stands in keys.

    Both are None where there is no such day. ``digest`` tells it from others of its moment.
    """

    number: int
    sender: str | None
    text: str
    moment: datetime | None
    time: str
    digest: RecordKey


def digests(messages: Iterable[ChatMessage | Skipped]) -> Iterator[tuple[str, RecordKey]]:
    """Yield the moment of each message, and the digest of what it says."""
    for message in messages:
        if isinstance(message, ChatMessage) and message.moment is not None:
            yield message.time, message.digest


def messages_of(chat: Chat) -> Iterator[ChatMessage | Skipped]:
    """Yield messages with all of their lines; one that a cut file ends in is told."""
    message: _Lines | None = None
    size, whole, ended = 0, True, True
    years = YearCount(chat.layout.first_year)
    with chat.entry.open() as stream:
        for line in lines(stream, LONGEST_LINE):
            whole = line.whole
            text = decoded(line.text)
            begun = chat_line(text) if ended or not chat.layout.mixed else None
            if begun is not None and begun.stamp.is_of_another_phone(chat.layout.order):
                begun = None  # Somebody pasted it.
            ended = line.text.endswith(b"\r")
            if begun is not None and begun.stamp.named == chat.layout.named:
                if message is not None:
                    yield _message(chat, message)
                stamp = years.see(begun.stamp) if chat.layout.first_year else begun.stamp
                has_year = bool(begun.stamp.year) or not chat.layout.named
                if stamp is not begun.stamp:
                    begun = begun._replace(stamp=stamp)
                message, size = _Lines(begun, line.number, [], has_year), 0
            elif message is None:
                yield Skipped("a line before the first message", f"{chat.entry.name}")
            elif size + len(text) <= _LONGEST_MESSAGE:
                message.more.append(text)
                size += len(text)
            else:
                yield Skipped("the rest of a message that is too long", f"{chat.entry.name}")
    if message is not None:
        yield _message(chat, message)
    if not whole:
        yield Skipped(_CUT, chat.entry.name)


def _message(chat: Chat, lines_: _Lines) -> ChatMessage:
    first, number, more, year_told = lines_
    text = "\n".join([first.text, *more]) if more else first.text
    moment = first.stamp.moment(chat.layout.order)
    # Only an iPhone writes seconds, and a chat moves from one telephone to another. A year that the
    # chat does not tell stays out: told otherwise later, it is the same message.
    minute = "" if moment is None else moment.isoformat(timespec="minutes")
    time = minute.replace(":", "")[0 if year_told else 4 :]
    # Who wrote is told as the phone's contacts call them, and these are renamed.
    digest = digest_key(time, "" if first.sender is None else "said", without_file(text))
    return ChatMessage(number, first.sender, text, moment, time, digest)
