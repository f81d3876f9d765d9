"""Commands of ``pdpp read`` that try to see past a grant, in every form of output."""

import random
from collections.abc import Iterator

from tests.promises.probes import CONNECTIONS, FIELDS, QUERIES, STREAMS, VALUES
from tests.promises.sights import STRAY_KEYS, VISIBLE_KEYS

Words = list[str]

SAVED = "saved"
"""The file that a command saves bytes in."""

_KEYS = VISIBLE_KEYS + STRAY_KEYS


class Typist:
    """Makes up commands from a seed."""

    def __init__(self, seed: int, blob_ids: tuple[str, ...]) -> None:
        self._chance = random.Random(f"type {seed}")
        self._blob_ids = blob_ids

    def commands(self, many: int) -> Iterator[Words]:
        """Yield so many commands, no two in a row of one kind."""
        kinds = [
            self._search,
            self._records,
            self._aggregate,
            self._window,
            self._fetch,
            self._schema,
            self._streams,
            self._blob,
        ]
        self._chance.shuffle(kinds)
        for number in range(many):
            yield kinds[number % len(kinds)]()

    def _maybe(self, option: str, pool: tuple[str, ...], odds: float = 0.3) -> Words:
        chosen = self._chance.choice(pool)
        return [f"{option}={chosen}"] if self._chance.random() < odds else []

    def _form(self, *forms: str) -> Words:
        form = self._chance.choice(("", *forms))
        return [form] if form else []

    def _filters(self) -> Words:
        field, value = self._chance.choice(FIELDS), self._chance.choice(VALUES)
        operator = self._chance.choice(("=", "=", ">=", "<"))
        return self._maybe("--filter", (f"{field}{operator}{value}",), 0.4)

    def _search(self) -> Words:
        return [
            "search",
            self._chance.choice(QUERIES),
            *self._maybe("--limit", ("1", "3"), 0.5),
            *self._maybe("--stream", STREAMS, 0.2),
            *self._maybe("--connection", CONNECTIONS, 0.2),
            *self._filters(),
            *self._form("--json", "--jsonl", "--all"),
        ]

    def _records(self) -> Words:
        signed = (*FIELDS, *(f"-{name}" for name in FIELDS))
        return [
            "records",
            self._chance.choice(STREAMS),
            *self._maybe("--sort", signed, 0.4),
            *self._maybe("--count", ("exact", "estimated"), 0.4),
            *self._maybe("--limit", ("1", "3"), 0.5),
            *self._maybe("--fields", FIELDS, 0.1),
            *self._maybe("--expand", ("thread", "messages"), 0.2),
            *self._maybe("--connection", CONNECTIONS, 0.3),
            *self._filters(),
            *self._form("--json", "--jsonl", "--all"),
        ]

    def _aggregate(self) -> Words:
        metric = self._chance.choice(("count", "sum", "max", "count_distinct"))
        return [
            "aggregate",
            self._chance.choice(STREAMS),
            f"--metric={metric}",
            *([] if metric == "count" else [f"--field={self._chance.choice(FIELDS)}"]),
            *self._maybe("--group-by", FIELDS, 0.5),
            *self._filters(),
            *self._form("--json"),
        ]

    def _id(self) -> str:
        pick = self._chance.choice
        return f"{pick(CONNECTIONS)}/{pick(STREAMS)}:{pick(_KEYS)}"

    def _window(self) -> Words:
        around = self._chance.random() < 0.5
        return [
            "window",
            self._id(),
            self._chance.choice(FIELDS),
            *(self._maybe("--query", QUERIES, 1.0) if around else []),
            *([] if around else self._maybe("--offset", ("0", "3", "900"), 0.5)),
            *self._form("--json", "--jsonl"),
        ]

    def _fetch(self) -> Words:
        expand = self._maybe("--expand", ("thread", "messages"), 0.3)
        return ["fetch", self._id(), *expand, *self._form("--json")]

    def _schema(self) -> Words:
        stream = self._chance.choice(("", *STREAMS))
        full = ["--full"] if stream and self._chance.random() < 0.3 else []
        named = [stream] if stream else []
        return ["schema", *named, *full, *self._form("--json")]

    def _streams(self) -> Words:
        return ["streams", *self._form("--json", "--jsonl")]

    def _blob(self) -> Words:
        form = self._chance.choice((["--json"], ["-o", SAVED]))
        return ["blob", self._chance.choice((*self._blob_ids, "f" * 64)), *form]
