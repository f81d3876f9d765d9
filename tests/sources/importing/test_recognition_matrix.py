"""Every export is taken by its own source, whatever other sources there are."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sources.formats import (
    test_bank_csv,
    test_bank_ofx,
    test_calendar_ics,
    test_chatgpt,
    test_claude_ai,
    test_claude_code,
    test_contacts_vcard,
    test_mail,
    test_markdown,
    test_slack,
    test_telegram,
    test_whatsapp,
)
from tests.sources.kit import zipped

from pdpp.sources.importing.recognition import recognise_export
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.registry import BUILT_IN
from pdpp.sources.source import OwnerChoices

CODEX_LINE = {
    "timestamp": "2026-02-01T10:00:00.000Z",
    "type": "session_meta",
    "payload": {"id": "s-1", "timestamp": "2026-02-01T10:00:00.000Z", "cwd": "/x"},
}


def _codex(folder: Path) -> Path:
    path = folder / "sessions" / "2026" / "02" / "01" / "rollout-2026-02-01T10-00-00-s-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(CODEX_LINE) + "\n")
    return folder


def _claude_code(folder: Path) -> Path:
    test_claude_code.write(folder / "projects" / "-x" / "5f2c.jsonl", test_claude_code.TALK)
    return folder


MAKERS: dict[str, Callable[[Path], Path]] = {
    "bank_csv": lambda folder: test_bank_csv.put(folder, test_bank_csv.GERMAN),
    "bank_ofx": lambda folder: test_bank_ofx.put(folder, test_bank_ofx.CARD),
    "calendar_ics": lambda folder: test_calendar_ics.put(
        folder, test_calendar_ics.calendar(test_calendar_ics.CHOIR)
    ),
    "chatgpt": lambda folder: test_chatgpt.export(folder, test_chatgpt.TIDES),
    "claude_ai": lambda folder: test_claude_ai.export(folder, test_claude_ai.RHYTHM),
    "claude_code": _claude_code,
    "codex": _codex,
    "contacts_vcard": lambda folder: test_contacts_vcard.put(
        folder, test_contacts_vcard.book(test_contacts_vcard.APPLE)
    ),
    "mail": lambda folder: test_mail.put(folder, test_mail.box(test_mail.GMAIL)),
    "markdown": test_markdown.vault,
    "slack": lambda folder: test_slack.export(folder, test_slack.DAYS),
    "telegram": lambda folder: test_telegram.export(folder, test_telegram.ACCOUNT),
    "whatsapp": lambda folder: test_whatsapp.put(folder, test_whatsapp.IPHONE),
}


def test_there_is_an_export_here_for_every_source() -> None:
    assert set(MAKERS) == set(BUILT_IN)


@pytest.mark.parametrize("name", MAKERS)
def test_an_export_is_taken_by_its_own_source(name: str, tmp_path: Path) -> None:
    path = MAKERS[name](tmp_path)
    assert recognise_export(open_tree(path), OwnerChoices()).source.connector_key == name


@pytest.mark.parametrize("name", MAKERS)
def test_an_export_in_a_zip_with_a_folder_around_it_is_taken_by_its_own_source(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "x").mkdir()
    made = MAKERS[name](tmp_path / "x")
    base = made if made.is_dir() else made.parent
    files = {
        f"export/{path.relative_to(base)}": path.read_bytes()
        for path in base.rglob("*")
        if path.is_file()
    }
    path = zipped(tmp_path / "export.zip", files)
    assert recognise_export(open_tree(path), OwnerChoices()).source.connector_key == name
