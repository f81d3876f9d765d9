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
        "chatgpt": "In ChatGPT: Settings, Data controls, Export data. A mail brings the link.",
        "claude_ai": "In Claude: Settings, Privacy, Export data. Download every zip it links to.",
        "claude_code": "The folder .claude/projects in your home folder.",
        "codex": "The folder .codex in your home folder.",
        "contacts_vcard": "In your address book: export as vCard. Google: contacts.google.com.",
        "mail": "Google: takeout.google.com, choose Mail. Other programs: export as mbox or .eml.",
        "markdown": "The folder of your notes; in Obsidian, the vault.",
        "slack": "In Slack: workspace settings, Import/export data; its owner gets a zip.",
        "telegram": "In Telegram Desktop: Settings, Advanced, Export Telegram data, as JSON.",
        "apple_notes": "From privacy.apple.com; on a Mac: NoteStore.sqlite, with what lies beside.",
        "bank_statement": "On your bank's site: download the statement as CAMT.053, MT940 or QIF.",
        "browser_history": "The file History or places.sqlite of a profile; what Safari exports.",
        "copilot": "The folder User/workspaceStorage in the settings folder of VS Code.",
        "cursor": "The folder User/globalStorage in Cursor's settings folder.",
        "discord": "In Discord: Settings, Data & Privacy, Request data, with the messages.",
        "documents": "PDF, Word, Excel, PowerPoint, LibreOffice, EPUB and RTF, in any folder.",
        "evernote": "In Evernote for the desktop: a notebook, Export, ENEX.",
        "facebook": "Accounts Center: Your information and permissions, Export: all time, JSON.",
        "gemini_cli": "The folder .gemini/tmp in your home folder.",
        "google_activity": "From takeout.google.com: YouTube history and My Activity, as JSON.",
        "google_chat": "From takeout.google.com: Google Chat.",
        "google_keep": "From takeout.google.com: Keep.",
        "google_timeline": "On the phone: Location, Timeline, Export; on an iPhone in Maps.",
        "gpx": "Files of watches, hiking programs and maps (GPX, KML), one or a folder of them.",
        "grok": "From accounts.x.ai/data: download the data of your account.",
        "amazon_orders": "From amazon.com/hz/privacy-central: Request your data, Your Orders.",
        "goodreads": "From goodreads.com/review/import: Export Library.",
        "kindle": "On the Kindle, as a drive: documents, My Clippings.txt.",
        "letterboxd": "In Letterboxd: Settings, Data, Export your data.",
        "netflix": "A profile, Viewing activity, Download all; or netflix.com/account/getmyinfo.",
        "imessage": "On a Mac: the folder Library/Messages, or a backup of an iPhone.",
        "instagram": "Accounts Center: Your information and permissions, Export: all time, JSON.",
        "linkedin": "In LinkedIn: Settings, Data privacy, Get a copy of your data, the larger one.",
        "notion": "In Notion: Settings, General, Export content, as Markdown and CSV.",
        "opencode": "The folder .local/share/opencode in your home folder.",
        "photos": "A folder of pictures, such as DCIM, or photos among other files.",
        "reddit": "From reddit.com/settings/data-request.",
        "signal": "In Signal: Settings, Chats, Export chat history.",
        "sms_backup": "On Android, with SMS Backup & Restore: back up messages and calls.",
        "spotify": "On the privacy page of your account: Extended streaming history.",
        "x_twitter": "In X: Settings, Your account, Download an archive of your data.",
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
