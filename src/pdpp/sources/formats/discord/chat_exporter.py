"""DiscordChatExporter: a file for each channel, with what everybody wrote there.

A person runs this program themselves. Long channels come in numbered parts, and the files that were
sent lie beside, if they were asked for. Nothing in an export says who made it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import unquote

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.chat_span import ChatSpan
from pdpp.sources.formats.discord.kinds import channel_words
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import SeenKeys, safe_key
from pdpp.sources.reading.jsonstream import JsonElement, elements, read_each
from pdpp.sources.reading.structure import candidates
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree

_OPENING = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"guild"\s*:\s*\{')
_USUAL_NAME = "*[[]*[]].json"
"""Names of files hold the id of the channel in square brackets, unless a person says otherwise."""
_ABOUT = ("guild.name", "guild.id", "channel.id", "channel.name", "channel.type")
_NO_SERVER = "0"
_SPOKEN = frozenset({"Default", "Reply", "", "None"})
"""Kinds of messages that somebody wrote; the others say what happened in a channel."""


class ExportedChannel(NamedTuple):
    """A channel, and the files that hold its messages."""

    about: Mapping[str, str]
    entries: tuple[FileEntry, ...]


def exported_channels(tree: Tree) -> list[ExportedChannel]:
    """Return the channels of a tree that DiscordChatExporter wrote."""
    named = {entry.name: entry for entry in tree.named(_USUAL_NAME)}
    named.update((entry.name, entry) for entry in candidates(tree, "*.json"))
    found: dict[str, list[tuple[Mapping[str, str], FileEntry]]] = {}
    for entry in named.values():
        about = _about(entry)
        if about.get("channel.id"):
            found.setdefault(about["channel.id"], []).append((about, entry))
    return [
        ExportedChannel(files[-1][0], tuple(entry for _, entry in files))
        for files in found.values()
    ]


def _about(entry: FileEntry) -> Mapping[str, str]:
    """Return what a file says of its channel, which stands before the messages."""
    head = entry.head(1 << 14)
    if not _OPENING.match(head) or b'"channel"' not in head:
        return {}
    about: dict[str, str] = {}
    with suppress(DamagedFile), entry.open() as stream:
        for element in elements(stream, *_ABOUT, "messages"):
            if not isinstance(element, JsonElement) or element.path == "messages":
                break
            if isinstance(element.value, str):
                about[element.path] = element.value
            if len(about) == len(_ABOUT):
                break
    return about


def read_channel(tree: Tree, channel: ExportedChannel) -> Iterator[Finding]:
    """Yield the messages of a channel, and the channel itself."""
    reader = _ChannelReader(tree, channel)
    for entry in channel.entries:
        yield from reader.read(entry)
    yield reader.record()


class _ChannelReader:
    """Reads the files of one channel, which may hold the same messages."""

    def __init__(self, tree: Tree, channel: ExportedChannel) -> None:
        about = channel.about
        self._tree = tree
        self._entry = channel.entries[0]
        self._key = safe_key(about["channel.id"])
        self._name = about.get("channel.name") or f"channel {about['channel.id']}"
        server = about.get("guild.name") if about.get("guild.id") != _NO_SERVER else None
        self._server = server or None
        self._kind = channel_words(about.get("channel.type"))
        self._span = ChatSpan()
        self._seen = SeenKeys()

    def read(self, entry: FileEntry) -> Iterator[Finding]:
        """Yield what one file holds."""
        self._entry = entry
        return read_each(entry, self._message, "messages.item", noun="message")

    def _message(self, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
        number, sent = str(value.get("id") or ""), moment_text(value.get("timestamp"))
        if sent is None or not number:
            yield Unknown("a message without an id or a time", where)
            return
        files = [file for part in _parts(value) for file in part.get("attachments") or ()]
        text = "\n".join(_words(value))
        if not text and not files:
            yield Skipped("an empty message", where)
            return
        key = safe_key(self._key, number)
        if self._seen.first(key):
            self._span.see(sent)
        yield Item("messages", key, self._data(key, value, text, files, sent))
        for file in files:
            yield from self._file(key, file, sent)

    def _data(
        self,
        key: str,
        value: Mapping[str, Any],
        text: str,
        files: Sequence[Mapping[str, Any]],
        sent: str,
    ) -> dict[str, Any]:
        author = value.get("author") or {}
        links = [str(file.get("url")) for file in files if "://" in str(file.get("url"))]
        names = ", ".join(str(file.get("fileName") or "a file") for file in files)
        data = {
            "id": key,
            "channel_id": self._key,
            "channel": self._name,
            "server": self._server,
            "sender": str(author.get("nickname") or author.get("name") or "") or None,
            "sender_id": str(author.get("id") or "") or None,
            "text": text or f"[{names}]",
            "service": True if str(value.get("type") or "") not in _SPOKEN else None,
            "reply_to": _answered(value),
            "reactions": _reactions(value) or None,
            "link": links[0] if links else None,
            "files": len(files) or None,
            "edited_at": moment_text(value.get("timestampEdited")),
            "sent_at": sent,
        }
        return present(data)

    def _file(self, message: str, file: Mapping[str, Any], sent: str) -> Iterator[Finding]:
        """Yield a file that was sent, if it lies in the export."""
        place = str(file.get("url") or "")
        if "://" in place:
            return
        entry = self._tree.beside(self._entry, place) or self._tree.beside(
            self._entry, unquote(place)
        )
        if entry is None:
            yield Skipped("a file that is not in the export", message[:120])
            return
        key = safe_key(message, str(file.get("id") or place))
        data = {
            "id": key,
            "message_id": message,
            "channel_id": self._key,
            "name": str(file.get("fileName") or entry.base),
            "media_type": entry.media_type,
            "sent_at": sent,
        }
        yield Item("media", key, data, (Attachment("file", entry.open_exact, entry.media_type),))

    def record(self) -> Finding:
        """Return the channel itself."""
        if not self._span.count:
            return Skipped("a channel without messages", self._entry.name)
        data = {
            "id": self._key,
            "name": self._name,
            "kind": self._kind or None,
            "server": self._server,
            **self._span.members(),
        }
        return Item("channels", self._key, present(data))


def _parts(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a message, and the one that it forwards."""
    forwarded = value.get("forwardedMessage")
    return [value, forwarded] if isinstance(forwarded, Mapping) else [value]


def _words(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a message says, with what is shown of the pages that it leads to."""
    for part in _parts(value):
        if part is not value:
            yield "Forwarded:"
        text = str(part.get("content") or "")
        if text:
            yield text
        for sticker in part.get("stickers") or ():
            yield f"Sticker: {sticker.get('name')}"
        for shown in part.get("embeds") or ():
            yield from _shown(shown, text)


def _shown(value: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield what is shown of a page; an address that stands in the text is not said again."""
    address = str(value.get("url") or "")
    words = [(value.get("author") or {}).get("name"), value.get("title"), value.get("description")]
    words += [f"{field.get('name')}: {field.get('value')}" for field in value.get("fields") or ()]
    words += [(value.get("footer") or {}).get("text"), address if address not in text else ""]
    yield from (str(word) for word in words if word)


def _answered(value: Mapping[str, Any]) -> str | None:
    """Return the message that one answers; a forwarded one is of another place."""
    reference = value.get("reference")
    if not isinstance(reference, Mapping) or value.get("type") != "Reply":
        return None
    channel, number = reference.get("channelId"), reference.get("messageId")
    return safe_key(safe_key(str(channel)), str(number)) if channel and number else None


def _reactions(value: Mapping[str, Any]) -> list[str]:
    """Return how people reacted, each sign with how often."""
    return [
        f"{(reaction.get('emoji') or {}).get('name')} ×{reaction.get('count')}"
        for reaction in value.get("reactions") or ()
        if isinstance(reaction, Mapping)
    ]
