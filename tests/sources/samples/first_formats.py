"""Samples of the formats whose own tests make their files."""

import json

from tests.sources.formats import test_bank_csv as bank_csv
from tests.sources.formats import test_bank_ofx as bank_ofx
from tests.sources.formats import test_calendar_ics as ics
from tests.sources.formats import test_chatgpt as chatgpt
from tests.sources.formats import test_claude_ai as claude_ai
from tests.sources.formats import test_claude_code as claude_code
from tests.sources.formats import test_codex as codex
from tests.sources.formats import test_contacts_vcard as vcard
from tests.sources.formats import test_mail as mail
from tests.sources.formats import test_markdown as markdown
from tests.sources.formats import test_slack as slack
from tests.sources.formats import test_telegram as telegram
from tests.sources.formats import test_telegram_pages as pages
from tests.sources.formats import test_whatsapp as whatsapp
from tests.sources.formats.telegram_pages import said
from tests.sources.samples.sample import FormatSample, json_lines

_USER = json.dumps({"id": "user-1", "email": "nora@lind.example"}).encode()

_EARLIER_TELEGRAM = {
    **telegram.ACCOUNT,
    "chats": {"about": "…", "list": [{**telegram.CHAT, "messages": telegram.CHAT["messages"][:2]}]},
}
_MINT = """"Date","Description","Original Description","Amount","Transaction Type","Category",\
"Account Name","Labels","Notes"
"1/30/2026","Varnish for the wheelhouse","VARNISH 22","41.90","debit","Home","Checking","",""
"1/31/2026","Harbour office","PAY","1200.00","credit","Paycheck","Checking","",""
"2/01/2026","Bakery","BAKERY 7","4.50","debit","Food","Checking","",""
"""

_VERSIONS = [
    {"id": "v1", "title": "Old", "created_at": "2026-09-01T08:00:00Z"},
    {"id": "v2", "title": "Chart of the mole", "created_at": "2026-09-02T08:00:00Z"},
]
_DESIGN = {
    "uuid": "dc-1",
    "title": "Weather vane",
    "project": {"uuid": "p-1", "name": "Tide almanac"},
    "created_at": "2026-09-01T08:00:00Z",
    "updated_at": "2026-09-01T09:00:00Z",
    "messages": [
        {
            "uuid": "dm-1",
            "role": "user",
            "created_at": "2026-09-01T08:00:00Z",
            "content": {
                "id": "x",
                "content": "A heron for the weather vane, carving only",
                "attachments": [],
                "contentBlocks": [],
            },
        }
    ],
}
_PAGE = {
    "id": "a-1",
    "kind": "artifact",
    "visibility": "private",
    "updated_at": "2026-09-02T08:00:00Z",
    "active_version": "v2",
    "versions": _VERSIONS,
}
_SINCE_AUGUST: dict[str, object] = {
    "conversations-000/conversations.json": [claude_ai.RHYTHM, claude_ai.OLD],
    "projects-000/projects/p-1.json": claude_ai.PROJECT,
    "memories-000/memories/acc-1.json": {
        **claude_ai.MEMORY,
        "memory_files": [{"path": "/areas/sea.md", "content": "Neap.", "updated_at": ""}],
    },
    "light_metadata-000/users.json": claude_ai.USERS,
    "light_metadata-000/login_history.json": {"login_events": []},
    "frames-000/artifacts/a-1/artifact.json": _PAGE,
    "frames-000/artifacts/a-1/artifact_comments.json": {"threads": []},
    "design_chats-000/design_chats/dc-1.json": _DESIGN,
}
CLAUDE_SINCE_AUGUST = {
    **{name: json.dumps(value).encode() for name, value in _SINCE_AUGUST.items()},
    "frames-000/artifacts/a-1/versions/v1.html": b"<p>old</p>",
    "frames-000/artifacts/a-1/versions/v2.html": b"<p>The mole at low water</p>",
}

SAMPLES = (
    FormatSample(
        "bank_csv",
        "a German table",
        {"statement.csv": bank_csv.GERMAN.encode()},
        words="Miete Leuchtturm",
        sentence="Miete für den Leuchtturm im Februar",
        cut="statement.csv",
        torn=1,
    ),
    FormatSample(
        "bank_csv",
        "Mint, whose amounts have no sign",
        {"transactions.csv": _MINT.encode()},
        words="varnish for the wheelhouse",
        sentence="Varnish for the wheelhouse",
        units={"row": ["rows below a header"]},
        earlier={"transactions.csv": _MINT[: _MINT.rindex('"2/')].encode()},
    ),
    FormatSample(
        "bank_csv",
        "Wells Fargo, without a header",
        {"Checking1.csv": bank_csv.WELLS_FARGO.encode()},
        words="lantern room",
        sentence="RENT OF THE LANTERN ROOM",
        units={"row": ["lines with text"]},
        earlier={"Checking1.csv": bank_csv.WELLS_FARGO.partition("\n")[2].encode()},
        cut="Checking1.csv",
        torn=1,
        renamed={"Checking1.csv": "Checking1 (1).csv"},
    ),
    FormatSample(
        "bank_ofx",
        "SGML",
        {"statement.ofx": bank_ofx.sgml(bank_ofx.COFFEE, bank_ofx.RENT, bank_ofx.PAY)},
        words="lighthouse keeper",
        sentence="Rent for the lighthouse keeper",
        units={"transaction": ["transactions of a statement"]},
        earlier={"statement.ofx": bank_ofx.sgml(bank_ofx.COFFEE)},
        cut="statement.ofx",
        renamed={"statement.ofx": "statement (1).ofx"},
    ),
    FormatSample(
        "bank_ofx",
        "XML of a broker",
        {"positions.qfx": bank_ofx.investments(bank_ofx.STOCK, bank_ofx.FUND)},
        words="tidewater income",
        sentence="Tidewater Income Fund",
        units={
            "holding": ["holdings of a statement"],
            "security": ["securities of a statement"],
        },
        earlier={
            "positions.qfx": bank_ofx.investments(
                bank_ofx.position("STOCK", "78462F103", "200", "47000.00"), names=bank_ofx.NAMES[:1]
            )
        },
        cut="positions.qfx",
        renamed={"positions.qfx": "download (3).qfx"},
    ),
    FormatSample(
        "calendar_ics",
        "a calendar",
        {
            "nora.ics": ics.calendar(
                *(ics.CHOIR, ics.MOVED, ics.HOLIDAY, ics.FLOATING, ics.LISBON, ics.TASK, ics.DIARY)
            )
        },
        words="sing tide song four parts",
        sentence="We sing the tide song in four parts",
        units={"VEVENT": ["VEVENT"], "VTODO": ["VTODO"], "VJOURNAL": ["VJOURNAL"]},
        earlier={"nora.ics": ics.calendar(ics.CHOIR)},
        cut="nora.ics",
        renamed={"nora.ics": "nora (1).ics"},
    ),
    FormatSample(
        "chatgpt",
        "conversations and a user",
        {
            "conversations.json": json.dumps([chatgpt.TIDES, chatgpt.NEWER]).encode(),
            "user.json": _USER,
            "file-Ab12-harbour.jpg": chatgpt.PHOTO,
        },
        words="half past three harbour table",
        sentence="At half past three, by the harbour",
        units={"conversation": ["JSON objects at item"]},
        earlier={
            "conversations.json": json.dumps([chatgpt.TIDES]).encode(),
            "user.json": _USER,
            "file-Ab12-harbour.jpg": chatgpt.PHOTO,
        },
        cut="conversations.json",
        renamed={"conversations.json": "conversations (1).json"},
    ),
    FormatSample(
        "claude_ai",
        "before August 2026",
        claude_ai.files(claude_ai.RHYTHM, claude_ai.OLD),
        words="two short flashes and a long pause",
        sentence="Two short flashes and a long pause",
        units={"message": ["JSON objects at item.chat_messages.item"]},
        earlier=claude_ai.files(claude_ai.OLD),
        cut="conversations.json",
        renamed={"conversations.json": "conversations (1).json"},
    ),
    FormatSample(
        "claude_ai",
        "since August 2026, unpacked",
        CLAUDE_SINCE_AUGUST,
        words="heron carving weather vane",
        sentence="A heron for the weather vane",
        units={
            "message": ["JSON objects at item.chat_messages.item", "JSON objects at messages.item"]
        },
        earlier={
            name: held
            for name, held in CLAUDE_SINCE_AUGUST.items()
            if name.startswith(("conversations", "light"))
        },
        cut="projects-000/projects/p-1.json",
    ),
    FormatSample(
        "claude_code",
        "a session",
        {"projects/harbour/session.jsonl": json_lines(claude_code.TALK)},
        words="lighthouse clock ignores",
        sentence="The lighthouse clock ignores summer time.",
        units={"line": ["lines with text"]},
        earlier={"projects/harbour/session.jsonl": json_lines(claude_code.TALK[:3])},
        cut="projects/harbour/session.jsonl",
    ),
    FormatSample(
        "codex",
        "lines with payloads",
        {f"sessions/{codex.NAME}": json_lines(codex.TALK)},
        words="summer timetable taken down",
        sentence="The summer timetable was never taken down.",
        units={"line": ["lines with text"]},
        earlier={f"sessions/{codex.NAME}": json_lines(codex.TALK[:5])},
        cut=f"sessions/{codex.NAME}",
    ),
    FormatSample(
        "contacts_vcard",
        "three versions",
        {"contacts.vcf": vcard.book(vcard.OLD, vcard.APPLE, vcard.MODERN)},
        words="likes green folder best",
        sentence="Likes the green folder best",
        units={"card": ["VCARD"]},
        earlier={"contacts.vcf": vcard.book(vcard.OLD)},
        cut="contacts.vcf",
        renamed={"contacts.vcf": "contacts (1).vcf"},
    ),
    FormatSample(
        "mail",
        "an mbox of Gmail",
        {"All mail.mbox": mail.box(mail.GMAIL, mail.REPLY)},
        words="nobody should cross from noon",
        sentence="From noon on, nobody should",
        units={"message": ["messages of a mailbox"]},
        earlier={"All mail.mbox": mail.box(mail.GMAIL)},
        cut="All mail.mbox",
        renamed={"All mail.mbox": "All mail (1).mbox"},
    ),
    FormatSample(
        "markdown",
        "an Obsidian vault",
        {
            "vault/.obsidian/app.json": b"{}",
            "vault/harbour/Tides.md": markdown.TIDES.encode(),
            "vault/Moon.md": markdown.MOON.encode(),
            "vault/attachments/mole.png": markdown.PHOTO,
            "vault/harbour/charts/my chart.pdf": b"%PDF",
        },
        words='"old mole is under water at"',
        sentence="The old mole is under water at",
        units={"note": ["files .md"]},
        earlier={
            "vault/.obsidian/app.json": b"{}",
            "vault/harbour/Tides.md": markdown.TIDES.encode(),
        },
        uncut="a note may end anywhere",
        named_by_path=True,
    ),
    FormatSample(
        "slack",
        "days of messages",
        slack.files(slack.DAYS),
        words='"old mole will be under water"',
        sentence="The old mole will be under water",
        units={"item": ["JSON objects at item"]},
        earlier=slack.files({"harbour/2026-01-01": slack.DAY[:2]}),
        cut="harbour/2026-01-01.json",
    ),
    FormatSample(
        "telegram",
        "a whole account",
        {
            "result.json": json.dumps(telegram.ACCOUNT).encode(),
            "photos/boat.jpg": telegram.PHOTO,
        },
        words="mole light lantern Telegram",
        sentence="bring a lantern for the way back",
        units={
            "message": ["JSON objects at chats.list.item.messages.item"],
            "contact": ["JSON objects at contacts.list.item"],
        },
        earlier={"result.json": json.dumps(_EARLIER_TELEGRAM).encode()},
        cut="result.json",
        renamed={"result.json": "result (1).json"},
    ),
    FormatSample(
        "telegram",
        "web pages",
        {
            "messages.html": pages.chat_page(*pages.CHAT).encode(),
            "messages2.html": pages.chat_page(said(9, "11:00:00", "Later", sender="Bo ")).encode(),
            "photos/boat.jpg": telegram.PHOTO,
        },
        words="mole light lantern Telegram",
        sentence="bring a lantern for the way back",
        units={"message": ["messages of a page"]},
        earlier={"messages.html": pages.chat_page(*pages.CHAT[:1]).encode()},
        cut="messages.html",
    ),
    FormatSample(
        "whatsapp",
        "a chat of an iPhone",
        {"_chat.txt": whatsapp.IPHONE.encode()},
        words="lantern way back",
        sentence="bring a lantern for the way back",
        units={"message": ["lines with a date"]},
        named_by_path=True,
    ),
    FormatSample(
        "whatsapp",
        "a chat of Android",
        {"WhatsApp Chat with Nora.txt": whatsapp.ANDROID.encode()},
        words="midnight tide turns",
        sentence="Midnight: the tide turns",
        units={"message": ["lines with a date"]},
        earlier={
            "WhatsApp Chat with Nora.txt": whatsapp.ANDROID[
                : whatsapp.ANDROID.rindex("2/1/26")
            ].encode()
        },
        cut="WhatsApp Chat with Nora.txt",
        torn=1,
        renamed={"WhatsApp Chat with Nora.txt": "WhatsApp Chat with Nora (1).txt"},
    ),
)
