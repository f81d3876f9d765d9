"""The measures: what is asked of the servers, and what may come of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench import world
from bench.client import get
from bench.load import CALLERS, measure_memory
from bench.process import Memory, Process, serving
from bench.report import Row
from bench.stock import Ingest, Stock
from bench.timing import Target, Timing, compare

_FEEDS = 5
"""How many of the biggest feeds that the grant opens are read from."""
_KEYS = 32
_HALF = "metric=count&filter[size][gte]=45000"
_GROUPED = "metric=count&group_by=channel"


@dataclass(frozen=True, slots=True)
class Bench:
    """The servers that take turns: ours, the floor over the same file, ours over a small store."""

    product: Process
    floor: Process
    small: Process
    stock: Stock
    small_stock: Stock
    rounds: int


@contextmanager
def taking_turns(stock: Stock, small: Stock, rounds: int) -> Iterator[Bench]:
    """Run the servers that are compared, each when it has put its index together."""
    with (
        serving("product", stock.folder) as product,
        serving("floor", stock.folder) as floor,
        serving("product", small.folder) as other,
    ):
        for server in (product, other):
            server.wait_until_idle(rounds)
        yield Bench(product, floor, other, stock, small, rounds)


def pages(stock: Stock, token: str) -> list[bytes]:
    """Return requests for the newest 25 records of a feed."""
    return [
        get(f"/v1/streams/{feed.stream}/records?connection_id={feed.connection_id}", token)
        for feed in _granted(stock)
    ]


def records(stock: Stock, token: str) -> list[bytes]:
    """Return requests for single records."""
    return [
        get(
            f"/v1/streams/{feed.stream}/records/{key}?connection_id={feed.connection_id}",
            token,
        )
        for feed, key in _chosen(stock)
    ]


def windows(stock: Stock, token: str) -> list[bytes]:
    """Return requests for the first window of a body."""
    return [
        get(
            f"/v1/streams/{feed.stream}/records/{key}/field-window"
            f"?connection_id={feed.connection_id}&field=body",
            token,
        )
        for feed, key in _chosen(stock)
    ]


def search(word: str, token: str) -> list[bytes]:
    """Return the request that searches for a word."""
    return [get(f"/v1/search?q={word}", token)]


def schema(token: str) -> list[bytes]:
    """Return the request for the compact schema."""
    return [get("/v1/schema?view=compact", token)]


def aggregate(stock: Stock, query: str) -> list[bytes]:
    """Return the request for an aggregate over the biggest feed."""
    feed = stock.world.biggest
    path = f"/v1/streams/{feed.stream}/aggregate?connection_id={feed.connection_id}&{query}"
    return [get(path, stock.tokens.third)]


def floor_pages(stock: Stock) -> list[bytes]:
    """Return what asks the floor for the same pages."""
    return [get(f"/page/{feed.connection_id}/{feed.stream}") for feed in _granted(stock)]


def floor_reads(stock: Stock, what: str) -> list[bytes]:
    """Return what asks the floor for the same records or windows."""
    return [
        get(f"/{what}/{feed.connection_id}/{feed.stream}/{key}") for feed, key in _chosen(stock)
    ]


def _granted(stock: Stock) -> list[world.Feed]:
    return list(stock.world.feeds[: 3 * _FEEDS : 3])


def _chosen(stock: Stock) -> list[tuple[world.Feed, str]]:
    """Return keys from all over the granted feeds that are read from."""
    return [
        (feed, feed.key(turn * feed.size // _KEYS))
        for turn in range(_KEYS)
        for feed in _granted(stock)
    ]


def against_floor(bench: Bench) -> Iterator[Row]:
    """Yield what the same rows cost here and on the floor."""
    stock, token = bench.stock, bench.stock.tokens.third
    rare = f"search, word in {100 * stock.world.rare / stock.world.records:.2g} %"
    cases = (
        ("record page of 25", 2.5, pages(stock, token), floor_pages(stock)),
        ("single record", 2.5, records(stock, token), floor_reads(stock, "record")),
        ("field window", 2.5, windows(stock, token), floor_reads(stock, "window")),
        (rare, 3.0, search(world.RARE, token), [get(f"/search/{world.RARE}")]),
        (
            "search, word in 0.9 %",
            3.0,
            search(world.MEDIUM, token),
            [get(f"/search/{world.MEDIUM}")],
        ),
    )
    for name, goal, ours, floor in cases:
        targets = {"ours": Target(bench.product, ours), "floor": Target(bench.floor, floor)}
        found = compare(targets, bench.rounds)
        yield ratio(name, goal, found["ours"], found["floor"], "floor")


def growth(bench: Bench) -> Iterator[Row]:
    """Yield how much more the same request costs in the big store than in the small one."""
    few = f"growth from {bench.small_stock.world.records:,} records"
    big, small = _same_everywhere(bench.stock), _same_everywhere(bench.small_stock)
    for name, requests in big.items():
        targets = {
            "big": Target(bench.product, requests),
            "small": Target(bench.small, small[name]),
        }
        found = compare(targets, bench.rounds)
        yield ratio(f"{few}: {name}", 1.5, found["big"], found["small"], "small store")


def _same_everywhere(stock: Stock) -> dict[str, list[bytes]]:
    """Return requests whose answers are of one size in a store of any size."""
    token = stock.tokens.third
    return {
        "record page": pages(stock, token),
        "single record": records(stock, token),
        "field window": windows(stock, token),
        "search, word in 100 records": search(world.STEADY, token),
        "compact schema": schema(stock.tokens.everything),
    }


def ratio(name: str, goal: float, ours: Timing, theirs: Timing, other: str) -> Row:
    """Return how many times the processor time of another server an answer takes."""
    note = f"{cost(ours)}; {other} {cost(theirs)}"
    return Row(name, ours.ratio(theirs), "×", goal, note)


def cost(timing: Timing) -> str:
    """Return a timing in words."""
    return f"{timing.cpu_ms:.3f} ms CPU, {timing.wall_ms:.3f} waited"


def in_milliseconds(bench: Bench) -> Iterator[Row]:
    """Yield what has a goal, or only an interest, in milliseconds."""
    for name, goal, requests in (*_timed_searches(bench.stock), *_timed_reads(bench.stock)):
        timing = compare({"ours": Target(bench.product, requests)}, bench.rounds)["ours"]
        yield Row(name, timing.cpu_ms, "ms", goal, f"CPU; {timing.wall_ms:.3f} ms waited")


_Timed = tuple[str, float | None, list[bytes]]


def _timed_searches(stock: Stock) -> tuple[_Timed, ...]:
    third, narrow = stock.tokens.third, stock.tokens.narrow
    return (
        ("search, word in 97 %, 100 streams", 25, search(world.EVERYWHERE, third)),
        ("search, word in 20 %, 100 streams", None, search(world.COMMON, third)),
        ("search, word in 0.9 %, grant by field and time", None, search(world.MEDIUM, narrow)),
    )


def _timed_reads(stock: Stock) -> tuple[_Timed, ...]:
    size = f"{stock.world.biggest.size:,} records"
    monthly = "metric=count&group_by_time=sent_at&granularity=month&time_zone=Europe/Berlin"
    return (
        ("page of 25, grant by field and time", None, pages(stock, stock.tokens.narrow)),
        ("compact schema, 300 streams", 5, schema(stock.tokens.everything)),
        (f"count over {size}", 10, aggregate(stock, "metric=count")),
        (f"count of a range over {size}", 10, aggregate(stock, _HALF)),
        (f"group-by over {size}", 50, aggregate(stock, _GROUPED)),
        (f"group-by month over {size}", 50, aggregate(stock, monthly)),
    )


def ingest_rows(stock: Stock) -> Iterator[Row]:
    """Yield how fast the store was filled."""
    ingest: Ingest = stock.ingest
    part = f"{min(100_000, stock.world.records // 10):,}"
    note = f"{ingest.cpu_microseconds:.0f} µs CPU a record; store made {stock.built}"
    yield Row("ingest, all indexes on", ingest.overall, "records/s", 8_000, note, at_least=True)
    ends = f"first {ingest.first:,.0f}/s, last {ingest.last:,.0f}/s"
    name = f"ingest, last {part} against first"
    yield Row(name, ingest.last / ingest.first, "×", 0.5, ends, at_least=True)


def memory_rows(stock: Stock, seconds: float) -> Iterator[Row]:
    """Yield what a server takes before and while many callers ask for everything."""
    token = stock.tokens.third
    words = (world.RARE, world.MEDIUM, world.COMMON, world.EVERYWHERE)
    requests = [
        *pages(stock, token),
        *records(stock, token),
        *windows(stock, token),
        *(request for word in words for request in search(word, token)),
        *schema(stock.tokens.everything),
        *aggregate(stock, _GROUPED),
    ]
    idle, loaded, rate = measure_memory(stock.folder, requests, seconds)
    yield Row("memory, idle", idle.resident, "MB", 120, split(idle))
    note = f"{split(loaded)}; {rate:,.0f} requests/s"
    yield Row(f"memory, {CALLERS} callers at once", loaded.resident, "MB", 250, note)


def split(memory: Memory) -> str:
    """Return the parts of an amount of memory, to stand beside it."""
    return f"resident; {memory.proportional:.0f} MB proportional, {memory.own:.0f} MB its own"
