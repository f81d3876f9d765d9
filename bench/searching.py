"""Searching: what natural questions cost, and how much room the index of words takes."""

from collections.abc import Iterator
from contextlib import closing
from random import Random
from statistics import mean, quantiles

import apsw

from bench import world
from bench.client import Client
from bench.load import CALLERS, measure_memory
from bench.measures import Bench, search, split
from bench.report import Row
from bench.stock import Stock
from pdpp.store.sqlite.store import FILE_NAME

_QUESTIONS = 200
_BEFORE = 100
"""Questions that are asked before the first one is measured, by a server in use."""
_WORDS = 6
_PARTS = 50
_TRIED = 3
_TWENTIETHS = 20
_INDEX = (
    "word_block",
    "word_block_feed",
    "word_gone",
    "posting",
    "long_posting",
    "word_list",
    "thread_place",
)


def questions(count: int) -> list[str]:
    """Return questions of eight words: six as common as in the records, two of English."""
    random = Random("questions")
    chosen = (world.prose(random, _WORDS) for _ in range(count))
    return [f"{words} {world.COMMON} house".replace(" ", "+") for words in chosen]


def question_rows(bench: Bench) -> Iterator[Row]:
    """Yield what questions of eight words cost under a grant of whole streams, and of parts.

    Each question is asked once: a server remembers common words, but not answers.
    """
    tokens = bench.stock.tokens
    # One round is a trial of the benchmark itself.
    trial = bench.rounds == 1
    whole = _costs(bench, tokens.third, _TRIED if trial else _QUESTIONS)
    note = f"CPU; {len(whole)} questions, each asked once"
    yield Row("question of 8 words, 100 streams, mean", mean(whole), "ms", 12, note)
    high = quantiles(whole, n=_TWENTIETHS, method="inclusive")[-1]
    yield Row("question of 8 words, 100 streams, p95", high, "ms", 30, note)
    parts = mean(_costs(bench, tokens.narrow, _TRIED if trial else _PARTS))
    name = "question of 8 words, grant by field and time, against whole streams"
    yield Row(name, parts / mean(whole), "×", 1.5, f"{parts:.2f} ms CPU")


def _costs(bench: Bench, token: str, count: int) -> list[float]:
    """Return the milliseconds of processor time that each of some questions takes."""
    before = 0 if count == _TRIED else _BEFORE
    costs = []
    with Client(bench.product.port) as client:
        for number, question in enumerate(questions(before + count)):
            [request] = search(question, token)
            began = bench.product.cpu_seconds()
            client.ask(request)
            if number >= before:
                costs.append(1e3 * (bench.product.cpu_seconds() - began))
    return costs


def question_memory_rows(stock: Stock, rounds: int) -> Iterator[Row]:
    """Yield what a server takes while many callers ask questions, each a different one."""
    # One round is a trial of the benchmark itself.
    asked = questions(CALLERS if rounds == 1 else _QUESTIONS)
    requests = [request for words in asked for request in search(words, stock.tokens.third)]
    _, loaded, rate = measure_memory(stock.folder, requests, rounds / 2)
    note = f"{split(loaded)}; {rate:,.0f} questions/s"
    yield Row(
        f"memory, {CALLERS} callers at once, questions of 8 words", loaded.resident, "MB", 250, note
    )


def index_rows(stock: Stock) -> Iterator[Row]:
    """Yield how many bytes of the file hold the words of one record."""
    with closing(apsw.Connection(str(stock.folder / FILE_NAME))) as db:
        sizes = dict(db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    taken = sum(sizes.get(name, 0) for name in _INDEX) / stock.world.records
    note = f"the records themselves {sizes['record'] / stock.world.records:.0f} bytes"
    yield Row("index of words, a record", taken, "bytes", 450, note)
