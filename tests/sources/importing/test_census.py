"""The census and the audit: what an export holds, counted twice, and nothing written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp_here
from tests.sources.formats import test_bank_csv as bank_csv
from tests.sources.formats import test_calendar_ics as ics
from tests.sources.formats import test_chatgpt as chatgpt
from tests.sources.formats import test_claude_ai as claude_ai
from tests.sources.formats import test_codex as codex
from tests.sources.formats import test_contacts_vcard as vcard
from tests.sources.formats import test_mail as mail
from tests.sources.formats import test_slack as slack
from tests.sources.formats import test_telegram as telegram
from tests.sources.formats import test_whatsapp as whatsapp
from tests.sources.kit import Home

from pdpp.sources.importing.census import take_census
from pdpp.sources.reading.tree import open_tree

TREE = "JSON objects at item.mapping"

CASES: dict[str, tuple[Callable[[Path], Path], dict[str, list[str]]]] = {
    "claude_ai": (
        lambda folder: _conversations(folder),
        {
            "conversation": ["JSON objects at item"],
            "message": ["JSON objects at item.chat_messages.item"],
        },
    ),
    "telegram": (
        lambda folder: telegram.export(folder, telegram.ACCOUNT),
        {
            "message": ["JSON objects at chats.list.item.messages.item"],
            "contact": ["JSON objects at contacts.list.item"],
        },
    ),
    "contacts_vcard": (
        lambda folder: vcard.put(folder, vcard.book(vcard.plain("Ana"), vcard.plain("Bo"))),
        {"card": ["VCARD"]},
    ),
    "calendar_ics": (
        lambda folder: ics.put(folder, ics.calendar(ics.CHOIR, ics.LISBON, ics.TASK, ics.DIARY)),
        {"VEVENT": ["VEVENT"], "VTODO": ["VTODO"], "VJOURNAL": ["VJOURNAL"]},
    ),
    "mail": (
        lambda folder: _box(folder),
        {"message": ["messages of a mailbox"]},
    ),
    "codex": (
        lambda folder: codex.write(folder / codex.NAME, codex.TALK),
        {"line": ["lines with text"]},
    ),
}


def _conversations(folder: Path) -> Path:
    path = claude_ai.export(folder, claude_ai.RHYTHM, claude_ai.OLD) / "conversations.json"
    return path.rename(folder / "conversations (2).json")


def _box(folder: Path) -> Path:
    path = folder / "a.mbox"
    path.write_bytes(b"".join(mail.mail_to("nora@lind.example", n) for n in range(5)))
    return path


def audit(path: Path) -> dict[str, Any]:
    ended = pdpp_here("import", path, "--audit", "--json", data=path.parent / "no store")
    assert ended.code == 0, ended
    [document] = json.loads(ended.out)["audits"]
    assert not (path.parent / "no store").exists()
    result: dict[str, Any] = document
    return result


@pytest.mark.parametrize("key", CASES)
def test_the_census_and_the_reader_agree(key: str, tmp_path: Path) -> None:
    make, kinds = CASES[key]
    folder = tmp_path / "e"
    folder.mkdir()
    document = audit(make(folder))
    assert document["source"]["connector_key"] == key
    census = document["census"]["units"]
    for unit, names in kinds.items():
        assert document["units"][unit] == sum(census[name] for name in names), unit
    assert document["accounted"]


@pytest.mark.parametrize("make", [chatgpt.export, slack.export])
def test_an_audit_counts_what_an_import_brings(make: Any, tmp_path: Path) -> None:
    given = (chatgpt.TIDES,) if make is chatgpt.export else (slack.DAYS,)
    path = make(tmp_path / "e", *given)
    document = audit(path)
    report = Home(tmp_path / "home").bring(path)
    assert document["records"] == {name: held["new"] for name, held in report["streams"].items()}
    assert document["units"] == report["units"]
    assert report["unaccounted"] == 0


def test_a_text_and_a_table_are_counted_by_lines(tmp_path: Path) -> None:
    whatsapp.put(tmp_path / "e", "1/1/26, 10:00 - Ana: a\nmore\n")
    bank_csv.put(tmp_path / "e", "Date,Memo,Amount\n2026-01-31,Tea,-3.50\n")
    census = take_census(open_tree(tmp_path / "e"))
    assert census.units["lines with text"] == 4
    assert census.files == {".txt": 1, ".csv": 1}
