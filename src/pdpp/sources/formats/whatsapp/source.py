"""WhatsApp chats as the phone exports them: one text file each, perhaps with its media in a zip."""

import re
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.whatsapp.lines import ORDERS, ChatLine, chat_line, guess_order
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals, RecordKey, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.lines import lines
from pdpp.sources.reading.times import local_text, zone_named
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_LOOKED_AT = 60
_FEW = 3
_LONGEST_LINE = 1 << 20
_LONGEST_MESSAGE = 4 << 20
_NAMED = re.compile(
    r"(?:WhatsApp[ -]Chat (?:with |mit |con |com |avec |- )?|Chat de WhatsApp (?:con )?)(.+)\Z"
)
_ATTACHED = re.compile(r"\A[\u200e\s]*<[^<>:]{3,30}:\s*([^<>/\\]{3,200})>\s*\Z")
_FILE = re.compile(r"\A[\u200e\s]*([^/\\\n]{1,200}\.\w{2,5}) \([^()]{5,40}\)\Z")
_OMITTED = re.compile(r"\A[\u200e\s]*<[^<>:]{5,40}>\s*\Z")


class WhatsApp(Source):
    """Chats of iPhones and of Android, in any language of the phone."""

    connector_key = "whatsapp"
    label = "WhatsApp chat"
    settings = MappingProxyType(
        {
            "time_zone": "Zone of the phone, such as Europe/Lisbon; chats do not tell it.",
            "date_order": "DMY, MDY or YMD, where the dates of a chat could mean either.",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for files whose lines begin as messages do."""
        chats = [
            (entry, confidence) for entry in tree.named("*.txt") if (confidence := _looks(entry))
        ]
        if not chats:
            return None
        order = _order_wish(choices)
        zone_named(choices.given.get("time_zone"))
        orders = {entry.name: _order(entry, order) for entry, _ in chats}
        unsure = [name for name, (_, confidence) in orders.items() if not confidence]
        names = [_chat_name(tree, entry) for entry, _ in chats]
        return Recognition(
            max((confidence for _, confidence in chats), key=lambda one: one is Confidence.CERTAIN),
            f"{'a chat' if len(chats) == 1 else f'{len(chats)} chats'}, dates written "
            + ", ".join(sorted({order for order, _ in orders.values()})),
            account=f"WhatsApp ({names[0]})" if len(names) == 1 else "WhatsApp",
            identity=names[0] if len(names) == 1 else "whatsapp",
            notes=tuple(
                f"the dates of {name} could be read in another order; say --set date_order=DMY, "
                "MDY or YMD if they are wrong"
                for name in unsure[:3]
            ),
            detail={
                "orders": {name: order for name, (order, _) in orders.items()},
                "time_zone": choices.given.get("time_zone"),
            },
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each chat."""
        zone = zone_named(recognition.detail["time_zone"])
        for name, order in recognition.detail["orders"].items():
            entry = tree.get(name)
            if entry is not None:
                chat = _Chat(tree, entry, _chat_name(tree, entry), order, zone)
                yield ExportPart(entry, partial(_read, chat))


class _Chat(NamedTuple):
    """One chat and how its times are read."""

    tree: Tree
    entry: FileEntry
    name: str
    order: str
    zone: tzinfo | None

    @property
    def key(self) -> RecordKey:
        """Return the name of the chat in records."""
        return digest_key(self.name)


class _Message(NamedTuple):
    """A whole message: its first line, and the lines that follow it."""

    first: ChatLine
    number: int
    more: list[str]

    @property
    def text(self) -> str:
        """Return everything that was written."""
        return "\n".join([self.first.text, *self.more])


def _looks(entry: FileEntry) -> Confidence | None:
    text = entry.head().decode("utf-8", "replace")
    first_lines = [line for line in text.splitlines() if line.strip()][:_LOOKED_AT]
    begun = [line for line in first_lines if chat_line(line)]
    if not first_lines or not begun or chat_line(first_lines[0]) is None:
        return None
    named = entry.base == "_chat.txt" or "WhatsApp" in entry.base
    if named or len(begun) >= _FEW:
        return Confidence.CERTAIN if named else Confidence.LIKELY
    return None


def _chat_name(tree: Tree, entry: FileEntry) -> str:
    stem = entry.base.removesuffix(".txt")
    if stem == "_chat":
        folder = entry.name.rpartition("/")[0].rpartition("/")[2]
        stem = folder or tree.path.stem
    match = _NAMED.match(stem)
    return (match.group(1) if match else stem).strip() or "chat"


def _order_wish(choices: OwnerChoices) -> str | None:
    wish = choices.given.get("date_order", "").upper()
    if wish and wish not in ORDERS:
        raise ImportRefused(f"date_order is one of {', '.join(ORDERS)}, not {wish!r}")
    return wish or None


def _order(entry: FileEntry, wish: str | None) -> tuple[str, bool]:
    if wish is not None:
        return wish, True
    with entry.open() as stream:
        chat_lines = (chat_line(_decoded(line.text)) for line in lines(stream, _LONGEST_LINE))
        return guess_order(line for line in chat_lines if line is not None)


def _decoded(text: bytes) -> str:
    return text.removesuffix(b"\r").decode("utf-8", "replace")


def _read(chat: _Chat) -> Iterator[Finding]:
    ordinals, count = Ordinals(), 0
    span: list[str] = []
    for finding in _messages(chat):
        if isinstance(finding, Skipped):
            yield finding
            continue
        where = f"{chat.entry.name} line {finding.number}"
        for item in account(_message(chat, finding, ordinals, where), where, "message"):
            if isinstance(item, Item) and item.stream == "messages":
                count += 1
                sent = item.data["sent_at"]
                span = [min(span[0], sent), max(span[1], sent)] if span else [sent, sent]
            yield item
    if span:
        data = {
            "id": chat.key,
            "name": chat.name,
            "message_count": count,
            "started_at": span[0],
            "updated_at": span[1],
        }
        yield Item("chats", chat.key, data)


def _messages(chat: _Chat) -> Iterator[_Message | Skipped]:
    """Yield messages with all of their lines; one that a cut file ends in is told."""
    message: _Message | None = None
    size, whole = 0, True
    with chat.entry.open() as stream:
        for line in lines(stream, _LONGEST_LINE):
            whole = line.whole
            text = _decoded(line.text)
            begun = chat_line(text)
            if begun is not None:
                if message is not None:
                    yield message
                message, size = _Message(begun, line.number, []), 0
            elif message is None:
                yield Skipped("a line before the first message", f"{chat.entry.name}")
            elif size + len(text) <= _LONGEST_MESSAGE:
                message.more.append(text)
                size += len(text)
            else:
                yield Skipped("the rest of a message that is too long", f"{chat.entry.name}")
    if not whole:
        yield Skipped("the last message, whose line does not end", chat.entry.name, cut=True)
    elif message is not None:
        yield message


def _message(chat: _Chat, message: _Message, ordinals: Ordinals, where: str) -> Iterator[Finding]:
    moment = message.first.stamp.moment(chat.order)
    if moment is None:
        yield Unknown("a message with a date that does not exist", where)
        return
    sent, floating = local_text(moment, chat.zone)
    sender, text = message.first.sender, message.text
    # Keys in the order of time: what belongs together then lies together.
    time = moment.isoformat().replace(":", "")
    key = safe_key(chat.key, time, ordinals.key(time, sender or "", text))
    name = _file_name(message)
    data: dict[str, Any] = {
        "id": key,
        "chat_id": chat.key,
        "chat": chat.name,
        "sender": sender,
        "text": text,
        "service": sender is None,
        "media_omitted": bool(_OMITTED.match(text)),
        "file_name": name,
        "floating": floating,
        "sent_at": sent,
    }
    yield Item("messages", key, present(data))
    if name is not None:
        yield from _media(chat, key, name, sent, floating)


def _file_name(message: _Message) -> str | None:
    """Return the file that came with a message, in whatever language the phone says so."""
    match = _ATTACHED.match(message.text) or _FILE.match(message.first.text)
    return match.group(1).strip() if match else None


def _media(chat: _Chat, message: str, name: str, sent: str, floating: bool) -> Iterator[Finding]:
    entry = chat.tree.beside(chat.entry, name)
    if entry is None:
        yield Skipped("a file that is not in the export", f"{chat.entry.name} {message}")
        return
    media_type = entry.media_type
    data = {
        "id": message,
        "message_id": message,
        "chat_id": chat.key,
        "name": entry.base,
        "media_type": media_type,
        "floating": floating,
        "sent_at": sent,
    }
    yield Item("media", message, data, (Attachment("file", entry.open, media_type),))
