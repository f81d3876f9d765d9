"""The world that is measured: a mailbox-like corpus, the same for the same number of records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise, product
from random import Random
from typing import Any

import orjson

from bench.declaration import integer, moment, source, stream, text
from pdpp.model import instant

CONNECTIONS = 30
STREAMS = (
    "inbox",
    "sent",
    "archive",
    "lists",
    "work",
    "family",
    "travel",
    "bills",
    "school",
    "misc",
)
LEAST_RECORDS = 3_000
BATCH = 1_000

EVERYWHERE = "the"
COMMON = "meeting"
MEDIUM = "lighthouse"
RARE = "quillwort"
STEADY = "samovar"

_PER_CONNECTOR = 3
_BIGGEST_SHARE = 0.064
_BODY_WORDS = (40, 104)
_MOST_EVERYWHERE = 6
_VOCABULARY = 20_000
_SENDERS = 500
_CHANNELS = 24
_EPOCH = instant.parse("2018-01-01T00:00:00Z") or 0
_SPAN = 8 * 365 * instant.DAY


@dataclass(frozen=True, slots=True)
class Feed:
    """One stream of one connection; ``first`` is the number of its first record in the world."""

    rank: int
    connection_id: str
    stream: str
    first: int
    size: int

    def key(self, number: int) -> str:
        """Return the key of the record with a number within the feed."""
        return f"m{number:07d}"


@dataclass(frozen=True, slots=True)
class Batch:
    """A run of records of one feed, sent in one request."""

    feed: Feed
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class World:
    """Every feed, from the biggest to the smallest."""

    records: int
    feeds: tuple[Feed, ...]

    @property
    def biggest(self) -> Feed:
        """Return the feed with the most records."""
        return self.feeds[0]

    @property
    def rare(self) -> int:
        """Return how many records hold the rare word: enough for a page inside a grant."""
        return max(100, self.records // 5_000)

    def batches(self) -> list[Batch]:
        """Return all batches, mixed so that every feed grows all the time."""
        turns = [feed for feed in self.feeds for _ in range(0, feed.size, BATCH)]
        Random("turns").shuffle(turns)
        starts = dict.fromkeys(self.feeds, 0)
        batches = []
        for feed in turns:
            start = starts[feed]
            batches.append(Batch(feed, start, min(BATCH, feed.size - start)))
            starts[feed] += BATCH
        return batches

    def lines(self, batch: Batch) -> bytes:
        """Return a batch as the body of an ingest request."""
        random = Random(f"{batch.feed.rank} {batch.start}")
        numbers = range(batch.start, batch.start + batch.size)
        return b"\n".join(self._line(random, batch.feed, number) for number in numbers)

    def _line(self, random: Random, feed: Feed, number: int) -> bytes:
        sent_at = instant.to_text(_EPOCH + _SPAN * number // feed.size)
        data = {
            "id": feed.key(number),
            "title": " ".join(_words(random, random.randint(4, 8))).capitalize(),
            "body": self._body(random, feed.first + number),
            "sender": f"person{_zipf(random, _SENDERS)}@mail.example",
            "sent_at": sent_at,
            "size": random.randint(400, 90_000),
            "channel": f"channel-{_zipf(random, _CHANNELS)}",
        }
        return orjson.dumps({"key": data["id"], "data": data, "emitted_at": sent_at})

    def _body(self, random: Random, index: int) -> str:
        words = _words(random, random.randint(*_BODY_WORDS))
        planted = list(self._planted(index))
        if index % 33:
            planted += [EVERYWHERE] * random.randint(1, _MOST_EVERYWHERE)
        for word in planted:
            words.insert(random.randrange(len(words)), word)
        return " ".join(words) + "."

    def _planted(self, index: int) -> Iterator[str]:
        if index % 5 == 0:
            yield COMMON
        if index % 111 == 0:
            yield MEDIUM
        if index % (self.records // self.rare) == 7:
            yield RARE
        if index % (self.records // 100) == 11:
            yield STEADY


def make_world(records: int) -> World:
    """Return the world of a size: few big feeds and many small ones."""
    weights = [1 / (rank + 2.2) for rank in range(1, CONNECTIONS * len(STREAMS))]
    rest = (1 - _BIGGEST_SHARE) / sum(weights)
    shares = [_BIGGEST_SHARE, *(weight * rest for weight in weights)]
    ends = [0, *(round(records * share) for share in accumulate(shares))]
    feeds = (
        Feed(
            rank,
            connection_id(rank % CONNECTIONS),
            STREAMS[rank // CONNECTIONS],
            first,
            end - first,
        )
        for rank, (first, end) in enumerate(pairwise(ends))
    )
    return World(records, tuple(feeds))


def connection_id(number: int) -> str:
    """Return the id of a connection."""
    return f"mail-{number:02d}"


def connector_key(number: int) -> str:
    """Return the connector of a connection."""
    return f"post{number // _PER_CONNECTOR:02d}"


def declarations() -> list[dict[str, Any]]:
    """Return one declaration for each connector."""
    keys = dict.fromkeys(map(connector_key, range(CONNECTIONS)))
    return [source(key, key.capitalize(), [_stream(name) for name in STREAMS]) for key in keys]


def _stream(name: str) -> dict[str, Any]:
    fields = {
        "id": text("Identifies the message"),
        "title": text("Subject line", "primary-title", search=True),
        "body": text("What the message says", "body", search=True),
        "sender": text("Who sent it", "actor", group=True),
        "sent_at": moment("When it was sent", "event-time"),
        "size": integer("Size in bytes", total=True),
        "channel": text("Where it came in", group=True),
    }
    return stream(name, name.capitalize(), f"Messages in {name}", fields, time="sent_at")


@cache
def _vocabulary() -> tuple[Sequence[str], Sequence[float]]:
    """Return words from the commonest to the rarest, with their frequencies added up."""
    onsets, cores, codas = "bdfgklmnprstvz", "aeiou", ("", "l", "n", "r", "s", "x")
    syllables = ["".join(parts) for parts in product(onsets, cores, codas)]
    Random("syllables").shuffle(syllables)
    short = [first + second for first, second in product(syllables[:60], syllables)]
    words = [*syllables, *short][:_VOCABULARY]
    Random("words").shuffle(words)
    return words, list(accumulate(1 / (rank + 2.7) for rank in range(len(words))))


def _words(random: Random, count: int) -> list[str]:
    words, weights = _vocabulary()
    return random.choices(words, cum_weights=weights, k=count)


def prose(random: Random, count: int) -> str:
    """Return a text of so many words."""
    return " ".join(_words(random, count))


def _zipf(random: Random, count: int) -> int:
    """Return a number below a count, small ones more often."""
    return int(count ** random.random()) - 1
