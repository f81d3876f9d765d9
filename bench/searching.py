"""Searching: what natural questions cost, and how much room the index of words takes."""

from collections.abc import Iterator
from contextlib import closing
from random import Random
from statistics import mean, quantiles

import apsw

from bench import world
from bench.measures import Bench, search
from bench.report import Row
from bench.stock import Stock
from bench.timing import Target, Timing, compare
from pdpp.store.sqlite.store import FILE_NAME

_QUESTIONS = 12
_WORDS = 6
_PARTS = 4
_TWENTIETHS = 20
_INDEX = ("word_block", "word_block_feed", "word_gone", "posting", "word_list", "thread_place")


def questions() -> list[str]:
    """Return questions of eight words: six as common as in the records, two of English."""
    random = Random("questions")
    chosen = (world.prose(random, _WORDS) for _ in range(_QUESTIONS))
    return [f"{words} {world.COMMON} house".replace(" ", "+") for words in chosen]


def question_rows(bench: Bench) -> Iterator[Row]:
    """Yield what questions of eight words cost under a grant of whole streams, and of parts."""
    tokens = bench.stock.tokens
    # One round is a trial of the benchmark itself, which asks nothing beforehand.
    rounds = 1 if bench.rounds == 1 else max(2, bench.rounds // 3)
    whole = [_asked(bench, question, tokens.third, rounds) for question in questions()]
    costs = [timing.cpu_ms for timing in whole]
    waited = f"{mean(timing.wall_ms for timing in whole):.2f} ms waited"
    note = f"CPU; {_QUESTIONS} questions; {waited}"
    yield Row("question of 8 words, 100 streams, mean", mean(costs), "ms", 12, note)
    high = quantiles(costs, n=_TWENTIETHS, method="inclusive")[-1]
    yield Row("question of 8 words, 100 streams, p95", high, "ms", 30, note)
    some = questions()[:_PARTS]
    parts = [_asked(bench, question, tokens.narrow, rounds).cpu_ms for question in some]
    name = "question of 8 words, grant by field and time, against whole streams"
    yield Row(name, mean(parts) / mean(costs[:_PARTS]), "×", 1.5, f"{mean(parts):.2f} ms CPU")


def _asked(bench: Bench, question: str, token: str, rounds: int) -> Timing:
    targets = {"ours": Target(bench.product, search(question, token))}
    return compare(targets, rounds)["ours"]


def index_rows(stock: Stock) -> Iterator[Row]:
    """Yield how many bytes of the file hold the words of one record."""
    with closing(apsw.Connection(str(stock.folder / FILE_NAME))) as db:
        sizes = dict(db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    taken = sum(sizes.get(name, 0) for name in _INDEX) / stock.world.records
    note = f"the records themselves {sizes['record'] / stock.world.records:.0f} bytes"
    yield Row("index of words, a record", taken, "bytes", 450, note)
