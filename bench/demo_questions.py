"""The questions about the demo world, and the records that answer each.

``bench/questions/demo.jsonl`` was written from the demo's data before anything was measured. A
question names its answers by handle (``ids``), or by a sentence that many records hold (``holds``,
a pattern), in some streams (``stream``) and on some day (``on``).
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from pdpp import demo

FILE = Path(__file__).parent / "questions" / "demo.jsonl"
TODAY = date(2026, 10, 31)
"""The last day of the demo world."""

_LONGEST = 20_000
"""Characters of a record that can answer by a sentence: one that holds all tells none."""


class DemoQuestion(NamedTuple):
    """A question, its kind, and the handles of the records that answer it."""

    kind: str
    text: str
    relevant: frozenset[str]


class _World(NamedTuple):
    """One record of the demo world."""

    handle: str
    stream: str
    days: frozenset[str]
    text: str


def demo_questions() -> list[DemoQuestion]:
    """Return all questions; each has an answer."""
    world = list(_world())
    handles = {record.handle for record in world}
    questions = []
    for line in FILE.read_text("utf-8").splitlines():
        asked = json.loads(line)
        relevant = frozenset(asked.get("ids", ())) | frozenset(_holding(world, asked))
        if not relevant or not relevant <= handles:
            raise ValueError(f"no such answers in the demo: {asked['q']}")
        questions.append(DemoQuestion(asked["kind"], asked["q"], relevant))
    return questions


def _world() -> Iterator[_World]:
    latest: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for batch in demo.batches():
        for line in batch.lines:
            latest[batch.connection_id, batch.stream, line["key"]] = line["data"]
    for (connection_id, stream, key), data in latest.items():
        texts = [value for value in data.values() if isinstance(value, str)]
        days = frozenset(text[:10] for text in texts if re.match(r"\d{4}-\d\d-\d\d", text))
        text = "\n".join(texts)
        yield _World(f"{connection_id}/{stream}:{key}", stream, days, text)


def _holding(world: list[_World], asked: Mapping[str, Any]) -> Iterator[str]:
    if "holds" not in asked:
        return
    sentence = re.compile(asked["holds"])
    stream = re.compile(asked.get("stream", ".*"))
    for record in world:
        fits = stream.fullmatch(record.stream) and asked.get("on", "") in {"", *record.days}
        if fits and len(record.text) <= _LONGEST and sentence.search(record.text):
            yield record.handle
