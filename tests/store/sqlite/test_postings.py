"""Postings: however rows are read, the candidates are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.records import FEWER
from tests.store.world import World, fresh

from pdpp.evidence.analyse import parse_query
from pdpp.store.port import SearchQuery
from pdpp.store.sqlite.search import postings, search
from pdpp.store.sqlite.store import SqliteStore

CONNECTIONS = ("c1", "c2", "c3", "c4", "c5")
COUNTS = st.tuples(*[st.integers(0, 9)] * len(CONNECTIONS))
REACHED = st.permutations(CONNECTIONS).flatmap(
    lambda names: st.integers(1, len(names)).map(lambda size: names[:size])
)
FIELDS = st.sampled_from([("subject",), ("body",), ("subject", "body")])


def share_out(counts: dict[str, int], bound: int) -> dict[str, int]:
    """Return how many candidates each has after turns of equal shares."""
    taken, going = dict.fromkeys(counts, 0), list(counts)
    while going and sum(taken.values()) < bound:
        share = max(1, (bound - sum(taken.values())) // len(going))
        still = []
        for name in going:
            more = min(share, bound - sum(taken.values()), counts[name] - taken[name])
            taken[name] += more
            if more == share or sum(taken.values()) == bound:
                still.append(name)
        going = still
    return taken


def fill(world: World, counts: tuple[int, ...], fields: tuple[str, ...]) -> None:
    """Let each connection have so many matches, and between them what does not match."""
    world.settle(None, *CONNECTIONS)
    for name, count in zip(CONNECTIONS, counts, strict=True):
        for number in range(count):
            world.put({f"{number}": dict.fromkeys(fields, "apple")}, name)
            world.put({f"{number}-other": {"subject": "pear"}}, name)


@FEWER
@given(
    counts=COUNTS,
    reached=REACHED,
    fields=FIELDS,
    bound=st.integers(1, 25),
    piece=st.integers(1, 6),
    spare=st.integers(0, 2),
)
def test_each_reach_gives_its_newest_matches_however_many_are_read_at_once(
    counts: tuple[int, ...],
    reached: list[str],
    fields: tuple[str, ...],
    bound: int,
    piece: int,
    spare: int,
) -> None:
    with fresh(SqliteStore) as world, pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (search, "CANDIDATES", bound),
            (search, "_PROBE", 0),
            (search, "_FEW_REACHES", 99),
            (postings, "_PIECE", piece),
            (postings, "_SPARE", spare),
        ):
            patch.setattr(module, name, value)
        fill(world, counts, fields)
        reaches = tuple(map(world.reach, reached))
        page = world.store.search(SearchQuery(reaches, parse_query("apple"), 99))
        held = {name: counts[CONNECTIONS.index(name)] for name in reached}
        wanted = share_out(held, bound)
        assert {(hit.position.handle[0], world.key(hit.record)) for hit in page.hits} == {
            (name, str(number))
            for name, count in wanted.items()
            for number in range(held[name] - count, held[name])
        }
        assert len({hit.position.score for hit in page.hits}) <= 1
        assert page.complete == (sum(held.values()) <= bound)
