"""Identity: what a message is known by, in whatever words programs write its headers anew.

An id alone is not enough: some programs gave one to many messages. What else a message is known by
is read first, because programs fold, quote, encode and capitalise the same header in their own way.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC

from pdpp.sources.formats.mail.body import MessageBody
from pdpp.sources.formats.mail.message import MailMessage, address_of, header, people
from pdpp.sources.keys import RecordKey, digest_key

_ID = re.compile(r"<([^<>]+)>")
_QUOTED = re.compile(r"^>+(?=From )", re.MULTILINE)


def message_id(message: MailMessage) -> str:
    """Return the id that the sender's program gave a message, without what stands around it."""
    text = header(message, "Message-ID")
    found = _ID.search(text)
    return "".join((found[1] if found else text.strip("<>")).split())


def other_marks(message: MailMessage) -> Iterator[str]:
    """Yield when a message was sent, by whom, and what it is about."""
    yield _moment(message)
    yield _sender(message)
    yield _letters(header(message, "Subject"))


def contents_mark(message: MailMessage, said: MessageBody) -> RecordKey:
    """Return what a message without an id is known by besides: to whom it goes and what it holds.

    Programs that hand a message on fold its text anew, encode it otherwise or put a sign before
    "From", and add headers; words and files stay.
    """
    words = _letters(_QUOTED.sub("", said.text))
    files = (file.content or file.name.encode("utf-8", "surrogatepass") for file in said.files)
    return digest_key(_receivers(message), words, *files)


def _receivers(message: MailMessage) -> str:
    named = (person for field in ("To", "Cc") for person in people(message, field))
    return " ".join(sorted({address_of(person) or _letters(person) for person in named}))


def _moment(message: MailMessage) -> str:
    """Return the second of the date in UTC: some programs write it in the zone of the sender."""
    moment = message.written_moment
    if moment is None:
        return header(message, "Date")
    with suppress(OverflowError):  # a date at the very end of time has none in UTC
        moment = moment.astimezone(UTC) if moment.tzinfo else moment
    return moment.replace(microsecond=0).isoformat()


def _sender(message: MailMessage) -> str:
    """Return the addresses of the senders, or their names where they have none."""
    senders = people(message, "From")
    addresses = [address for person in senders if (address := address_of(person))]
    return " ".join(addresses) or _letters(" ".join(senders))


def _letters(text: str) -> str:
    """Return a text without what folding and encoding change: space, case and forms of letters."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
