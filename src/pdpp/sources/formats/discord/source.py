"""Discord: your own messages in its package, and channels that DiscordChatExporter saved."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.chat_span import ChatSpan
from pdpp.sources.formats.csv_archive import Cells, find_columns, read_table, utc_text
from pdpp.sources.formats.discord.chat_exporter import exported_channels, read_channel
from pdpp.sources.formats.discord.kinds import channel_words
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.jsonstream import JsonElement, elements, read_each
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.shapes import odd_members
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_PATHS = frozenset({"item.ID", "item.Timestamp", "item.Contents"})
_COLUMNS = frozenset({"id", "timestamp", "contents"})
_LARGEST = 16 << 20
_OWNER_PATHS = ("id", "username", "global_name")


class Discord(Source):
    """``package.zip``, which Discord mails a link to, and files of DiscordChatExporter."""

    connector_key = "discord"
    collects = True
    own_folders = (
        "[Aa]ccount",
        "[Mm]essages",
        "[Ss]ervers",
        "[Aa]ctivity",
        "[Pp]rograms",
        "[Aa]ctivities*",
        "[Aa]ds",
        "[Ss]upport*",
        "*.json_Files",
    )
    owner_files = ("user.json",)
    label = "Discord"
    passed_over = MappingProxyType(
        {
            "channel.json": "what a channel is, kept in its record",
            "index.json": "names of channels, kept in their records",
            "user.json": "whose package it is",
            "guild.json": "what a server is",
            "audit-log.json": "what was changed on a server",
            "events-*.json": "what Discord measured",
            "README.txt": "an explanation",
            "avatar.*": "your picture",
            "*/servers/*": "lists of servers",
            "*/Servers/*": "lists of servers",
            "application.json": "an application of yours",
            "quests_user_status.json": "what Discord advertised",
            "traits.json": "guesses of Discord about you",
            "*.json_Files/*": "a picture of a person, a sign or a page",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for lists of messages in folders of channels, and for files of whole channels."""
        lists, exported = _lists(tree), exported_channels(tree)
        if not lists and not exported:
            return None
        user = _owner(tree)
        name = str(user.get("global_name") or user.get("username") or "")
        return Recognition(
            Confidence.CERTAIN,
            counted(len(lists) + len(exported), "channel"),
            account=f"Discord ({name})" if name else self.label,
            identity=str(user.get("id") or ""),
            owner_known=bool(user.get("id")),
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:  # noqa: ARG002
        """Return one part for each channel."""
        names: dict[str, object] = {}
        for entry in tree.named("index.json"):
            names.update(_document(entry))
        for entry in _lists(tree):
            yield ExportPart(entry, partial(_read, tree, entry, names))
        for channel in exported_channels(tree):
            yield ExportPart(channel.entries[0], partial(read_channel, tree, channel))

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders of the service beside the parts."""
        return self.own_folders_below(tree, recognition)

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return what lies beside the parts, and every file of a channel with those sent in it.

        A channel is one part, whose further files may lie in other folders.
        """
        own = set(super().belongings(tree, recognition))
        for channel in exported_channels(tree):
            for entry in channel.entries:
                own |= {entry.name, f"{entry.name}_Files"}
        return own


def _owner(tree: Tree) -> Mapping[str, Any]:
    """Return whose package it is.

    Games inside Discord have a ``user.json`` too, with an id of their own. The file of the account
    holds everything that was ever bought and may be large, so its first members are looked for.
    """
    for entry in tree.named("user.json"):
        user: dict[str, Any] = {}
        with suppress(DamagedFile), entry.open() as stream:
            for element in elements(stream, *_OWNER_PATHS):
                if isinstance(element, JsonElement) and isinstance(element.value, str | int):
                    user[element.path] = element.value
                if len(user) == len(_OWNER_PATHS):
                    break
        if str(user.get("id", "")).isdecimal():
            return user
    return {}


def _lists(tree: Tree) -> list[FileEntry]:
    lists = [entry for entry in tree.named("messages.json") if json_paths(entry, _PATHS) >= _PATHS]
    empty = [
        entry
        for entry in tree.named("messages.json")
        if entry not in lists and _is_empty_list(entry) and tree.beside(entry, "channel.json")
    ]
    tables = [entry for entry in tree.named("messages.csv") if _channel(tree, entry)]
    tables = [entry for entry in tables if find_columns(entry, _COLUMNS)]
    return (lists + empty if lists else []) + tables


def _is_empty_list(entry: FileEntry) -> bool:
    return entry.size < 16 and entry.head(16).strip() == b"[]"


def _channel(tree: Tree, entry: FileEntry) -> Mapping[str, object]:
    beside = tree.beside(entry, "channel.json")
    return _document(beside) if beside else {}


def _document(entry: FileEntry) -> Mapping[str, object]:
    with suppress(DamagedFile, NotJson), entry.open() as stream:
        value = read_json(stream.read(_LARGEST))
        return value if isinstance(value, dict) else {}
    return {}


def _read(tree: Tree, entry: FileEntry, names: Mapping[str, Any]) -> Iterator[Finding]:
    about = _channel(tree, entry)
    reader = _ChannelReader(about, entry, names)
    yield from odd_members(about, entry.name, guild=dict)
    if entry.suffix == ".csv":
        table = find_columns(entry, _COLUMNS)
        if table is None:
            raise DamagedFile("its columns are not there any more")
        yield from read_table(entry, table, "message", reader.row)
    else:
        yield from read_each(entry, reader.message, noun="message")
    yield reader.record()


class _ChannelReader:
    """Reads the messages of one channel."""

    def __init__(
        self, about: Mapping[str, object], entry: FileEntry, names: Mapping[str, object]
    ) -> None:
        folder = entry.name.split("/")[-2] if "/" in entry.name else "channel"
        number = str(about.get("id") or folder.lstrip("c"))
        guild = about.get("guild")
        self._where = entry.name
        self._key = safe_key(number)
        self._server = str(guild.get("name") or "") if isinstance(guild, dict) else ""
        self._kind = channel_words(about.get("type"))
        self._name = str(about.get("name") or names.get(number) or f"channel {number}")
        self._span = ChatSpan()

    def row(self, cells: Cells, where: str) -> Iterator[Finding]:
        """Yield a message of an older package."""
        files = cells.get("attachments", "")
        yield from self._item(cells["id"], cells["timestamp"], cells["contents"], files, where)

    def message(self, value: Mapping[str, object], where: str) -> Iterator[Finding]:
        """Yield a message."""
        yield from self._item(
            str(value["ID"]),
            str(value["Timestamp"]),
            str(value.get("Contents") or ""),
            str(value.get("Attachments") or ""),
            where,
        )

    def _item(
        self, number: str, moment: str, text: str, files: str, where: str
    ) -> Iterator[Finding]:
        sent = utc_text(moment)
        if sent is None or not number:
            yield Unknown("a message without an id or a time", where)
            return
        addresses = files.split()
        if not text and not addresses:
            yield Skipped("an empty message", where)
            return
        self._span.see(sent)
        key = safe_key(self._key, number)
        data = {
            "id": key,
            "channel_id": self._key,
            "channel": self._name,
            "server": self._server or None,
            "text": text or f"[{counted(len(addresses), 'file')}]",
            "link": addresses[0] if addresses else None,
            "files": len(addresses) or None,
            "sent_at": sent,
        }
        yield Item("messages", key, present(data))

    def record(self) -> Finding:
        """Return the channel itself."""
        if not self._span.count:
            return Skipped("a channel without messages", self._where)
        data = {
            "id": self._key,
            "name": self._name,
            "kind": self._kind or None,
            "server": self._server or None,
            **self._span.members(),
        }
        return Item("channels", self._key, present(data))
