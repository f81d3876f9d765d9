"""The owner's pages: what each costs over the big store."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from bench import world
from bench.client import Client, get
from bench.measures import Bench
from bench.process import Process, serving
from bench.report import Row, table
from bench.stock import Stock, read_stock
from bench.timing import Target, compare
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.short_lived import SecretKind, new_secret
from pdpp.model import instant
from pdpp.store.sqlite.store import SqliteStore

_GOAL = 30.0
_COOKIE = "pdpp_session_80"
"""The name of the cookie for requests to a host without a port, as the client sends them."""


def page_requests(stock: Stock, session: str) -> dict[str, list[bytes]]:
    """Return a request for each page, by its name."""
    biggest = stock.world.biggest
    account = biggest.connection_id
    key = biggest.key(biggest.size // 2)
    paths = {
        "home": "/",
        "everything by time": "/search",
        "search, word in 0.9 %": f"/search?q={world.MEDIUM}",
        "search, word in 20 %": f"/search?q={world.COMMON}",
        "one month": "/search?month=2025-06",
        "search, 0.9 %, one month": f"/search?q={world.MEDIUM}&month=2025-06",
        "a record": f"/r/{account}/{biggest.stream}/{key}",
        "accounts": "/accounts",
        "one account": f"/accounts/{account}",
        "import": "/import",
        "agents": "/agents",
        "activity": "/activity",
        "settings": "/settings",
    }
    return {name: [_get(path, session)] for name, path in paths.items()}


def _get(path: str, session: str) -> bytes:
    return get(path, headers={"Cookie": f"{_COOKIE}={session}"})


def log_in(folder: Path) -> str:
    """Return the secret of a session of the owner."""
    store = SqliteStore(folder)
    try:
        text, session = new_secret(
            SecretKind.SESSION, {"bound": False}, instant.now(), Lifetimes().session
        )
        with store.vault.transaction() as transaction:
            transaction.add_secret(session)
        return text
    finally:
        store.close()


def page_rows(bench: Bench) -> Iterator[Row]:
    """Yield the processor time of each page, and of the first search page after a start."""
    yield from _page_rows(bench.product, bench.stock, bench.rounds)


def _page_rows(product: Process, stock: Stock, rounds: int) -> Iterator[Row]:
    session = log_in(stock.folder)
    with Client(product.port) as client:
        # The first page begins to count months; what is measured is a server that has done so.
        client.ask(_get("/", session))
    product.wait_until_idle(rounds)
    for name, requests in page_requests(stock, session).items():
        timing = compare({"ours": Target(product, requests)}, rounds)["ours"]
        note = f"CPU; {timing.wall_ms:.3f} ms waited"
        yield Row(f"owner's page: {name}", timing.cpu_ms, "ms", _GOAL, note)
    note = "CPU until it is answered; another page was open before"
    first = _first_search(stock.folder, session)
    yield Row("owner's page: everything by time, first after a start", first, "ms", None, note)


def _first_search(folder: Path, session: str) -> float:
    """Return the milliseconds of a new server for its first page with bars."""
    with serving("product", folder) as product, Client(product.port) as client:
        client.ask(_get("/settings", session))
        before = product.cpu_seconds()
        client.ask(_get("/search", session))
        return 1e3 * (product.cpu_seconds() - before)


def main() -> None:
    """Measure the pages alone, over a store that the benchmark has filled."""
    parser = argparse.ArgumentParser(prog="python -m bench.owner_pages", description=__doc__)
    parser.add_argument("folder", type=Path, help="a store in the folder of the benchmark")
    parser.add_argument("--rounds", type=int, default=9, help="how often each measure is taken")
    chosen = parser.parse_args()
    stock = read_stock(chosen.folder)
    with serving("product", stock.folder) as product:
        product.wait_until_idle(chosen.rounds)
        print(table(list(_page_rows(product, stock, chosen.rounds))))


if __name__ == "__main__":
    main()
