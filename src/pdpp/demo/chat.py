"""Chat: the studio's team chat, where messages have no titles and may be edited."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pdpp.demo import story
from pdpp.demo.awkward import disfigure, oddities
from pdpp.demo.declaration import (
    Relation,
    day,
    flag,
    integer,
    moment,
    objects,
    optional,
    source,
    stream,
    text,
)
from pdpp.demo.moment import LAST_SYNC, at, emitted, spread, utc_text
from pdpp.demo.people import COLLEAGUES, NORA_AT_WORK
from pdpp.demo.prose import Voice
from pdpp.demo.source import Batch, Line, Source, batched, line
from pdpp.demo.topics import (
    CHOIR,
    FAMILY_LIFE,
    HARBOUR,
    KYOTO_TRIP,
    LANTERN,
    QUILLFISH,
    RENOVATION,
    Topic,
)

Record = dict[str, Any]

CONNECTION = "cin_team"
TOTAL = 1250
PEOPLE = (NORA_AT_WORK, *COLLEAGUES)

CHANNELS: tuple[tuple[str, str, str, tuple[Topic, ...]], ...] = (
    ("C01", "harbour", "Everything about the museum guide", (HARBOUR,)),
    ("C02", "quillfish", "The redesign, its releases and its bugs", (QUILLFISH,)),
    ("C03", "lantern", "Festival season", (LANTERN,)),
    (
        "C04",
        "kitchen",
        "Lunch, cats, flats and weekends",
        (FAMILY_LIFE, RENOVATION, CHOIR, KYOTO_TRIP),
    ),
    ("C05", "random", "Whatever fits nowhere else", (FAMILY_LIFE, KYOTO_TRIP, QUILLFISH)),
)

MESSAGES = stream(
    "messages",
    "Chat messages",
    "What you and your team wrote in the channels you are in, with later edits.",
    {
        "id": text("Channel and time of the message"),
        "channel_id": text("Channel it was written in", group=True),
        "user_id": text("Who wrote it, as a number", group=True),
        "user_name": text("Who wrote it", "actor", group=True),
        "text": text("What was written", "body", search=True),
        "thread_ts": optional(text("Message that this one answers", group=True)),
        "sent_at": moment("When it was written", "event-time"),
        "edited_at": optional(moment("When it was last changed")),
        "reactions": optional(objects("Emoji that others answered with")),
    },
    time="sent_at",
    mutable=True,
    views={"text": ("Who said what", ("id", "user_name", "text", "sent_at"))},
    relations=(
        Relation("channel", "channels", "channel_id", "belongs_to", 1, 1),
        Relation("user", "users", "user_id", "belongs_to", 1, 1),
    ),
)
CHANNEL_STREAM = stream(
    "channels",
    "Channels",
    "The rooms of the team chat: their names and what they are for.",
    {
        "id": text("Number of the channel"),
        "name": text("Name", "primary-title", search=True),
        "purpose": text("What it is for", "body", search=True),
        "created_on": day("When it was opened"),
        "private": flag("Only for invited people"),
        "member_count": integer("How many people are in it"),
    },
    mutable=True,
    relations=(Relation("messages", "messages", "channel_id", "has_many", 10, 100),),
)
USERS = stream(
    "users",
    "Team members",
    "The people in your team chat: names, jobs and work addresses.",
    {
        "id": text("Number of the person"),
        "name": text("Name", "primary-title", search=True),
        "job": optional(text("What they do", "secondary", search=True, group=True)),
        "address": text("Mail address at work"),
    },
    mutable=True,
    views={"names": ("Names only", ("id", "name"))},
    relations=(Relation("messages", "messages", "user_id", "has_many", 10, 100),),
)


def sources() -> Iterator[Source]:
    """Yield the team chat source."""
    streams = (MESSAGES, CHANNEL_STREAM, USERS)
    yield Source(source("chat", "Team chat", streams), ((CONNECTION, "Atlas & Tide chat"),))


def batches() -> Iterator[Batch]:
    """Yield channels, people and messages, then the edits of some messages."""
    yield from batched(CONNECTION, "channels", [line(item, LAST_SYNC) for item in _channels()])
    yield from batched(CONNECTION, "users", [line(item, LAST_SYNC) for item in _users()])
    messages = _messages()
    yield from batched(CONNECTION, "messages", [_line(message) for message in messages])
    yield from batched(
        CONNECTION, "messages", [_edited(message) for message in messages[:TOTAL:50]]
    )


def _channels() -> Iterator[Record]:
    for number, (key, name, purpose, _) in enumerate(CHANNELS):
        yield {
            "id": key,
            "name": name,
            "purpose": purpose,
            "created_on": date(2024, 1 + number, 15).isoformat(),
            "private": name == "lantern",
            "member_count": len(PEOPLE) - number,
        }


def _users() -> Iterator[Record]:
    for number, person in enumerate(PEOPLE):
        yield {
            "id": f"U{number:02}",
            "name": person.name,
            "job": person.job,
            "address": person.address,
        }


def _messages() -> list[Record]:
    voice = Voice("chat")
    said: list[Record] = []
    for number, stamp in enumerate(_stamps(voice)):
        said.append(_message(voice, f"{stamp}.{number:06}", said[-1] if said else None))
    for oddity in oddities(CONNECTION, "messages"):
        plain = _record(voice, oddity.key, 1, "Never mind, this is only a draft.")
        said.append(disfigure(plain, oddity))
    return [*said, _record(voice, story.REMARK_KEY, 0, story.REMARK)]


def _stamps(voice: Voice) -> list[int]:
    mornings = (int(at(spread(number, TOTAL), 8).timestamp()) for number in range(TOTAL))
    return sorted(morning + voice.between(0, 36_000) for morning in mornings)


def _message(voice: Voice, stamp: str, before: Record | None) -> Record:
    channel, _, _, topics = voice.pick(CHANNELS)
    topic = voice.pick(topics)
    words = topic.remark(voice) if voice.chance(0.7) else topic.paragraph(voice, 1, 3)
    record = _record(voice, f"{channel}:{stamp}", voice.between(0, len(PEOPLE) - 1), words)
    if before and before["channel_id"] == channel and voice.chance(0.5):
        record["thread_ts"] = before["id"].partition(":")[2]
    return record


def _record(voice: Voice, key: str, user: int, words: str) -> Record:
    channel, _, stamp = key.partition(":")
    sent = datetime.fromtimestamp(int(stamp.partition(".")[0]), UTC)
    record: Record = {
        "id": key,
        "channel_id": channel,
        "user_id": f"U{user:02}",
        "user_name": PEOPLE[user].name,
        "text": words,
        "sent_at": utc_text(sent),
        "edited_at": None,
    }
    if voice.chance(0.2):
        emoji = voice.pick(("👍", "❤️", "😂", "🎉", "🙏🏽", "👀"))
        record["reactions"] = [{"emoji": emoji, "count": voice.between(1, 7)}]
    return record


def _line(record: Record) -> Line:
    return line(record, emitted(datetime.fromisoformat(record["sent_at"])))


def _edited(record: Record) -> Line:
    changed = datetime.fromisoformat(record["sent_at"]) + timedelta(minutes=9)
    words = f"{record['text']} (edit: as Inês just reminded me)"
    return line({**record, "text": words, "edited_at": utc_text(changed)}, emitted(changed))
