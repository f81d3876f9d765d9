"""Mail: two accounts, one for the studio and one for everything else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from pdpp.demo import story
from pdpp.demo.attachment import INVOICE_FILES, File, files
from pdpp.demo.awkward import disfigure, oddities
from pdpp.demo.declaration import (
    Relation,
    blob,
    flag,
    integer,
    moment,
    optional,
    source,
    stream,
    text,
    texts,
)
from pdpp.demo.moment import at, emitted, spread, utc_text
from pdpp.demo.people import BUILDERS, NORA_AT_HOME, NORA_AT_WORK, Person
from pdpp.demo.prose import CLOSINGS, OPENINGS, REPLIES, Voice
from pdpp.demo.source import Batch, Blob, Line, Source, batched, blob_ref, line
from pdpp.demo.topics import (
    CHOIR,
    HARBOUR,
    PAPERWORK,
    QUILLFISH,
    RENOVATION,
    Topic,
    home_topics,
    work_topics,
)

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Account:
    """One mailbox: whose it is, what is talked about, and how much."""

    connection_id: str
    display_name: str
    owner: Person
    topics: Callable[[date], tuple[Topic, ...]]
    prefix: str
    threads: int
    file_topics: tuple[Topic, ...]
    files: int


ACCOUNTS = (
    Account("cin_work", "Work mail", NORA_AT_WORK, work_topics, "w", 360, (HARBOUR, QUILLFISH), 60),
    Account("cin_home", "Home mail", NORA_AT_HOME, home_topics, "h", 240, (RENOVATION, CHOIR), 36),
)
LABELS = ("inbox", "important", "later", "to answer", "receipts")

MESSAGES = stream(
    "messages",
    "Letters",
    "Every mail sent and received: who wrote to whom, when, the subject and the full text.",
    {
        "id": text("Number of the letter"),
        "thread_id": text("Conversation that the letter is part of", group=True),
        "subject": text("Subject line", "primary-title", search=True),
        "body": text("Text of the letter", "body", search=True),
        "from": text("Who wrote it", "actor", search=True, group=True),
        "to": texts("Who received it"),
        "sent_at": moment("When it was sent", "event-time"),
        "labels": optional(texts("Folders and labels")),
        "unread": flag("Not opened yet"),
        "in_reply_to": optional(text("Letter that this one answers")),
        "size_bytes": optional(integer("Size", total=True)),
        "link": optional(text("Address of the letter in the mail program", "link")),
    },
    time="sent_at",
    views={
        "envelope": (
            "Who wrote when, without the text",
            ("id", "thread_id", "subject", "from", "to", "sent_at"),
        ),
        "reading": ("Subject and text", ("id", "subject", "body", "from", "sent_at")),
    },
    relations=(
        Relation("thread", "threads", "thread_id", "belongs_to", 1, 1),
        Relation("attachments", "attachments", "message_id", "has_many"),
    ),
)
THREADS = stream(
    "threads",
    "Conversations",
    "Letters grouped by conversation: the subject, how many letters, and when the last one came.",
    {
        "id": text("Number of the conversation"),
        "subject": text("Subject of the first letter", "primary-title", search=True),
        "participants": texts("Everyone who wrote or received a letter"),
        "message_count": integer("How many letters", total=True),
        "started_at": moment("When the first letter was sent"),
        "last_message_at": moment("When the latest letter was sent", "event-time"),
    },
    time="last_message_at",
    mutable=True,
    views={"list": ("Subjects and dates", ("id", "subject", "last_message_at"))},
    relations=(Relation("messages", "messages", "thread_id", "has_many", 10, 100),),
)
ATTACHMENTS = stream(
    "attachments",
    "Attached files",
    "Files that came with letters: their names, kinds and sizes, and the files themselves.",
    {
        "id": text("Number of the file"),
        "message_id": text("Letter that carries the file", group=True),
        "filename": text("Name of the file", "primary-title", search=True),
        "media_type": text("Kind of file", "secondary", group=True),
        "size_bytes": integer("Size", total=True),
        "received_at": moment("When it came", "event-time"),
        "content": blob("The file itself"),
    },
    time="received_at",
    views={"names": ("Names only", ("id", "filename", "media_type", "received_at"))},
    relations=(Relation("message", "messages", "message_id", "belongs_to", 1, 1),),
)


def sources() -> Iterator[Source]:
    """Yield the mail source with both accounts."""
    connections = tuple((account.connection_id, account.display_name) for account in ACCOUNTS)
    yield Source(source("mail", "Mail", (MESSAGES, THREADS, ATTACHMENTS)), connections)


def batches() -> Iterator[Batch]:
    """Yield the letters, conversations and attached files of both accounts."""
    for account in ACCOUNTS:
        threads = list(_threads(account))
        letters = [letter for thread in threads for letter in thread]
        yield from _batched(account, "messages", letters, "sent_at")
        yield from _batched(account, "threads", map(_thread_record, threads), "last_message_at")
        yield from _batched(account, "attachments", _attached(account, letters), "received_at")


def blobs() -> Iterator[Blob]:
    """Yield the content of every attached file."""
    for account in ACCOUNTS:
        for item in (*_files(account), *INVOICE_FILES):
            yield item.content


def _batched(
    account: Account, stream_name: str, records: Iterator[Record] | list[Record], time: str
) -> Iterator[Batch]:
    lines: list[Line] = [
        line(record, emitted(datetime.fromisoformat(record[time]))) for record in records
    ]
    return batched(account.connection_id, stream_name, lines)


def _threads(account: Account) -> Iterator[list[Record]]:
    voice = Voice(f"mail {account.connection_id}")
    for number in range(account.threads):
        yield _thread(account, voice, number, spread(number, account.threads))
    for number, oddity in enumerate(oddities(account.connection_id, "messages")):
        sent = at(date(2026, 9, 1) + timedelta(days=number), 10)
        plain = _letter(account, voice, oddity.key, f"t-{oddity.key}", BUILDERS[1], sent)
        yield [disfigure(plain, oddity)]
    if account.owner is NORA_AT_HOME:
        yield _invoice_thread(account, voice)


def _thread(account: Account, voice: Voice, number: int, day: date) -> list[Record]:
    topic = voice.pick(account.topics(day))
    other = voice.pick(topic.people)
    subject = topic.subject(voice)
    sent = at(day, voice.between(7, 20), voice.between(0, 59))
    letters: list[Record] = []
    for turn in range(1 if topic is PAPERWORK else voice.pick((1, 1, 2, 2, 3, 4, 6))):
        key = f"m-{account.prefix}{number + 1:04}-{turn + 1}"
        writer = account.owner if turn % 2 else other
        letter = _letter(account, voice, key, f"t-{account.prefix}{number + 1:04}", other, sent)
        letter["subject"] = f"Re: {subject}" if turn else subject
        reader = other if turn % 2 else account.owner
        letter["body"] = _body(voice, topic, writer, reader, REPLIES if turn else OPENINGS)
        letters.append(_answering(letter, letters, writer, reader))
        sent += timedelta(minutes=voice.between(6, 400))
    return letters


def _letter(
    account: Account, voice: Voice, key: str, thread: str, other: Person, sent: datetime
) -> Record:
    return {
        "id": key,
        "thread_id": thread,
        "subject": "A note",
        "body": "Here it is, short and plain.",
        "from": other.mailbox,
        "to": [account.owner.mailbox],
        "sent_at": utc_text(sent),
        "labels": voice.some(LABELS, 1, 2),
        "unread": voice.chance(0.12),
        "in_reply_to": None,
        "size_bytes": voice.between(900, 64_000),
        "link": f"https://mail.example/{account.prefix}/{key}" if voice.chance(0.6) else None,
    }


def _answering(letter: Record, earlier: list[Record], writer: Person, reader: Person) -> Record:
    answered = earlier[-1]["id"] if earlier else None
    return {
        **letter,
        "from": writer.mailbox,
        "to": [reader.mailbox],
        "in_reply_to": answered,
    }


def _body(
    voice: Voice, topic: Topic, writer: Person, reader: Person, openings: tuple[str, ...]
) -> str:
    if topic is PAPERWORK:
        return f"Dear {reader.name},\n\n{topic.paragraph(voice, 3, 5)}\n\n{writer.name}"
    opening = voice.say(voice.pick(openings))
    paragraphs = topic.paragraphs(voice, voice.between(1, 3))
    paragraphs[0] = f"{opening} {paragraphs[0]}"
    ending = voice.say(voice.pick(("{ask}", "{thanks}", "{ask} {thanks}")))
    greeting = f"{voice.pick(('Dear', 'Hi', 'Hello', 'Olá'))} {reader.first_name},"
    farewell = f"{voice.pick(CLOSINGS)},\n{writer.first_name}"
    return "\n\n".join((greeting, *paragraphs, ending, farewell))


def _invoice_thread(account: Account, voice: Voice) -> list[Record]:
    rui, thread = BUILDERS[0], "t-invoice-4471"
    first = _letter(account, voice, story.LETTER_KEY, thread, rui, at(date(2026, 3, 12), 9, 15))
    second = _letter(account, voice, story.ANSWER_KEY, thread, rui, at(date(2026, 3, 18), 10, 5))
    first |= {"subject": "Invoice 4471 for the kitchen tiles", "body": story.LETTER}
    second |= {"subject": "Re: Invoice 4471 for the kitchen tiles", "body": story.ANSWER}
    return [first, _answering(second, [first], account.owner, rui)]


def _thread_record(letters: list[Record]) -> Record:
    everyone = {name for letter in letters for name in (letter["from"], *letter["to"])}
    return {
        "id": letters[0]["thread_id"],
        "subject": letters[0]["subject"],
        "participants": sorted(everyone),
        "message_count": len(letters),
        "started_at": letters[0]["sent_at"],
        "last_message_at": letters[-1]["sent_at"],
    }


def _files(account: Account) -> list[File]:
    return files(Voice(f"files {account.connection_id}"), account.file_topics, account.files)


def _attached(account: Account, letters: list[Record]) -> Iterator[Record]:
    carried = _files(account)
    step = len(letters) // len(carried)
    for number, item in enumerate(carried):
        yield _attachment(f"f-{account.prefix}{number + 1:03}", item, letters[number * step])
    for letter in letters:
        if letter["id"] == story.LETTER_KEY:
            for number, item in enumerate(INVOICE_FILES, 1):
                yield _attachment(f"f-invoice-{number}", item, letter)


def _attachment(key: str, item: File, letter: Record) -> Record:
    return {
        "id": key,
        "message_id": letter["id"],
        "filename": item.name,
        "media_type": item.content.media_type,
        "size_bytes": len(item.content.content),
        "received_at": letter["sent_at"],
        "content": blob_ref(item.content),
    }
