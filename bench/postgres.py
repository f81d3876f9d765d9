"""The benchmark of a store in PostgreSQL: against bare SQL through the same driver.

A server of its own is started from a wheel, with its data in the folder of the benchmark and
everything written to the disk as it is told. Processor time is that of the worker and of the
processes of the database that work for it.
"""

import argparse
import os
import platform
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import orjson
import psycopg

from bench import measures, world
from bench.client import get
from bench.fleet import fleet_rows
from bench.fleet_ingest import fleet_ingest_rows
from bench.measures import Bench, growth, ingest_rows, memory_rows, ratio, taking_turns
from bench.owners import owner_rows
from bench.postgres_server import running_server
from bench.report import Row, table, taken, tell
from bench.stock import Stock, open_stock
from bench.timing import Target, compare
from pdpp.store.postgres import bulk, connection, dialect, schema

_SMALL = 10_000
_GOAL = 2.5
_INGEST_GOAL = 5_000
_MEMORY_GOAL = 120


def floor_rows(bench: Bench) -> Iterator[Row]:
    """Yield what the same answers cost here and as bare SQL."""
    stock, token = bench.stock, bench.stock.tokens.third
    feed = f"{stock.world.biggest.connection_id}/{stock.world.biggest.stream}"
    rare = f"search, word in {100 * stock.world.rare / stock.world.records:.2g} %"
    month = "metric=count&group_by_time=sent_at&granularity=month&time_zone=Europe/Berlin"
    cases = (
        ("record page of 25", measures.pages(stock, token), measures.floor_pages(stock)),
        ("single record", measures.records(stock, token), measures.floor_reads(stock, "record")),
        ("field window", measures.windows(stock, token), measures.floor_reads(stock, "window")),
        (rare, measures.search(world.RARE, token), [get(f"/search/{world.RARE}")]),
        (
            "search, word in 0.9 %",
            measures.search(world.MEDIUM, token),
            [get(f"/search/{world.MEDIUM}")],
        ),
        (
            "search, word in 97 %",
            measures.search(world.EVERYWHERE, token),
            [get(f"/search/{world.EVERYWHERE}")],
        ),
        ("compact schema", measures.schema(stock.tokens.everything), [get("/schema")]),
        ("count", measures.aggregate(stock, "metric=count"), [get(f"/count/{feed}")]),
        (
            "count of a range",
            measures.aggregate(stock, "metric=count&filter[size][gte]=45000"),
            [get(f"/range/{feed}")],
        ),
        (
            "group-by",
            measures.aggregate(stock, "metric=count&group_by=channel"),
            [get(f"/grouped/{feed}")],
        ),
        ("group-by month", measures.aggregate(stock, month), [get(f"/months/{feed}")]),
    )
    for name, ours, floor in cases:
        targets = {"ours": Target(bench.product, ours), "floor": Target(bench.floor, floor)}
        timings = compare(targets, bench.rounds)
        yield ratio(name, _GOAL, timings["ours"], timings["floor"], "floor")


def _measure(stock: Stock, small: Stock, rounds: int, url: str, shelf: Path) -> Iterator[Row]:
    for row in ingest_rows(stock):
        yield row if row.unit == "×" else _with_goal(row, _INGEST_GOAL)
    for row in memory_rows(stock, rounds / 2):
        yield _with_goal(row, _MEMORY_GOAL)
    yield from fleet_rows(stock, rounds / 2)
    with taking_turns(stock, small, rounds) as bench:
        yield from floor_rows(bench)
        yield from growth(bench)
    yield from fleet_ingest_rows(shelf, url, stock.world.records)
    yield from owner_rows(url, shelf / "owners")


def _with_goal(row: Row, goal: float) -> Row:
    return Row(row.name, row.value, row.unit, goal, row.note, row.at_least)


def _shelf(folder: Path, fresh: bool) -> Path:
    """Return the folder of a database that this code would fill so; those of other code go."""
    sources = b"".join(
        Path(str(module.__file__)).read_bytes() for module in (bulk, connection, dialect, schema)
    )
    shelf = folder / f"postgres-{sha256(sources).hexdigest()[:12]}"
    for old in folder.glob("postgres-*"):
        if fresh or old != shelf:
            shutil.rmtree(old)
    return shelf


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench.postgres", description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="how many records")
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where data are kept")
    parser.add_argument("--fresh", action="store_true", help="fill the database anew")
    parser.add_argument("--rounds", type=int, default=9, help="how often each measure is taken")
    chosen = parser.parse_args()
    shelf = _shelf(chosen.folder.resolve(), chosen.fresh)
    with running_server(shelf) as url:
        sizes = (min(_SMALL, chosen.records // 3), chosen.records)
        small, stock = (
            open_stock(shelf, size, fresh=False, say=tell, database=url) for size in sizes
        )
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("VACUUM ANALYZE")
            version: str = db.info.parameter_status("server_version") or ""
        rows = taken(_measure(stock, small, chosen.rounds, url, shelf))
    conditions = {
        "records": chosen.records,
        "python": platform.python_version(),
        "postgresql": version,
        "psycopg": f"{psycopg.__version__} {psycopg.pq.__impl__}",
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 2),
    }
    result = {"conditions": conditions, "rows": [row.as_json() for row in rows]}
    target = chosen.folder / f"result-postgres-{chosen.records}.json"
    target.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
    print(", ".join(f"{name} {value}" for name, value in conditions.items()))
    print(table(rows))


if __name__ == "__main__":
    main()
