"""WhatsApp's database on Apple's devices: every chat of a Mac or of an iPhone's backup.

Chats and people are called by their addresses (``…@s.whatsapp.net``, ``…@g.us``), times are seconds
since 2001 in UTC, and pictures and files lie in ``Message/Media``.
"""

import sqlite3
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from mimetypes import guess_type

from pdpp.sources.formats.chat_span import ChatSpan
from pdpp.sources.formats.phone_backup import backup_folders, backup_name
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, SeenKeys, safe_key
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.protobuf import Message
from pdpp.sources.reading.sqlitefile import SqliteCopy, open_database
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree

TABLES = frozenset({"ZWAMESSAGE", "ZWACHATSESSION"})
_SINCE_2001 = 978_307_200
_DOMAIN = "AppDomainGroup-group.net.whatsapp.WhatsApp.shared"
_GROUP, _OF_A_DAY, _CHANNEL = "@g.us", frozenset({2, 3}), 5
_CONTACT, _PLACE, _DELETED, _POLL = 4, 5, 14, 46
_NOTES = frozenset({6, 10})
_FILES = frozenset({1, 2, 3, 8, 11, 15, 23, 38, 39, 43})
"""Kinds of messages that come with a picture, a film, a sound, a sticker or another file."""
_MESSAGE = (
    *("ZTEXT", "ZMESSAGEDATE", "ZISFROMME", "ZFROMJID", "ZSTANZAID", "ZMESSAGETYPE"),
    *("ZCHATSESSION", "ZGROUPMEMBER", "ZPUSHNAME"),
)
_MAYBE = frozenset({"ZPUSHNAME", "ZFIRSTNAME", "ZWAPROFILEPUSHNAME"})
"""What early versions did not have."""
_MEDIA = ("ZMEDIALOCALPATH", "ZTITLE", "ZVCARDNAME", "ZLATITUDE", "ZLONGITUDE")


@dataclass(slots=True)
class _Chat:
    """A chat and what was seen of it so far; ``kind`` is the number WhatsApp gives it."""

    address: str
    name: str
    kind: object
    span: ChatSpan = field(default_factory=ChatSpan)

    @property
    def key(self) -> RecordKey:
        """Return the name of the chat in records."""
        return safe_key(self.address)

    def item(self) -> Item:
        """Return the record of the chat."""
        return Item("chats", self.key, {"id": self.key, "name": self.name, **self.span.members()})


def folders_of_files(tree: Tree, databases: Iterable[str]) -> list[str]:
    """Return the folders in which the pictures and files of some databases lie."""
    folders = {name.rpartition("/")[0] for name in databases}
    beside = [f"{folder}/Message".lstrip("/") for folder in folders]
    return [*beside, *backup_folders(tree, folders)]


def read_database(tree: Tree, entry: FileEntry) -> Iterator[Finding]:
    """Yield every message of a database, then the chats that have one."""
    with open_database(tree, entry) as database:
        database.check_tables(TABLES)
        yield from _Reader(tree, entry, database).read()


class _Reader:
    """Reads one database message by message."""

    def __init__(self, tree: Tree, entry: FileEntry, database: SqliteCopy) -> None:
        self._finder = FileFinder(tree)
        self._entry = entry
        self._database = database
        self._seen = SeenKeys()
        self._told_names = self._read_names()
        self._members = self._read_members()
        self._addresses = self._read_addresses()
        self._chats = self._read_chats()

    def _rows(self, table: str, *names: str) -> Iterator[sqlite3.Row]:
        if table not in _MAYBE and not self._database.has(table):
            return iter(())
        if table not in self._database.columns:
            return iter(())
        picked = self._database.pick(table, "t", "Z_PK", *names, maybe=_MAYBE)
        return self._database.rows(f"SELECT {picked} FROM {table} AS t")

    def _read_names(self) -> Mapping[str, str]:
        """Return what people call themselves, by their addresses."""
        rows = self._rows("ZWAPROFILEPUSHNAME", "ZJID", "ZPUSHNAME")
        return {str(row["ZJID"]): str(row["ZPUSHNAME"]) for row in rows if row["ZPUSHNAME"]}

    def _read_members(self) -> Mapping[int, str]:
        """Return the names of those who take part in groups."""
        rows = self._rows("ZWAGROUPMEMBER", "ZMEMBERJID", "ZCONTACTNAME", "ZFIRSTNAME")
        return {
            row["Z_PK"]: str(row["ZCONTACTNAME"] or "")
            or self._told_names.get(str(row["ZMEMBERJID"]), "")
            or str(row["ZFIRSTNAME"] or "")
            for row in rows
        }

    def _read_addresses(self) -> Mapping[int, str]:
        """Return the addresses of those who take part in groups."""
        rows = self._rows("ZWAGROUPMEMBER", "ZMEMBERJID")
        return {row["Z_PK"]: str(row["ZMEMBERJID"] or "unknown") for row in rows}

    def _read_chats(self) -> dict[int, _Chat]:
        chats = {}
        for row in self._rows("ZWACHATSESSION", "ZCONTACTJID", "ZPARTNERNAME", "ZSESSIONTYPE"):
            if address := str(row["ZCONTACTJID"] or ""):
                name = str(row["ZPARTNERNAME"] or "") or self._called(address)
                chats[row["Z_PK"]] = _Chat(address, name, row["ZSESSIONTYPE"])
        return chats

    def _called(self, address: str) -> str:
        return self._told_names.get(address) or _number(address)

    def read(self) -> Iterator[Finding]:
        """Yield every message, then the chats that have one."""
        database = self._database
        joined = database.has("ZWAMEDIAITEM", "Z_PK") and database.has("ZWAMESSAGE", "ZMEDIAITEM")
        nothing = ", ".join(f"NULL AS {name}" for name in _MEDIA)
        media = database.pick("ZWAMEDIAITEM", "f", *_MEDIA) if joined else nothing
        message = database.pick("ZWAMESSAGE", "m", *_MESSAGE, maybe=_MAYBE)
        sql = (
            f"SELECT m.Z_PK AS Z_PK, {message}, {media}"
            f" FROM ZWAMESSAGE AS m"
            f"{' LEFT JOIN ZWAMEDIAITEM AS f ON f.Z_PK = m.ZMEDIAITEM' if joined else ''}"
            " ORDER BY m.Z_PK"
        )
        for row in database.rows(sql):
            where = f"{self._entry.name} message {row['Z_PK']}"
            yield from account(self._message(row, where), where, "message")
        for chat in self._chats.values():
            yield (
                chat.item()
                if chat.span.count
                else Skipped("a chat without messages", self._entry.name)
            )
        yield from database.lacking()

    def _message(self, row: sqlite3.Row, where: str) -> Iterator[Finding]:
        chat, sent, kind = self._chats.get(row["ZCHATSESSION"]), _moment(row), row["ZMESSAGETYPE"]
        file = self._file(row) if kind in _FILES else None
        if chat is None or sent is None:
            yield Unknown("a message without a chat or a time", where)
        elif reason := _left_out(chat, kind):
            yield Skipped(reason, where)
        elif (text := self._poll(row) if kind == _POLL else _text(row, kind)) is None:
            yield Unknown(f"a message of the kind {kind}", where)
        else:
            chat.span.see(sent)
            key = self._key(chat, row)
            data = {
                "id": key,
                "chat_id": chat.key,
                "chat": chat.name,
                "sender": self._sender(chat, row),
                "text": text,
                "deleted": True if kind == _DELETED else None,
                "service": False,
                "media_omitted": kind in _FILES and file is None,
                "file_name": _file_name(row) if kind in _FILES else None,
                "floating": False,
                "sent_at": sent,
            }
            yield Item("messages", key, present(data))
            if file is not None:
                yield _media_item(chat, key, _file_name(row) or file.base, file, sent)

    def _key(self, chat: _Chat, row: sqlite3.Row) -> RecordKey:
        """Return the name of a message: by the id that WhatsApp gave it, in its chat."""
        told = str(row["ZSTANZAID"] or f"{row['ZMESSAGEDATE']} {row['Z_PK']}")
        key = safe_key(chat.address, told)
        return key if self._seen.first(key) else safe_key(chat.address, told, str(row["Z_PK"]))

    def _sender(self, chat: _Chat, row: sqlite3.Row) -> str:
        if row["ZISFROMME"]:
            return "me"
        if not chat.address.endswith(_GROUP):
            return chat.name
        address = self._addresses.get(row["ZGROUPMEMBER"]) or str(row["ZFROMJID"] or "unknown")
        known = self._members.get(row["ZGROUPMEMBER"]) or _told_name(row["ZPUSHNAME"])
        return known or self._called(address)

    def _poll(self, row: sqlite3.Row) -> str | None:
        """Return the question of a poll and its options, which stand among who received it."""
        if "ZRECEIPTINFO" not in self._database.columns.get("ZWAMESSAGEINFO", frozenset()):
            return None
        sql = "SELECT ZRECEIPTINFO AS about FROM ZWAMESSAGEINFO WHERE ZMESSAGE = ?"
        for held in self._database.rows(sql, row["Z_PK"]):
            poll = Message(held["about"] if isinstance(held["about"], bytes) else b"").message(8)
            options = [f"- {option.text(1) or ''}" for option in poll.messages(3)]
            if question := poll.text(2):
                return "\n".join([question, *options])
        return None

    def _file(self, row: sqlite3.Row) -> FileEntry | None:
        """Return the file of a message, in its folder or under the name that a backup gives it."""
        path = str(row["ZMEDIALOCALPATH"] or "").lstrip("/")
        if not path:
            return None
        place = f"Message/{path}"
        return self._finder.find(backup_name(_DOMAIN, place)) or self._finder.find(place)


def _left_out(chat: _Chat, kind: object) -> str:
    """Return why a message is left out; nothing where it is not."""
    if chat.kind in _OF_A_DAY or chat.address.endswith(("@status", "status@broadcast")):
        return "a status, which was to be seen for a day"
    if chat.kind == _CHANNEL or chat.address.endswith("@newsletter"):
        return "a post of a channel"
    return "a note by WhatsApp, such as who joined" if kind in _NOTES else ""


def _text(row: sqlite3.Row, kind: object) -> str | None:
    """Return what a message says; None where nothing of it can be said."""
    written, title = row["ZTEXT"], row["ZTITLE"]
    if kind == _PLACE and isinstance(row["ZLATITUDE"], float | int):
        address = f"https://maps.google.com/?q={row['ZLATITUDE']},{row['ZLONGITUDE']}"
        return "\n".join([*(str(told) for told in (written or title,) if told), address])
    if kind == _CONTACT and row["ZVCARDNAME"]:
        return str(row["ZVCARDNAME"])
    if written or title:
        return str(written or title)
    return "" if kind in _FILES or kind == _DELETED else None


def _told_name(packed: object) -> str:
    """Return what the sender of a message calls himself, as it is kept with the message."""
    try:
        return Message(b64decode(str(packed or ""), validate=True)).text(1) or ""
    except ValueError:
        return ""


def _file_name(row: sqlite3.Row) -> str | None:
    return str(row["ZMEDIALOCALPATH"] or "").rpartition("/")[2] or None


def _media_item(chat: _Chat, message: RecordKey, name: str, file: FileEntry, sent: str) -> Item:
    media_type = guess_type(name)[0] or file.media_type
    data = {
        "id": message,
        "message_id": message,
        "chat_id": chat.key,
        "name": name,
        "media_type": media_type,
        "floating": False,
        "sent_at": sent,
    }
    return Item("media", message, data, (Attachment("file", file.open_exact, media_type),))


def _moment(row: sqlite3.Row) -> str | None:
    seconds = row["ZMESSAGEDATE"]
    if not isinstance(seconds, int | float) or not seconds:
        return None
    return epoch_text(round(seconds + _SINCE_2001, 6))


def _number(address: str) -> str:
    """Return the telephone number in an address; what has none stays as it is."""
    number, _, place = address.partition("@")
    return f"+{number}" if place == "s.whatsapp.net" and number.isdecimal() else address
