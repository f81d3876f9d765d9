"""The owner's pages: what each costs over the big store."""

from collections.abc import Iterator
from pathlib import Path

from bench import world
from bench.client import get
from bench.measures import Bench
from bench.report import Row
from bench.timing import Target, compare
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.short_lived import SecretKind, new_secret
from pdpp.model import instant
from pdpp.store.sqlite.store import SqliteStore

_GOAL = 30.0
_COOKIE = "pdpp_session_80"
"""The name of the cookie for requests to a host without a port, as the client sends them."""


def page_requests(bench: Bench, session: str) -> dict[str, list[bytes]]:
    """Return a request for each page, by its name."""
    biggest = bench.stock.world.biggest
    account = biggest.connection_id
    key = biggest.key(biggest.size // 2)
    paths = {
        "home": "/",
        "everything by time": "/search",
        "search, word in 0.9 %": f"/search?q={world.MEDIUM}",
        "one month": "/search?month=2025-06",
        "search, 0.9 %, one month": f"/search?q={world.MEDIUM}&month=2025-06",
        "a record": f"/r/{account}/{biggest.stream}/{key}",
        "accounts": "/accounts",
        "one account": f"/accounts/{account}",
        "agents": "/agents",
        "activity": "/activity",
        "settings": "/settings",
    }
    cookie = {"Cookie": f"{_COOKIE}={session}"}
    return {name: [get(path, headers=cookie)] for name, path in paths.items()}


def log_in(folder: Path) -> str:
    """Return the secret of a session of the owner."""
    store = SqliteStore(folder)
    try:
        text, session = new_secret(SecretKind.SESSION, {}, instant.now(), Lifetimes().session)
        with store.vault.transaction() as transaction:
            transaction.add_secret(session)
        return text
    finally:
        store.close()


def page_rows(bench: Bench) -> Iterator[Row]:
    """Yield the processor time of each page."""
    session = log_in(bench.stock.folder)
    for name, requests in page_requests(bench, session).items():
        timing = compare({"ours": Target(bench.product, requests)}, bench.rounds)["ours"]
        note = f"CPU; {timing.wall_ms:.3f} ms waited"
        yield Row(f"owner's page: {name}", timing.cpu_ms, "ms", _GOAL, note)
