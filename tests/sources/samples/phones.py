"""Samples of phones: text messages and calls of Android, and Signal's plain export."""

import hashlib
import json
from base64 import b64encode
from typing import Any

from tests.sources.samples.sample import FormatSample, json_bytes

ZERO = 1_767_261_600_000
PICTURE = b"\xff\xd8\xff\xe0 a buoy"
SMS = (
    f'<sms protocol="0" address="+351 910-000-001" date="{ZERO}" type="1" subject="null" '
    'body="The oyster boat is late &#55357;&#56842; &amp; wet" contact_name="Inês Duarte" '
    'readable_date="x" />',
    f'<sms address="+351910000001" date="{ZERO + 1}" type="2" body="Then wait" '
    'contact_name="(Unknown)" />',
    f'<sms address="+351910000001" date="{ZERO + 1}" type="2" body="Then wait" />',
    f'<sms address="Bank" date="{ZERO + 2}" type="1" body="null" contact_name="Bank" />',
    '<sms address="x" date="soon" type="1" body="Hm" />',
)
MMS = (
    f'<mms date="{ZERO + 3}" date_sent="{ZERO // 1000}" msg_box="1" m_id="null" sub="null" '
    'address="+351910000001~+351910000002" contact_name="Inês, Bo"><parts>'
    '<part seq="-1" ct="application/smil" name="null" text="&lt;smil/&gt;" />'
    '<part seq="0" ct="text/plain" name="null" text="Look at the green buoy" />'
    '<part seq="0" ct="image/jpeg" cl="buoy.jpg" name="null" text="null" '
    f'data="{b64encode(PICTURE).decode()}" />'
    '</parts><addrs><addr address="+351910000002" type="137" charset="106" />'
    '<addr address="insert-address-token" type="151" charset="106" /></addrs></mms>'
)
CALLS = (
    f'<call number="+351910000001" duration="61" date="{ZERO}" type="2" '
    'contact_name="Inês Duarte" />',
    f'<call number="+351910000009" duration="0" date="{ZERO + 5}" type="3" '
    'contact_name="(Unknown)" />',
)


def document(root: str, *held: str) -> bytes:
    before = (
        f'<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>\n<{root} count="{len(held)}" '
    )
    return (
        f'{before}backup_set="b1" backup_date="{ZERO}">\n{chr(10).join(held)}\n</{root}>\n'.encode()
    )


HASH, KEY = hashlib.sha256(PICTURE).digest(), b"\x07" * 32
FILE = hashlib.sha256(HASH + KEY).hexdigest()
POINTER = {
    "contentType": "image/jpeg",
    "fileName": "buoy.jpg",
    "locatorInfo": {
        "plaintextHash": b64encode(HASH).decode(),
        "localKey": b64encode(KEY).decode(),
        "size": len(PICTURE),
    },
}


def said(number: int, author: str, text: str | None, *, chat: str = "1", **more: Any) -> Any:
    way: dict[str, Any] = {"outgoing": {}} if author == "1" else {"incoming": {}}
    item = {
        "chatId": chat,
        "authorId": author,
        "dateSent": str(ZERO + number),
        "revisions": [],
        **way,
    }
    if text is not None:
        item["standardMessage"] = {"text": {"body": text}, **more}
    else:
        item.update(more)
    return {"chatItem": item}


BEFORE: list[Any] = [
    {"version": "1", "backupTimeMs": str(ZERO), "mediaRootBackupKey": "c2VjcmV0"},
    {"account": {"givenName": "Nora", "familyName": "Lind"}},
    {"recipient": {"id": "1", "self": {}}},
    {
        "recipient": {
            "id": "2",
            "contact": {"aci": "YWNp", "e164": "351910000001", "profileGivenName": "Inês"},
        }
    },
    {
        "recipient": {
            "id": "3",
            "group": {"masterKey": "a2V5", "snapshot": {"title": {"title": "Oyster crew"}}},
        }
    },
    {"chat": {"id": "1", "recipientId": "2"}},
    {"chat": {"id": "2", "recipientId": "3"}},
    {"chat": {"id": "3", "recipientId": "1"}},
]
TALK: list[Any] = [
    said(1, "2", "The dredge rope is hidden beneath the ice box"),
    said(
        2,
        "1",
        "Good",
        quote={"targetSentTimestamp": str(ZERO + 1), "authorId": "2", "text": {"body": "…"}},
        reactions=[{"emoji": "🦪", "authorId": "2"}],
        linkPreview=[{"url": "https://oysters.example/"}],
    ),
    said(3, "2", "", attachments=[{"pointer": POINTER}, {"pointer": {"contentType": "video/mp4"}}]),
    said(4, "2", None, chat="2", stickerMessage={"sticker": {"emoji": "🌊"}}),
    said(5, "2", None, chat="2", remoteDeletedMessage={}),
    said(6, "2", None, chat="2", updateMessage={"groupChange": {}}),
    said(7, "2", None, chat="2", somethingNew={}),
]


def signal_lines(*lines: Any) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


SIGNAL = {
    "signal-export/metadata.json": json_bytes({"version": 1}),
    "signal-export/main.jsonl": signal_lines(*BEFORE, *TALK),
    f"signal-export/files/{FILE[:2]}/{FILE}.jpg": PICTURE,
}
BROKEN = signal_lines(*BEFORE, said(9, "2", "First line of a lament§second line of a lament"))

SAMPLES = (
    FormatSample(
        "sms_backup",
        "messages and calls",
        {
            "sms-20260101100000.xml": document("smses", *SMS, MMS),
            "calls-20260101100000.xml": document("calls", *CALLS),
        },
        words="oyster boat late wet",
        sentence="The oyster boat is late 😊 & wet",
        units={
            "sms": ["XML elements sms"],
            "mms": ["XML elements mms"],
            "call": ["XML elements call"],
        },
        earlier={"sms-20251231100000.xml": document("smses", *SMS[:1])},
        renamed={"sms-20260101100000.xml": "sms (1).xml"},
    ),
    FormatSample(
        "sms_backup",
        "messages alone",
        {"sms.xml": document("smses", *SMS, MMS)},
        words="look green buoy",
        sentence="Look at the green buoy",
        cut="sms.xml",
    ),
    FormatSample(
        "signal",
        "a plain export",
        SIGNAL,
        words="dredge rope hidden ice box",
        sentence="The dredge rope is hidden beneath the ice box",
        units={"line": ["lines with text"]},
        earlier={**SIGNAL, "signal-export/main.jsonl": signal_lines(*BEFORE, *TALK[:2])},
        cut="signal-export/main.jsonl",
        renamed={"signal-export/main.jsonl": "signal-export/main (1).jsonl"},
    ),
    FormatSample(
        "signal",
        "a text with a raw line feed",
        {"main.jsonl": BROKEN.replace("§".encode(), b"\n")},
        words="second line lament",
        sentence="First line of a lament\nsecond line of a lament",
    ),
)
