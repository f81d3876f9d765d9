"""iMessage: the chat database of a Mac or of an iPhone's backup, with SMS and RCS in it."""

import sqlite3
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from pdpp.sources.formats.chat_span import ChatSpan
from pdpp.sources.formats.imessage.notice import notice_text
from pdpp.sources.formats.imessage.propertylist import app_text, edited_text, has_unsent_parts
from pdpp.sources.formats.imessage.typedstream import archived_text
from pdpp.sources.formats.phone_backup import backup_folders, backup_name, backup_of
from pdpp.sources.formats.program_database import recognise_databases
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present, with_file
from pdpp.sources.keys import RecordKey, safe_key
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.sqlitefile import SqliteCopy, databases_with, open_database
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    part_of_each,
    roots_of_exports,
)

_TABLES = frozenset({"message", "chat", "handle", "chat_message_join"})
# Seconds from 1970 to 2001, where Apple's clocks begin.
_SINCE_2001 = 978_307_200
# As seconds this would be 31,000 years after 2001, as nanoseconds a quarter of an hour: what is
# larger is in nanoseconds.
_NANOSECONDS = 10**12
_REACTIONS = MappingProxyType(
    {2000: "love", 2001: "like", 2002: "dislike", 2003: "laugh", 2004: "emphasis", 2005: "question"}
)
# Taking a reaction back is a message of its own, whose number is a thousand higher.
_EMOJI, _STICKER, _REMOVED, _VOTE = 2006, 1000, 3000, 4000
_GROUP = 43
_UNSENT = "[unsent]"
_OBJECTS = str.maketrans("", "", "\ufffc\ufffd")
"""What stands in a text where an attachment or the bubble of an app belongs."""
_FIRST_COLUMNS = (
    *("guid", "text", "attributedBody", "subject", "service", "date", "date_read", "is_from_me"),
    "handle_id",
)
"""What a message has since iOS 6 and OS X 10.8."""
_LATER_COLUMNS = (
    frozenset({"item_type", "group_title", "group_action_type", "other_handle"}),
    frozenset({"associated_message_type", "associated_message_guid"}),
    frozenset({"balloon_bundle_id", "payload_data"}),
    frozenset({"message_summary_info"}),
    frozenset({"thread_originator_guid"}),
    frozenset({"date_edited", "date_retracted"}),
    frozenset({"associated_message_emoji"}),
)
"""What came with iOS 7 or 8, 10, 11, 14, 16 and 18."""
_COLUMNS = (*_FIRST_COLUMNS, *(name for names in _LATER_COLUMNS for name in sorted(names)))
_MAYBE = frozenset({"display_name", "transfer_name", "total_bytes"})
"""Columns of chats and attachments that iOS 6 did not have."""
_PREVIEW = ".pluginPayloadAttachment"
"""What the pictures of a link's preview, or of what an app shows, are called."""


class IMessage(Source):
    """``chat.db`` of a Mac, or ``sms.db`` of an iPhone's backup, with the attachments beside it."""

    connector_key = "imessage"
    own_folders = (
        "Attachments",
        "StickerCache",
        "NickNameCache",
        "[0-9a-f][0-9a-f]",
    )
    in_place = True
    label = "iMessage"
    passed_over = MappingProxyType(
        {
            "*-shm": "an index that the program builds anew",
            "*.plist": "settings of the program",
            "Manifest.db": "the list of a backup's files",
            "*/StickerCache/*": "pictures of stickers",
            f"*{_PREVIEW}": "pictures of previews",
        }
    )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return the folder of each database by itself; that of a backup is the one around it."""
        roots = roots_of_exports(databases_with(tree, _TABLES))
        return sorted(set(map(backup_of, roots)))

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for databases with the tables of messages and chats."""
        return recognise_databases(tree, _TABLES, self.label, "chat database")

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each database."""
        return part_of_each(tree.these(recognition.detail["entries"]), partial(_read, tree))

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folders of the service beside the parts."""
        return self.own_folders_below(tree, recognition)

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the folder of each database; that of a backup has others beside it."""
        owned = set(super().belongings(tree, recognition))
        return owned | backup_folders(tree, owned)


@dataclass(slots=True)
class _Chat:
    """A chat and what was seen of it so far."""

    key: RecordKey
    name: str
    people: str
    service: str
    group: bool
    span: ChatSpan = field(default_factory=ChatSpan)

    def item(self) -> Item:
        """Return the record of the chat."""
        data = {
            "id": self.key,
            "name": self.name,
            "participants": self.people or None,
            "service": self.service or None,
            "group": self.group,
            **self.span.members(),
        }
        return Item("chats", self.key, present(data))


def _read(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    with open_database(tree, entry) as database:
        database.check_tables(_TABLES)
        yield from _Reader(tree, entry, database).read()


class _Reader:
    """Reads one database message by message."""

    def __init__(self, tree: Tree, entry: FileEntry, database: SqliteCopy) -> None:
        self._finder = FileFinder(tree)
        self._entry = entry
        self._database = database
        newer = not database.columns["message"].isdisjoint(_LATER_COLUMNS[1])
        self._maybe: Set[str] = frozenset() if newer else _MAYBE
        self._handles = {row["ROWID"]: str(row["id"]) for row in self._rows("handle", "id")}
        self._chats = self._read_chats()
        self._deleted = self._read_deleted()
        joined = database.has("message_attachment_join", "message_id", "attachment_id")
        self._has_files = database.has("attachment") and joined

    def _rows(self, table: str, *names: str) -> Iterator[sqlite3.Row]:
        picked = self._database.pick(table, "t", *names, maybe=self._maybe)
        return self._database.rows(f"SELECT t.ROWID AS ROWID, {picked} FROM {table} AS t")

    def _read_chats(self) -> dict[int, _Chat]:
        people: dict[int, list[str]] = {}
        if self._database.has("chat_handle_join"):
            for row in self._rows("chat_handle_join", "chat_id", "handle_id"):
                name = self._handles.get(row["handle_id"], "")
                people.setdefault(row["chat_id"], []).append(name)
        names = ("guid", "chat_identifier", "display_name", "service_name", "style")
        chats = {}
        for row in self._rows("chat", *names):
            members = ", ".join(sorted(filter(None, people.get(row["ROWID"], []))))
            identifier = str(row["chat_identifier"] or row["guid"] or row["ROWID"])
            is_group = row["style"] == _GROUP or "," in members
            chats[row["ROWID"]] = _Chat(
                safe_key(str(row["guid"] or identifier)),
                str(row["display_name"] or members or identifier),
                members or identifier,
                str(row["service_name"] or ""),
                is_group,
            )
        return chats

    def _read_deleted(self) -> Set[int]:
        """Return the messages that wait to be deleted, which takes a month."""
        table = "chat_recoverable_message_join"
        if table not in self._database.columns:
            return frozenset()
        return {row["message_id"] for row in self._rows(table, "message_id")}

    def read(self) -> Iterator[Finding]:
        """Yield every message, then the chats that have one."""
        picked = self._database.pick("message", "m", *_COLUMNS, later=_LATER_COLUMNS)
        # A message that was sent to two chats is one record; the first of them counts.
        chat = "(SELECT min(chat_id) FROM chat_message_join WHERE message_id = m.ROWID) AS chat_id"
        sql = f"SELECT m.ROWID AS ROWID, {picked}, {chat} FROM message AS m ORDER BY m.ROWID"
        for row in self._database.rows(sql):
            where = f"{self._entry.name} message {row['ROWID']}"
            yield from account(self._message(row, where), where, "message")
        for talk in self._chats.values():
            yield (
                talk.item()
                if talk.span.count
                else Skipped("a chat without messages", self._entry.name)
            )
        yield from self._database.lacking()

    def _message(self, row: sqlite3.Row, where: str) -> Iterator[Finding]:
        sent, guid = _moment(row["date"]), row["guid"]
        if sent is None or not isinstance(guid, str) or not guid:
            yield Unknown("a message without an id or a time", where)
            return
        if row["chat_id"] is None and row["ROWID"] in self._deleted:
            yield Skipped("a message in Recently Deleted", where)
            return
        kind = row["associated_message_type"] or 0
        sender = "me" if row["is_from_me"] else self._handles.get(row["handle_id"], "unknown")
        if kind >= _STICKER and row["associated_message_guid"]:
            yield self._reaction(row, kind, sender, sent, where)
            return
        every = list(self._files(row["ROWID"]))
        given = [file for file in every if file["known"] is not None]
        for _ in range(len(every) - len(given)):
            yield Unknown("a file of which the database tells nothing", where)
        files = [file for file in given if not _name_of(file).endswith(_PREVIEW)]
        for _ in range(len(given) - len(files)):
            yield Skipped("a picture of a preview", where)
        text = self._text(row, len(files))
        if text is None:
            yield Skipped("a message without text or file", where)
            return
        key = safe_key(guid)
        chat = self._chats.get(row["chat_id"])
        if chat is not None:
            chat.span.see(sent)
        replied = row["thread_originator_guid"]
        data = {
            "id": key,
            "chat_id": chat.key if chat else None,
            "chat": chat.name if chat else sender,
            "sender": sender,
            "from_me": bool(row["is_from_me"]),
            "text": text,
            "subject": row["subject"] or None,
            "service": row["service"] or None,
            "reply_to": safe_key(str(replied)) if replied else None,
            "unsent": True if text == _UNSENT or row["date_retracted"] else None,
            "notice": True if row["item_type"] else None,
            "files": len(files) or None,
            "read_at": _moment(row["date_read"]),
            "edited_at": _moment(row["date_edited"]),
            "sent_at": sent,
        }
        yield Item("messages", key, present(data))
        for file in files:
            yield self._attachment(file, key, sent, where)

    def _reaction(self, row: sqlite3.Row, kind: int, sender: str, sent: str, where: str) -> Finding:
        if kind >= _VOTE:
            return Skipped("a vote in a poll", where)
        if kind >= _REMOVED:
            return Skipped("a reaction that was taken back", where)
        sign = _REACTIONS.get(kind)
        if kind == _EMOJI and self._database.has("message", "associated_message_emoji"):
            sign = row["associated_message_emoji"]
        if not sign:
            return Skipped("a sticker put on a message", where)
        # The id of the message stands behind the part of it that is meant: p:0/GUID or bp:GUID.
        target = str(row["associated_message_guid"]).rpartition("/")[2].removeprefix("bp:")
        key = safe_key(str(row["guid"]))
        data = {
            "id": key,
            "message_id": safe_key(target),
            "reaction": str(sign),
            "sender": sender,
            "sent_at": sent,
        }
        return Item("reactions", key, data)

    def _files(self, message: int) -> Iterator[sqlite3.Row]:
        if not self._has_files:
            return
        names = ("guid", "filename", "mime_type", "transfer_name", "total_bytes")
        picked = self._database.pick("attachment", "a", *names, maybe=self._maybe)
        yield from self._database.rows(
            f"SELECT a.ROWID AS known, {picked}"
            " FROM message_attachment_join AS j LEFT JOIN attachment AS a"
            " ON a.ROWID = j.attachment_id WHERE j.message_id = ? ORDER BY a.ROWID",
            message,
        )

    def _text(self, row: sqlite3.Row, files: int) -> str | None:
        """Return what a message says; None where it says nothing at all."""
        text = row["text"]
        if not (isinstance(text, str) and text) and isinstance(row["attributedBody"], bytes):
            text = archived_text(row["attributedBody"])
        text = text.translate(_OBJECTS).strip() if isinstance(text, str) else ""
        if text := text or edited_text(row["message_summary_info"]).translate(_OBJECTS).strip():
            return text
        if row["date_retracted"] or has_unsent_parts(row["message_summary_info"]):
            return _UNSENT
        if row["item_type"]:
            other = self._handles.get(row["other_handle"])
            action = row["group_action_type"] or 0
            return notice_text(row["item_type"], action, row["group_title"], other)
        if text := app_text(row["payload_data"]):
            return text
        if files:
            return f"[{files} files]"
        app = str(row["balloon_bundle_id"] or "").rpartition(":")[2].rpartition(".")[2]
        return f"[{app}]" if app else None

    def _attachment(self, row: sqlite3.Row, message: RecordKey, sent: str, where: str) -> Finding:
        path, name = str(row["filename"] or ""), _name_of(row)
        if not name:
            return Skipped("an attachment without a name", where)
        file = self._finder.find(_backup_name(path)) or self._finder.find(path)
        media_type = str(
            row["mime_type"] or (file.media_type if file else "application/octet-stream")
        )
        key = safe_key(message, str(row["guid"] or name))
        size = row["total_bytes"]
        data = {
            "id": key,
            "message_id": message,
            "name": name,
            "media_type": media_type,
            "size": size if isinstance(size, int) else None,
            "sent_at": sent,
        }
        opener = None if file is None else file.open_exact
        return with_file(Item("attachments", key, present(data)), opener, media_type)


def _name_of(file: sqlite3.Row) -> str:
    """Return what an attachment is called."""
    return str(file["transfer_name"] or str(file["filename"] or "").rpartition("/")[2])


def _moment(count: object) -> str | None:
    """Return a time since 2001, in nanoseconds since 2017 and in seconds before."""
    if not isinstance(count, int | float) or not count:
        return None
    seconds = count / 1e9 if abs(count) > _NANOSECONDS else count
    return epoch_text(round(seconds + _SINCE_2001, 6))


def _backup_name(path: str) -> str:
    """Return what a backup of an iPhone calls an attachment."""
    return backup_name("MediaDomain", path.removeprefix("~/").removeprefix("/var/mobile/"))
