"""The export guide: where each service hands out what it holds of its user."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pdpp.sources import registry
from pdpp.sources.source import Source

WHERE: Mapping[str, str] = MappingProxyType(
    {
        "apple_health": "In Health on the iPhone: your picture, Export All Health Data.",
        "bank_csv": "On your bank's site, at the list of payments: download as CSV.",
        "bank_ofx": "On your bank's site: download for Quicken, GnuCash or Money (OFX or QFX).",
        "calendar_ics": "In your calendar's settings: export as ICS. Google: takeout.google.com.",
        "chatgpt": "In ChatGPT: Settings, Data controls, Export data. A mail brings the zip.",
        "claude_ai": "In Claude: Settings, Privacy, Export data. Download every zip it links to.",
        "claude_code": "The folder .claude/projects in your home folder.",
        "codex": "The folder .codex in your home folder.",
        "contacts_vcard": "In your address book: export as vCard. Google: takeout.google.com.",
        "mail": "Google: takeout.google.com, choose Mail. Other programs: export as mbox or .eml.",
        "markdown": "The folder of your notes; in Obsidian, the vault.",
        "slack": "In Slack: workspace settings, Import/export data; its owner gets a zip.",
        "telegram": "In Telegram Desktop: Settings, Advanced, Export data, Machine-readable JSON.",
        "whatsapp": "In a chat on the phone: its menu, Export chat, with media for the pictures.",
    }
)
_ELSEWHERE = "Download your data in the settings of the service, usually under privacy."


class GuideEntry(NamedTuple):
    """A format that can be imported, and where its export comes from."""

    label: str
    where: str


def export_guide() -> list[GuideEntry]:
    """Return every format there is, with where to get it."""
    sources = [source for source in registry.every() if isinstance(source, Source)]
    entries = [
        GuideEntry(source.label, WHERE.get(source.connector_key, _ELSEWHERE)) for source in sources
    ]
    return sorted(entries, key=lambda entry: entry.label.casefold())
