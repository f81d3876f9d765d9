"""Tags: what mail programs write into a message to mark it, as Thunderbird does."""

from collections.abc import Iterator
from types import MappingProxyType

from pdpp.sources.formats.mail.message import MailMessage, header

_DELETED, _STARRED = 0x8, 0x4
_KEYWORDS = ("X-Mozilla-Keys", "X-Keywords", "X-Label")
_NAMES = MappingProxyType(
    {
        "$label1": "Important",
        "$label2": "Work",
        "$label3": "Personal",
        "$label4": "To Do",
        "$label5": "Later",
    }
)
"""What Thunderbird calls its own tags."""
_SILENT = frozenset({"junk", "nonjunk", "notjunk"})
"""What filters write; so are all others that begin with a dollar, such as $Forwarded."""

_OF_MAILBOX = "DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA"
_OF_PROGRAM = "MAILER-DAEMON"


def tags(message: MailMessage) -> list[str]:
    """Return the tags that somebody gave to a message, each once."""
    return list(dict.fromkeys(_tags(message)))


def _tags(message: MailMessage) -> Iterator[str]:
    if _status(message) & _STARRED:
        yield "Starred"
    for name in _KEYWORDS:
        for word in header(message, name).replace(",", " ").split():
            if word.lower() in _NAMES:
                yield _NAMES[word.lower()]
            elif word[0] not in "$\\" and word.lower() not in _SILENT:
                yield word


def is_deleted(message: MailMessage) -> bool:
    """Tell whether Thunderbird marks a message that was deleted or moved, and is still there."""
    return bool(_status(message) & _DELETED)


def is_of_mailbox(message: MailMessage) -> bool:
    """Tell whether a program keeps its notes on a mailbox in what looks like its first message."""
    is_called = header(message, "Subject") == _OF_MAILBOX
    return is_called and _OF_PROGRAM in header(message, "From").upper()


def _status(message: MailMessage) -> int:
    try:
        return int(str(message.get("X-Mozilla-Status", "0")), 16)
    except ValueError:
        return 0
