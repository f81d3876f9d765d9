"""Reports whether time tells what bytes do not: ``python -m tests.promises.timing``.

Two worlds that a grant cannot tell apart are asked the same in turn, one of which holds many more
hidden records. For each request: the median time in both, and how often an answer of the fuller
world took longer than one of the other (one half is chance), with the rank test's probability of
such a share by chance. Nothing is asserted: the figures are for a person to judge.

How many records are hidden, and how many rounds are made, may be given as two numbers.
"""

import math
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.promises.probes import Probe
from tests.promises.sights import INSIDE, OUTSIDE, SIGHTS, make_template
from tests.promises.twins import Data, Twin, twins

_SEASON = SIGHTS[1]
_VISIBLE = 200
HIDING = {"other times of the same stream": "home", "another connection": "other"}
_RECORDS = "/v1/streams/messages/records"
QUESTIONS = {
    "a page": Probe(_RECORDS, [("limit", "20")]),
    "a page by amount": Probe(_RECORDS, [("sort", "amount"), ("limit", "20")]),
    "a filtered page": Probe(_RECORDS, [("filter[label]", "a"), ("limit", "20")]),
    "a count": Probe(_RECORDS, [("limit", "1"), ("count", "exact")]),
    "a sum": Probe("/v1/streams/messages/aggregate", [("metric", "sum"), ("field", "amount")]),
    "a search": Probe("/v1/search", [("q", "alpha")]),
    "a search for a hidden word": Probe("/v1/search", [("q", "zebra")]),
    "a visible record": Probe(f"{_RECORDS}/v1", [("connection_id", "home")]),
    "a hidden record, or none": Probe(f"{_RECORDS}/h1", [("connection_id", "home")]),
    "what changed": Probe(
        _RECORDS, [("changes_since", "beginning"), ("connection_id", "home"), ("limit", "20")]
    ),
}


class Finding(NamedTuple):
    """What the times of one request come to."""

    fuller: float
    emptier: float
    share: float
    chance: float


def compare(fuller: Sequence[float], emptier: Sequence[float]) -> Finding:
    """Return the medians, the share of pairs in which the fuller took longer, and its chance."""
    ranked = sorted([(value, 1) for value in fuller] + [(value, 0) for value in emptier])
    n, m = len(fuller), len(emptier)
    ranks = sum(rank for rank, (_, full) in enumerate(ranked, 1) if full)
    larger = ranks - n * (n + 1) / 2
    spread = math.sqrt(n * m * (n + m + 1) / 12)
    z = (larger - n * m / 2) / spread
    chance = math.erfc(abs(z) / math.sqrt(2))
    return Finding(statistics.median(fuller), statistics.median(emptier), larger / (n * m), chance)


def _record(key: str, moment: str | None, number: int) -> tuple[str, Data | None, int]:
    words = "alpha zebra" if key.startswith("h") else "alpha"
    data = {"id": key, "body": words, "label": "a", "amount": number / 7, "sent_at": moment}
    return key, data, 0


def _lines(prefix: str, moment: str | None, many: int) -> list[tuple[str, Data | None, int]]:
    return [_record(f"{prefix}{number}", moment, number) for number in range(many)]


def _seconds(twin: Twin, probe: Probe) -> float:
    start = time.perf_counter()
    twin.caller.exchange(probe.method, probe.path, probe.params)
    return time.perf_counter() - start


def measure(connection_id: str, hidden: int, rounds: int) -> Iterator[tuple[str, Finding]]:
    """Yield what is found for each question when records are hidden in a connection."""
    with tempfile.TemporaryDirectory() as folder:
        template = make_template(Path(folder) / "template")
        with twins(template, Path(folder), _SEASON, 0) as pair:
            for twin in pair.both:
                twin.write("home", "messages", _lines("v", INSIDE[1], _VISIBLE))
            pair.left.write(connection_id, "messages", _lines("h", OUTSIDE[2], hidden))
            for name, probe in QUESTIONS.items():
                times: tuple[list[float], list[float]] = ([], [])
                for number in range(2 * rounds):
                    side = number % 2 ^ (number // 2) % 2  # neither world always comes first
                    times[side].append(_seconds(pair.both[side], probe))
                yield name, compare(*times)


def main(hidden: int = 5_000, rounds: int = 100) -> None:
    """Print a line for each question."""
    for where, connection_id in HIDING.items():
        print(f"{hidden:,} records hidden in {where}, none in the other world; {rounds} rounds")
        print(f"{'':28}{'with, µs':>10}{'without':>10}{'longer':>9}{'by chance':>11}")
        for name, found in measure(connection_id, hidden, rounds):
            times = f"{found.fuller * 1e6:10.0f}{found.emptier * 1e6:10.0f}"
            print(f"{name:28}{times}{found.share:9.0%}{found.chance:11.3f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
