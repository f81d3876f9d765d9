"""Files that were sent in a chat stay with it, whatever they hold."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.sources.kit import Home, zipped
from tests.sources.samples import every_sample

SAMPLES = every_sample()
CARD = b"BEGIN:VCARD\nVERSION:3.0\nFN:Bo\nTEL:1\nEND:VCARD\n"
PLAN = (
    b"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\n"
    b"DTSTART:20260101T000000Z\nSUMMARY:Tide\nEND:VEVENT\nEND:VCALENDAR\n"
)
TABLE = b"Date,Description,Amount\n2026-01-01,Rope,1.00\n2026-01-02,Tar,2.00\n"
CHAT = (
    "13/01/2026, 14:05 - Zoe: Here they are\n13/01/2026, 14:06 - Zoe: Bo.vcf (file attached)\n"
    "13/01/2026, 14:07 - Zoe: plan.ics (file attached)\n"
    "13/01/2026, 14:08 - Zoe: giro.csv (file attached)\n"
)
WHATSAPP = {
    "WhatsApp Chat with Zoe.txt": CHAT.encode(),
    "Bo.vcf": CARD,
    "plan.ics": PLAN,
    "giro.csv": TABLE,
}


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def sent(home: Home, stream: str = "media") -> list[str]:
    held = [data for (name, _), data in home.records().items() if name == stream]
    return sorted(data["name"] for data in held if data.get("file"))


@pytest.mark.parametrize("packed", [False, True])
def test_cards_calendars_and_tables_of_a_chat_are_no_accounts(packed: bool, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    path = tmp_path / "WhatsApp Chat with Zoe.zip"
    home.run(zipped(path, WHATSAPP) if packed else put(tmp_path / "chat", WHATSAPP), "--yes")
    assert home.accounts() == ["WhatsApp"]
    assert sent(home) == ["Bo.vcf", "giro.csv", "plan.ics"]


def test_an_address_book_beside_a_chat_is_one_all_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.run(put(tmp_path / "chat", {**WHATSAPP, "contacts.vcf": CARD}), "--yes")
    assert sorted(home.accounts()) == ["Contacts (contacts)", "WhatsApp"]
    assert sent(home) == ["Bo.vcf", "giro.csv", "plan.ics"]


def test_cards_that_telegram_saved_stay_with_their_messages(tmp_path: Path) -> None:
    message: dict[str, Any] = {
        "id": 1,
        "type": "message",
        "date": "2026-01-13T08:00:00",
        "date_unixtime": "1768290000",
        "from": "Zoe",
        "from_id": "user2",
        "text": "",
        "contact_information": {"first_name": "Bo", "last_name": "", "phone_number": "1"},
        "contact_vcard": "contacts/contact_1.vcard",
    }
    chat = {"name": "Zoe", "type": "personal_chat", "id": 5, "messages": [message]}
    files = {"result.json": orjson.dumps(chat), "contacts/contact_1.vcard": CARD}
    home = Home(tmp_path / "home")
    home.run(put(tmp_path / "ChatExport_2026-01-13", files), "--yes")
    assert home.accounts() == ["Telegram"]
    assert sent(home) == ["contact_1.vcard"]


@pytest.mark.parametrize(
    ("sample", "name"),
    [
        ("facebook: since 2025", "your_facebook_activity/messages/inbox/harbour_10158/files/1.vcf"),
        ("signal: a plain export", "files/aa/aa01.vcf"),
        ("chatgpt: conversations and a user", "file-AbCd1234Ef5678GhIj9012-plan.ics"),
    ],
)
def test_what_lies_where_a_service_puts_what_was_sent_is_no_account(
    sample: str, name: str, tmp_path: Path
) -> None:
    path = SAMPLES[sample].folder(tmp_path / "export")
    root = next((found.parent for found in path.rglob("*.jsonl")), path)
    put(root if name.startswith("files/") else path, {name: CARD if "vcf" in name else PLAN})
    home = Home(tmp_path / "home")
    home.run(path, "--yes")
    assert len(home.accounts()) == 1


def test_what_lies_beside_a_chat_of_google_is_somebodys_own(tmp_path: Path) -> None:
    where = "Takeout/Google Chat/Groups/Space AAAAFyOfy4w"
    chat = SAMPLES["google_chat: a Takeout of today"].folder(tmp_path / "takeout") / where
    own = {"File-Bo.vcf": CARD, "File-plan.ics": PLAN, "my.vcf": CARD, "bank/giro.csv": TABLE}
    home = Home(tmp_path / "home")
    home.run(put(chat, own), "--yes")
    assert sorted(home.accounts()) == ["Bank (Space AAAAFyOfy4w)", "Contacts (my)", "Google Chat"]


def test_a_file_that_somebody_called_file_is_none_that_was_sent(tmp_path: Path) -> None:
    export = SAMPLES["chatgpt: conversations and a user"].folder(tmp_path / "export")
    home = Home(tmp_path / "home")
    home.run(put(export, {"file_statement.csv": TABLE, "file-contacts.vcf": CARD}), "--yes")
    assert len(home.accounts()) == 3


@pytest.mark.parametrize(
    ("note", "text", "folder"),
    [
        ("Haus 1a2b3c4d5e6f708192a3b4c5d6e7f801.md", "[{0}](Haus/{0})\n", "Haus"),
        ("Haus.md", "![[{0}]]\n", ".obsidian"),
    ],
)
def test_what_a_note_shows_stays_with_the_note(
    note: str, text: str, folder: str, tmp_path: Path
) -> None:
    files = {"Bo.vcf": CARD, "plan.ics": PLAN, "giro.csv": TABLE}
    page = "# Haus\n\n" + "".join(map(text.format, files))
    held = {f"Haus/{name}": content for name, content in files.items()}
    export = {note: page.encode(), f"{folder}/app.json": b"{}", **held}
    home = Home(tmp_path / "home")
    home.run(put(tmp_path / "notes", export), "--yes")
    assert len(home.accounts()) == 1
    assert sent(home, "attachments") == ["Bo.vcf", "giro.csv", "plan.ics"]
