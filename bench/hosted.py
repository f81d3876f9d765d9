"""The hosted adapter: what a call costs over the plain read that it makes."""

from collections.abc import Iterator

from bench import world
from bench.agent import calling, listing
from bench.client import get
from bench.estate import TITLED, Estate
from bench.measures import Bench, cost
from bench.process import Process
from bench.report import Row
from bench.stock import CHILDREN
from bench.timing import Target, compare

_HITS = 10


def hosted_rows(bench: Bench, letters: Process, estate: Estate) -> Iterator[Row]:
    """Yield the processor time of MCP calls beyond that of the plain requests behind them."""
    token = bench.stock.tokens.third
    yield _over(
        "hosted tools/list over GET /healthz",
        150,
        Target(bench.product, [listing(token)]),
        Target(bench.product, [get("/healthz")]),
        bench.rounds,
    )
    for what, server, word, bearer in (
        ("at once", letters, TITLED, estate.token),
        ("cut to fit", bench.product, world.RARE, token),
    ):
        yield _over(
            f"hosted search of {_HITS} hits, {what}, over GET /v1/search",
            600,
            Target(server, [calling(bearer, "search", {"query": word, "limit": _HITS})]),
            Target(server, [get(f"/v1/search?q={word}&limit={_HITS}", bearer)]),
            bench.rounds,
        )


def _over(name: str, goal: float, ours: Target, plain: Target, rounds: int) -> Row:
    found = compare({"ours": ours, "plain": plain}, rounds)
    note = f"{cost(found['ours'])}; plain {cost(found['plain'])}"
    return Row(name, found["ours"].over(found["plain"]), "µs", goal, note)


def package_rows(bench: Bench) -> Iterator[Row]:
    """Yield what a search of all grants of a package costs against a search of one of them."""
    token = bench.stock.tokens.package
    for what, word in (("word in 0.9 %", world.MEDIUM), ("word in 100 records", world.STEADY)):
        every = calling(token, "search", {"query": word})
        single = calling(token, "search", {"query": word, "connection_id": CHILDREN[0]})
        targets = {
            "all": Target(bench.product, [every]),
            "one": Target(bench.product, [single]),
        }
        found = compare(targets, bench.rounds)
        name = f"package search, {len(CHILDREN)} children against one, {what}"
        note = f"{cost(found['all'])}; one child {cost(found['one'])}"
        yield Row(name, found["all"].ratio(found["one"]), "×", 3, note)
