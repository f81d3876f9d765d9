"""Samples of Apple's chat database: a Mac of today, and an iPhone's backup of some years ago."""

import hashlib
import plistlib
from typing import Any

from tests.sources.samples.sample import FormatSample, sqlite_bytes

SECOND = 10**9
ZERO = (1_767_261_600 - 978_307_200) * SECOND
PHOTO = b"\xff\xd8\xff\xe0 mast"
SCHEMA = """
create table handle (ROWID integer primary key autoincrement, id text, service text);
create table chat (ROWID integer primary key autoincrement, guid text, style integer,
 chat_identifier text, service_name text, display_name text, account_login text);
create table chat_handle_join (chat_id integer, handle_id integer);
create table chat_message_join (chat_id integer, message_id integer, message_date integer);
create table message (ROWID integer primary key autoincrement, guid text unique, text text,
 attributedBody blob, subject text, service text, date integer, date_read integer,
 is_from_me integer, handle_id integer, item_type integer, group_title text,
 associated_message_type integer, associated_message_guid text, associated_message_emoji text,
 thread_originator_guid text, date_edited integer, date_retracted integer,
 message_summary_info blob, balloon_bundle_id text, payload_data blob,
 group_action_type integer, other_handle integer);
create table chat_recoverable_message_join (chat_id integer, message_id integer);
create table attachment (ROWID integer primary key autoincrement, guid text, filename text,
 mime_type text, transfer_name text, total_bytes integer);
create table message_attachment_join (message_id integer, attachment_id integer);
"""
OLD_SCHEMA = """
create table handle (ROWID integer primary key, id text);
create table chat (ROWID integer primary key, guid text, chat_identifier text, style integer,
 service_name text);
create table chat_handle_join (chat_id integer, handle_id integer);
create table chat_message_join (chat_id integer, message_id integer);
create table message (ROWID integer primary key, guid text, text text, date integer,
 is_from_me integer, handle_id integer, attributedBody blob, subject text, service text,
 date_read integer);
create table attachment (ROWID integer primary key, guid text, filename text, mime_type text);
create table message_attachment_join (message_id integer, attachment_id integer);
"""


def typed(text: str) -> bytes:
    """Return a text as a typed stream holds it."""
    content = text.encode()
    if len(content) < 0x80:
        size = bytes([len(content)])
    elif len(content) < 1 << 16:
        size = b"\x81" + len(content).to_bytes(2, "little")
    else:
        size = b"\x82" + len(content).to_bytes(4, "little")
    head = b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x12NSAttributedString\x00"
    return head + b"\x84\x84\x08NSString\x01\x94\x84\x01+" + size + content + b"\x86\x84\x02iI\x01"


def keyed(text: str) -> bytes:
    """Return a text as NSKeyedArchiver writes it."""
    held = {"$objects": ["$null", {"NSString": plistlib.UID(2)}, {"NS.string": text}]}
    return plistlib.dumps(held, fmt=plistlib.FMT_BINARY)


def summary(*texts: str, unsent: bool = False) -> bytes:
    """Return what is kept of a message that was edited or taken back."""
    versions = [{"d": 789_000_000.0 + at, "t": typed(text)} for at, text in enumerate(texts)]
    held = {"ust": True, **({"ec": {"0": versions}} if texts else {})}
    return plistlib.dumps(held | ({"rp": [0]} if unsent else {}), fmt=plistlib.FMT_BINARY)


def bubble(app: str, text: str, address: str = "", **shown: str) -> bytes:
    """Return the bubble of an app as NSKeyedArchiver writes it: two dictionaries in a list."""
    objects: list[Any] = ["$null"]

    def put(value: Any) -> plistlib.UID:
        objects.append(value)
        return plistlib.UID(len(objects) - 1)

    def dictionary(members: dict[str, Any]) -> plistlib.UID:
        keys = [put(name.replace("_", "-")) for name in members]
        return put({"NS.keys": keys, "NS.objects": list(members.values())})

    info = dictionary({name: put({"NS.string": value}) for name, value in shown.items()})
    link = {"URL": put({"NS.base": "$null", "NS.relative": put(address)})} if address else {}
    root = dictionary({"an": put(app), "ldtext": put(text), "userInfo": info, **link})
    return plistlib.dumps({"$top": {"root": root}, "$objects": objects}, fmt=plistlib.FMT_BINARY)


LONG = "The pilot boat waits by the outer buoy until the fog lifts. " + "So be patient. " * 30


def row(number: int, **more: Any) -> tuple[Any, ...]:
    made: dict[str, Any] = {
        "ROWID": number,
        "guid": f"GUID-{number}",
        "text": None,
        "attributedBody": None,
        "subject": None,
        "service": "iMessage",
        "date": ZERO + number * SECOND,
        "date_read": 0,
        "is_from_me": 0,
        "handle_id": 1,
        "item_type": 0,
        "group_title": None,
        "associated_message_type": 0,
        "associated_message_guid": None,
        "associated_message_emoji": None,
        "thread_originator_guid": None,
        "date_edited": 0,
        "date_retracted": 0,
        "message_summary_info": None,
        "balloon_bundle_id": None,
        "payload_data": None,
        "group_action_type": 0,
        "other_handle": 0,
        **more,
    }
    return tuple(made.values())


MESSAGES = [
    row(1, attributedBody=typed(LONG), date_read=ZERO + 60 * SECOND),
    row(2, text="Short", is_from_me=1, handle_id=0, thread_originator_guid="GUID-1"),
    row(3, attributedBody=keyed("Kept by an archiver"), date_edited=ZERO + 9 * SECOND),
    row(4, associated_message_type=2001, associated_message_guid="p:0/GUID-2"),
    row(
        5,
        associated_message_type=2006,
        associated_message_guid="bp:GUID-1",
        associated_message_emoji="🌊",
    ),
    row(6, associated_message_type=3001, associated_message_guid="p:0/GUID-2"),
    row(7, attributedBody=typed("\ufffc\ufffc")),
    row(8, date_retracted=ZERO + 99 * SECOND),
    row(9, item_type=2, group_title="Pilots"),
    row(10),
]
ATTACHMENTS = [
    (1, "A-1", "~/Library/Messages/Attachments/ab/01/X/mast.jpg", "image/jpeg", "mast.jpg", 9),
    (2, "A-2", "~/Library/Messages/Attachments/ab/02/Y/gone.mov", None, "gone.mov", 5),
]


def database(*messages: tuple[Any, ...]) -> bytes:
    return sqlite_bytes(
        SCHEMA,
        {
            "handle": [(1, "+351910000001", "iMessage"), (2, "bo@x.example", "iMessage")],
            "chat": [
                (1, "iMessage;+;chat77", 43, "chat77", "iMessage", "Pilots", "E:nora@x.example"),
                (2, "iMessage;-;bo@x.example", 45, "bo@x.example", "iMessage", "", ""),
            ],
            "chat_handle_join": [(1, 1), (1, 2), (2, 2)],
            "message": messages,
            "chat_message_join": [(1, held[0], held[6]) for held in messages],
            "attachment": ATTACHMENTS,
            "message_attachment_join": [(7, 1), (7, 2)],
        },
    )


BACKUP_PATH = "Library/SMS/Attachments/ab/01/X/mast.jpg"
BACKUP_NAME = hashlib.sha1(f"MediaDomain-{BACKUP_PATH}".encode(), usedforsecurity=False).hexdigest()
OLD_WORDS = "The slipway is closed for painting this week"
BACKUP = sqlite_bytes(
    OLD_SCHEMA,
    {
        "handle": [(1, "+351910000001")],
        "chat": [(1, "SMS;-;+351910000001", "+351910000001", 45, "SMS")],
        "message": [
            (1, "OLD-1", OLD_WORDS, 400_000_000, 0, 1, None, None, "SMS", 0),
            (2, "OLD-2", "\ufffc", 400_000_060, 1, 0, None, None, "SMS", 0),
        ],
        "chat_handle_join": [(1, 1)],
        "chat_message_join": [(1, 1), (1, 2)],
        "attachment": [(1, "A-1", f"~/{BACKUP_PATH}", "image/jpeg")],
        "message_attachment_join": [(2, 1)],
    },
)

SAMPLES = (
    FormatSample(
        "imessage",
        "a Mac",
        {
            "Messages/chat.db": database(*MESSAGES),
            "Messages/Attachments/ab/01/X/mast.jpg": PHOTO,
            "Messages/chat.db-shm": b"\x00" * 32,
        },
        cut="Messages/chat.db",
        words="pilot boat waits outer buoy",
        sentence="The pilot boat waits by the outer buoy until the fog lifts.",
        units={"message": ["rows of message"]},
        earlier={"Messages/chat.db": database(*MESSAGES[:2])},
        renamed={"Messages/chat.db": "Messages/chat copy.db"},
    ),
    FormatSample(
        "imessage",
        "an older backup of an iPhone",
        {
            "3d/3d0d7e5fb2ce288813306e4d4636395e047a3d28": BACKUP,
            f"{BACKUP_NAME[:2]}/{BACKUP_NAME}": PHOTO,
        },
        words="slipway closed painting",
        sentence="The slipway is closed for painting this week",
        units={"message": ["rows of message"]},
    ),
)
