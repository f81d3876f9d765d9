"""The registry: every source there is, our own and those of installed plugins."""

import os
import sys
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import NamedTuple

from pdpp.model.errors import ImportRefused
from pdpp.sources.source import Source

GROUP = "pdpp.sources"

BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "amazon_orders": "pdpp.sources.formats.amazon_orders.source:AmazonOrders",
        "apple_health": "pdpp.sources.formats.apple_health.source:AppleHealth",
        "apple_notes": "pdpp.sources.formats.apple_notes.source:AppleNotes",
        "bank_csv": "pdpp.sources.formats.bank_csv.source:BankCsv",
        "bank_ofx": "pdpp.sources.formats.bank_ofx.source:BankOfx",
        "bank_statement": "pdpp.sources.formats.bank_statement.source:StatementFiles",
        "browser_history": "pdpp.sources.formats.browser_history.source:BrowserHistory",
        "calendar_ics": "pdpp.sources.formats.calendar_ics.source:CalendarIcs",
        "chatgpt": "pdpp.sources.formats.chatgpt.source:ChatGpt",
        "claude_ai": "pdpp.sources.formats.claude_ai.source:ClaudeAi",
        "claude_code": "pdpp.sources.formats.claude_code.source:ClaudeCode",
        "codex": "pdpp.sources.formats.codex.source:Codex",
        "contacts_vcard": "pdpp.sources.formats.contacts_vcard.source:ContactsVcard",
        "copilot": "pdpp.sources.formats.copilot.source:Copilot",
        "cursor": "pdpp.sources.formats.cursor.source:Cursor",
        "discord": "pdpp.sources.formats.discord.source:Discord",
        "documents": "pdpp.sources.formats.documents.source:Documents",
        "evernote": "pdpp.sources.formats.evernote.source:Evernote",
        "facebook": "pdpp.sources.formats.facebook.source:Facebook",
        "gemini_cli": "pdpp.sources.formats.gemini_cli.source:GeminiCli",
        "goodreads": "pdpp.sources.formats.goodreads.source:Goodreads",
        "google_activity": "pdpp.sources.formats.google_activity.source:GoogleActivity",
        "google_chat": "pdpp.sources.formats.google_chat.source:GoogleChat",
        "google_keep": "pdpp.sources.formats.google_keep.source:GoogleKeep",
        "google_timeline": "pdpp.sources.formats.google_timeline.source:GoogleTimeline",
        "gpx": "pdpp.sources.formats.gpx.source:Gpx",
        "grok": "pdpp.sources.formats.grok.source:Grok",
        "imessage": "pdpp.sources.formats.imessage.source:IMessage",
        "instagram": "pdpp.sources.formats.instagram.source:Instagram",
        "kindle": "pdpp.sources.formats.kindle.source:Kindle",
        "letterboxd": "pdpp.sources.formats.letterboxd.source:Letterboxd",
        "linkedin": "pdpp.sources.formats.linkedin.source:LinkedIn",
        "mail": "pdpp.sources.formats.mail.source:Mail",
        "markdown": "pdpp.sources.formats.markdown.source:Markdown",
        "netflix": "pdpp.sources.formats.netflix.source:Netflix",
        "notion": "pdpp.sources.formats.notion.source:Notion",
        "opencode": "pdpp.sources.formats.opencode.source:OpenCode",
        "reddit": "pdpp.sources.formats.reddit.source:Reddit",
        "photos": "pdpp.sources.formats.photos.source:Photos",
        "signal": "pdpp.sources.formats.signal.source:Signal",
        "slack": "pdpp.sources.formats.slack.source:Slack",
        "sms_backup": "pdpp.sources.formats.sms_backup.source:SmsBackup",
        "spotify": "pdpp.sources.formats.spotify.source:Spotify",
        "telegram": "pdpp.sources.formats.telegram.source:Telegram",
        "whatsapp": "pdpp.sources.formats.whatsapp.source:WhatsApp",
        "x_twitter": "pdpp.sources.formats.x_twitter.source:XTwitter",
    }
)
"""Each source by its connector key, as the module and the class; imported when it is asked."""


class BrokenPlugin(NamedTuple):
    """A plugin that could not be loaded, and why."""

    name: str
    problem: str

    @property
    def words(self) -> str:
        """Return that in a line."""
        return f"the plugin {self.name!r} cannot be used: {self.problem}"


def names() -> list[str]:
    """Return the connector keys of every source."""
    return sorted({*BUILT_IN, *_plugins()})


def load(name: str) -> Source:
    """Return one source."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        own: Source = getattr(import_module(module), attribute)()
        return own
    plugin = _plugins().get(name)
    if plugin is None:
        known = names()
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? There" if near else "there"
        raise ImportRefused(f"there is no source {name!r}; {hint} are {', '.join(known)}")
    source = _load_plugin(plugin)
    if isinstance(source, BrokenPlugin):
        raise ImportRefused(source.words)
    return source


def every() -> Iterator[Source | BrokenPlugin]:
    """Yield every source; a plugin that fails is told and stops none of the others."""
    for name in BUILT_IN:
        yield load(name)
    for plugin in _plugins().values():
        yield _load_plugin(plugin)


def _plugins() -> Mapping[str, EntryPoint]:
    """Return the plugins by name; one that takes the name of a built-in source is left out."""
    return _plugins_in(tuple((path, _changed_at(path)) for path in sys.path))


@lru_cache(maxsize=1)
def _plugins_in(_: tuple[tuple[str, int], ...]) -> Mapping[str, EntryPoint]:
    """Return the plugins, which are those of before while no folder of packages has changed.

    To ask for them reads what every installed package says of itself.
    """
    points = entry_points(group=GROUP)
    return MappingProxyType({point.name: point for point in points if point.name not in BUILT_IN})


def _changed_at(path: str) -> int:
    """Return when a package was last put into a folder, or taken out; 0 where there is none."""
    try:
        return os.stat(path or os.curdir).st_mtime_ns
    except OSError:
        return 0


def _load_plugin(point: EntryPoint) -> Source | BrokenPlugin:
    try:
        loaded = point.load()
        source = loaded() if isinstance(loaded, type) else loaded
    except Exception as problem:  # noqa: BLE001 - a stranger's module may fail in any way
        return BrokenPlugin(point.name, f"{type(problem).__name__}: {problem}")
    if not isinstance(source, Source):
        return BrokenPlugin(point.name, "it is not a pdpp.sources.Source")
    if source.connector_key != point.name:
        return BrokenPlugin(point.name, f"its connector_key is {source.connector_key!r}")
    return source
