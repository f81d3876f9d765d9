"""The command: fill stores, measure, print a table, write JSON."""

import argparse
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import orjson

from bench.agent import Agent
from bench.changes import change_rows
from bench.client import Client
from bench.encrypted import encrypted_rows
from bench.estate import Estate, demo_estate, letters_estate
from bench.hidden import hidden_rows
from bench.hosted import hosted_rows, package_rows
from bench.imports import import_rows
from bench.journeys import letter_rows, size_rows
from bench.launch import program_rows, stdio_rows
from bench.measures import (
    Bench,
    against_floor,
    growth,
    in_milliseconds,
    ingest_rows,
    memory_rows,
    taking_turns,
)
from bench.owner_pages import page_rows
from bench.process import serving
from bench.receipts import receipt_rows
from bench.report import Row, table, taken, tell
from bench.searching import index_rows, question_memory_rows, question_rows
from bench.stock import Say, Stock, open_stock
from bench.tokens import token_rows
from bench.watching import watching_rows
from bench.world import LEAST_RECORDS

_SMALL = 10_000
_MORE_LAUNCHES = 2
_TRIAL_PART = 3


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="how many records")
    parser.add_argument("--json", type=Path, help="where the result goes; else into the folder")
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where stores are kept")
    parser.add_argument("--fresh", action="store_true", help="fill the stores anew")
    parser.add_argument("--rounds", type=int, default=9, help="how often each measure is taken")
    parser.add_argument("--formats", type=int, help="how many formats are imported; else all")
    chosen = parser.parse_args()
    if platform.system() != "Linux":
        parser.error("processor time and memory are read the Linux way; run this on Linux")
    if chosen.records < LEAST_RECORDS:
        parser.error(f"--records is at least {LEAST_RECORDS}")
    return chosen


def _measure(
    stock: Stock,
    small: Stock,
    estates: tuple[Estate, Estate],
    chosen: argparse.Namespace,
    say: Say,
) -> Iterator[Row]:
    rounds: int = chosen.rounds
    # A run of one round is a trial of the benchmark itself.
    filled = stock.world.records // (_TRIAL_PART if rounds == 1 else 1)
    yield from ingest_rows(stock)
    yield from index_rows(stock)
    say("Measuring token checks")
    yield from token_rows(stock.world.records, rounds)
    yield from watching_rows(rounds)
    say("Measuring memory")
    yield from memory_rows(stock, rounds / 2)
    yield from question_memory_rows(stock, rounds)
    say("Measuring requests")
    with taking_turns(stock, small, rounds) as bench:
        yield from against_floor(bench)
        yield from growth(bench)
        yield from in_milliseconds(bench)
        yield from question_rows(bench)
        say("Measuring the owner's pages")
        yield from page_rows(bench)
        say("Measuring what receipts cost")
        yield from receipt_rows(bench)
        yield from _measure_agents(bench, *estates, say)
    say("Measuring what hidden records cost")
    yield from hidden_rows(filled, rounds)
    say("Measuring what encryption costs")
    yield from encrypted_rows(filled, rounds)
    say("Measuring changes")
    yield from change_rows(filled, rounds)
    say("Measuring imports")
    yield from import_rows(stock.world.records, rounds, chosen.formats)


def _measure_agents(bench: Bench, demo: Estate, letters: Estate, say: Say) -> Iterator[Row]:
    with (
        serving("product", demo.folder) as demo_server,
        serving("product", letters.folder) as letters_server,
    ):
        say("Measuring what agents see")
        with Client(demo_server.port) as client:
            yield from size_rows(Agent(client, demo.token))
        with Client(letters_server.port) as client:
            yield from letter_rows(Agent(client, letters.token))
        say("Measuring how agents are served")
        launches = bench.rounds + (_MORE_LAUNCHES if bench.rounds > 1 else 0)
        yield from stdio_rows(demo_server, demo, launches)
        yield from program_rows(demo_server, demo, launches)
        yield from hosted_rows(bench, letters_server, letters)
        yield from package_rows(bench)


def _conditions(records: int) -> dict[str, str | float]:
    return {
        "records": records,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    """Run the whole benchmark."""
    chosen = _arguments()
    records: int = chosen.records
    folder: Path = chosen.folder
    small = open_stock(folder, min(_SMALL, records // 3), fresh=chosen.fresh, say=tell)
    stock = open_stock(folder, records, fresh=chosen.fresh, say=tell)
    conditions = _conditions(records)
    with TemporaryDirectory() as made:
        estates = demo_estate(Path(made) / "demo"), letters_estate(Path(made) / "letters")
        rows = taken(_measure(stock, small, estates, chosen, tell))
    result = {"conditions": conditions, "rows": [row.as_json() for row in rows]}
    target: Path = chosen.json or folder / f"result-{records}.json"
    target.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
    print(", ".join(f"{name} {value}" for name, value in conditions.items()))
    print(table(rows))


if __name__ == "__main__":
    main()
