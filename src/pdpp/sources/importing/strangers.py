"""Strangers: exports that no source reads, and that are told by name."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.tree import FileEntry

MOST_LOOKED_AT = 500
_MOST_NAMED = 5


class _Stranger(NamedTuple):
    name: str
    pattern: str
    """What the files are called that tell it, without their folders."""
    marks: tuple[str, ...]
    """What their beginning holds, each of them."""


_SECRETS = "passwords"

_STRANGERS = (
    _Stranger(_SECRETS, "*.csv", (r"(?i)\A[^\n]*(?:user|login)[_ ]?(?:name)?[^\n]*password",)),
    _Stranger(_SECRETS, "*.json", (r'"encrypted"', r'"folders"', r'"items"')),
    _Stranger("DeepSeek", "*.json", (r'"inserted_at"', r'"fragments"')),
    _Stranger("Mastodon", "*.json", (r'"OrderedCollection"', r"activitystreams", r"orderedItems")),
    _Stranger("GitHub", "*_0*.json", (r'"type"', r"https://github\.com/")),
    _Stranger("Trello", "*.json", (r"https://trello\.com/b/", r'"shortLink"')),
    _Stranger("Todoist", "*.csv", (r"\A\W*TYPE,CONTENT,", r"PRIORITY,INDENT")),
    _Stranger("TickTick", "*.csv", (r'"?Folder Name"?,"?List Name"?,"?Title',)),
    _Stranger("Pocket", "*.csv", (r"\A\W*title,url,time_added",)),
    _Stranger("Pocket", "*.html", (r"<title>Pocket Export",)),
    _Stranger("Raindrop", "*.csv", (r"\A\W*id,title,note,excerpt,url,folder",)),
    _Stranger("Instapaper", "*.csv", (r"\A\W*URL,Title,Selection,Folder",)),
    _Stranger("Readwise", "*.csv", (r"\A\W*Highlight,Book Title,Book Author",)),
    _Stranger("a Kindle notebook", "*.html", (r'class="notebookFor"', r'class="bookTitle"')),
    _Stranger("Day One", "*.json", (r'"creationDate"', r'"entries"', r'"metadata"')),
    _Stranger("LibraryThing", "*.json", (r'"books_id"',)),
    _Stranger("LibraryThing", "*.tsv", (r"\A\W*Book Id\t",)),
    _Stranger("StoryGraph", "*.csv", (r"Read Status,Date Added",)),
    _Stranger("IMDb", "*.csv", (r"\A\W*(?:Position,)?Const,",)),
    _Stranger("Strava", "activities.csv", (r"\A\W*Activity ID,Activity Date,",)),
    _Stranger("Garmin", "*.json", (r"summarizedActivitiesExport",)),
    _Stranger("Garmin", "*.csv", (r"\A\W*Activity Type,Date,Favorite,",)),
    _Stranger("Fitbit", "sleep-*.json", (r'"logId"', r'"dateOfSleep"')),
    _Stranger("Google Fit", "*.json", (r'"fitnessActivity"', r'"segment"')),
    _Stranger("Google Fit", "*.csv", (r"Move Minutes count",)),
    _Stranger("Google Voice", "*.html", (r'class="(?:hChatLog|haudio)',)),
    _Stranger("TikTok", "*.json", (r'"(?:Video Browsing|Watch) History"', r'"VideoList"')),
    _Stranger("Snapchat", "chat_history.json", (r'"Media Type"', r'"IsSender"')),
    _Stranger("Skype", "*.json", (r'"exportDate"', r'"conversations"')),
    _Stranger("LINE", "*.txt", (r"\A\W*\[LINE\]",)),
    _Stranger("KakaoTalk", "*.txt", ("카카오톡|KakaoTalk",)),
    _Stranger("Simplenote", "*.json", (r'"activeNotes"',)),
    _Stranger("Standard Notes", "*.txt", (r'"content_type"', r'"uuid"')),
)


def stranger_words(entries: Iterable[FileEntry]) -> str:
    """Say what some files are that no source reads, as far as that is known."""
    named: dict[str, str] = {}
    for entry, _ in zip(entries, range(MOST_LOOKED_AT), strict=False):
        if kind := stranger_kind(entry):
            named.setdefault(kind, entry.name)
    told = [*named.items()][:_MOST_NAMED]
    return "".join(f". {example} looks like {kind}" for kind, example in told)


def stranger_kind(entry: FileEntry) -> str:
    """Return what a file is that no source reads; nothing where that is not known."""
    name = _name_of(entry)
    if name == _SECRETS:
        return "a list of passwords, which belongs in no store that agents read"
    return f"an export of {name}, which no source reads" if name else ""


def holds_secrets(entries: Iterable[FileEntry]) -> bool:
    """Tell whether one of a few files holds passwords."""
    return any(
        _name_of(entry) == _SECRETS for entry, _ in zip(entries, range(_MOST_NAMED), strict=False)
    )


def _name_of(entry: FileEntry) -> str:
    text = ""
    for stranger in _STRANGERS:
        if fnmatchcase(entry.plain_base.lower(), stranger.pattern):
            text = text or _beginning(entry)
            if all(re.search(mark, text) for mark in stranger.marks):
                return stranger.name
    return ""


def _beginning(entry: FileEntry) -> str:
    try:
        return entry.head().decode("utf-8", "replace")
    except DamagedFile:
        return ""
