"""Vocabulary: the everyday words for what a grant opens, from the names its declarations give.

Hosts find tools by the words in their descriptions, and people ask for "email" and "invoices", not
for records of a stream. Names come from connectors and streams of the grant, never from records.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pdpp.mcp.reading.stream_name import StreamName


class DataKind(NamedTuple):
    """A kind of personal data: its noun, the names that show it, and words people ask for it by."""

    noun: str
    names: frozenset[str]
    words: str


def _kind(noun: str, names: str, words: str) -> DataKind:
    return DataKind(noun, frozenset(names.split()), words)


KINDS = (
    _kind(
        "email",
        "mail email gmail imap mbox eml outlook inbox",
        "email invoice mail receipt ticket booking hotel inbox attachment flight letter newsletter",
    ),
    _kind(
        "chats",
        "chat whatsapp telegram slack signal discord imessage sms messenger",
        "chat message family conversation",
    ),
    _kind(
        "calendar",
        "calendar ics caldav event appointment",
        "calendar appointment meeting event birthday schedule reminder",
    ),
    _kind(
        "payments",
        "bank payment transaction statement ofx qif paypal ledger",
        "bank payment money bill spending salary rent account transaction expense balance",
    ),
    _kind("notes", "note markdown evernote obsidian notion keep", "note diary recipe"),
    _kind("orders", "order purchase shop amazon cart", "order purchase delivery return shopping"),
    _kind("photos", "photo picture album camera instagram", "photo picture album"),
    _kind("contacts", "contact vcard people addressbook", "contact phone address person"),
    _kind("tasks", "task todo reminder", "task todo reminder"),
    _kind(
        "AI conversations",
        "chatgpt claude codex gemini copilot",
        "ChatGPT Claude assistant prompt coding session",
    ),
    _kind(
        "places", "location place trip timeline gps map", "location place trip travel map visited"
    ),
    _kind(
        "health",
        "health heart step sleep workout fitness weight strava run",
        "health steps sleep heart weight workout",
    ),
    _kind("music", "music listening track spotify lastfm playlist", "music song playlist artist"),
    _kind("videos", "video youtube watch movie netflix", "video movie series watched"),
    _kind("browsing", "browser browsing bookmark tab visit", "browser history bookmark website"),
    _kind(
        "posts",
        "post tweet twitter facebook mastodon reddit linkedin",
        "post comment like social media",
    ),
    _kind("books", "book kindle highlight reading", "book highlight reading"),
    _kind("code", "github gitlab commit repository pull", "code commit repository pull request"),
    _kind("files", "file drive dropbox document", "file document"),
)
"""In the order in which people ask for them; a description names the first that there are."""

_MOST_LABEL_CHARS = 30
_MOST_NOUNS = 10
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+")
_UNCLEAN = re.compile(r"[^\w' -]+")


def kinds_of(names: Iterable[StreamName]) -> list[DataKind]:
    """Return the kinds of data that some streams hold."""
    words = {word for name in names for word in _words(name)}
    return [kind for kind in KINDS if not kind.names.isdisjoint(words)]


def nouns_of(names: Sequence[StreamName]) -> list[str]:
    """Return what a grant opens in everyday nouns; a stream of no known kind by its own label."""
    nouns = [kind.noun for kind in kinds_of(names)]
    nouns += [_clean(name.label or name.stream) for name in names if not kinds_of([name])]
    return [noun for noun in dict.fromkeys(nouns) if noun][:_MOST_NOUNS]


def asked_words(names: Sequence[StreamName]) -> list[str]:
    """Return the words by which people ask for what a grant opens, the kinds taking turns."""
    lists = [kind.words.split() for kind in kinds_of(names)]
    longest = max(map(len, lists), default=0)
    turns = [words[turn] for turn in range(longest) for words in lists if turn < len(words)]
    return list(dict.fromkeys(turns))


def _words(name: StreamName) -> Iterator[str]:
    for text in name:
        for word in _WORD.findall(text):
            lower = word.lower()
            yield lower
            yield lower.removesuffix("s")


def _clean(label: str) -> str:
    """Return a label of a declaration as plain words: letters, digits and nothing that speaks."""
    line = " ".join(_UNCLEAN.sub(" ", label).replace("_", " ").split())
    return line if len(line) <= _MOST_LABEL_CHARS else line[:_MOST_LABEL_CHARS].rpartition(" ")[0]
