"""The page on imports, compared with the program."""

import re
import shlex
from pathlib import Path

import pytest

from pdpp.cli.importing import importing
from pdpp.sources import registry

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "import-your-data.md"
HEADINGS = {
    "amazon_orders": "Amazon orders",
    "apple_health": "Apple Health",
    "apple_notes": "Apple Notes",
    "bank_csv": "Bank statements",
    "bank_ofx": "Bank statements",
    "bank_statement": "Bank statements",
    "browser_history": "Browser history",
    "calendar_ics": "Calendars",
    "chatgpt": "ChatGPT",
    "claude_ai": "Claude.ai",
    "claude_code": "Claude Code",
    "codex": "Codex",
    "contacts_vcard": "Contacts",
    "copilot": "GitHub Copilot",
    "cursor": "Cursor",
    "discord": "Discord",
    "documents": "Documents",
    "evernote": "Evernote",
    "facebook": "Facebook and Instagram",
    "gemini_cli": "Gemini CLI and Qwen Code",
    "goodreads": "Books and films",
    "google_activity": "YouTube and Google activity",
    "google_chat": "Google Chat",
    "google_keep": "Google Keep",
    "google_timeline": "Google Timeline",
    "gpx": "Tracks and maps",
    "grok": "Grok",
    "imessage": "iMessage",
    "instagram": "Facebook and Instagram",
    "kindle": "Books and films",
    "letterboxd": "Books and films",
    "linkedin": "LinkedIn",
    "mail": "Mail",
    "markdown": "Markdown and Obsidian",
    "netflix": "Books and films",
    "notion": "Notion",
    "opencode": "OpenCode",
    "reddit": "Reddit",
    "photos": "Photos",
    "signal": "Signal",
    "slack": "Slack",
    "sms_backup": "Text messages and calls of Android",
    "spotify": "Spotify",
    "telegram": "Telegram",
    "whatsapp": "WhatsApp",
    "x_twitter": "X (Twitter)",
}


def test_every_source_has_its_part_of_the_page() -> None:
    headings = set(re.findall(r"^## (.+)$", PAGE.read_text(), re.MULTILINE))
    assert HEADINGS.keys() == registry.BUILT_IN.keys()
    assert set(HEADINGS.values()) <= headings


def sections() -> dict[str, str]:
    """Return the parts of the page by their headings."""
    pieces = re.split(r"^## (.+)$", PAGE.read_text(), flags=re.MULTILINE)
    return {
        heading: " ".join(text.split())
        for heading, text in zip(pieces[1::2], pieces[2::2], strict=True)
    }


@pytest.mark.parametrize("heading", sorted(set(HEADINGS.values())))
def test_a_part_says_what_comes_in_and_what_does_not(heading: str) -> None:
    text = sections()[heading]
    assert re.search(r"Brings? in|accounts with balances", text), "what it brings"
    assert re.search(
        r"stays? out|so stays|left out|is not read|not the files|cannot be read|stay local"
        r"|not in the export|without holding|stay in the file|not what they hold",
        text,
    ), "what is left out"


@pytest.mark.parametrize("key", sorted(HEADINGS))
def test_a_part_names_every_setting_of_its_source(key: str) -> None:
    text = sections()[HEADINGS[key]]
    missing = [name for name in registry.load(key).settings if f"--set {name}=" not in text]
    assert not missing


def test_every_setting_on_the_page_is_one_of_a_source() -> None:
    known = {name for key in HEADINGS for name in registry.load(key).settings}
    assert set(re.findall(r"--set (\w+)=", PAGE.read_text())) <= known


def test_every_option_on_the_page_is_one_of_the_command() -> None:
    known = {name for option in importing.params for name in option.opts}
    assert set(re.findall(r"(--[a-z-]+)", PAGE.read_text())) <= known


def test_every_command_on_the_page_is_an_import() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.strip().splitlines()]
    assert lines
    assert all(shlex.split(line)[:2] == ["pdpp", "import"] for line in lines)


def test_every_setting_of_a_source_says_what_it_is_for() -> None:
    for name in registry.BUILT_IN:
        assert all(help_ for help_ in registry.load(name).settings.values()), name
