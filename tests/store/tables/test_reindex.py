"""A change of the analyser: the index is made anew in pieces, and searches go on meanwhile."""

import pytest
from tests.store.questions import ask
from tests.store.world import World, declare, stream

from pdpp.evidence.language import stems
from pdpp.jobs.reindexing import REINDEX, reindex_kind
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.store.jobs import JobOrder, JobStatus
from pdpp.store.query import SearchQuery
from pdpp.store.tables.search import analysis, index, reindex

COUNT = 25


def hits(world: World, q: str) -> int:
    return world.store.search(SearchQuery((world.reach(),), ask(q), 100)).ranked


def forget_stems() -> None:
    """Have every word stemmed anew."""
    stems.stems_of.cache_clear()
    analysis._remembered.cache_clear()


@pytest.fixture
def old(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose records were indexed by an analyser that knew no stems."""
    monkeypatch.setattr(index, "ANALYSER", 0)
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(stems, "ALGORITHMS", {})
        forget_stems()
        world.settle().put({f"k{n}": {"body": f"invoices number {n}"} for n in range(COUNT)})
    forget_stems()
    monkeypatch.setattr(index, "ANALYSER", 1)
    monkeypatch.setattr(reindex, "PIECE_RECORDS", 10)
    return world


def test_records_are_found_before_during_and_after(old: World) -> None:
    assert hits(old, "number") == COUNT
    assert hits(old, "invoice") == 0
    assert old.store.index_progress() == (0, COUNT)
    assert old.store.reindex()
    assert hits(old, "number") == COUNT
    assert hits(old, "invoice") == 10
    # A kill loses nothing: whoever goes on finds what is left in the store.
    assert old.store.tend() in (True, False)
    old.put({"k24": {"body": "receipts"}, "k23": None})
    while old.store.reindex():
        assert hits(old, "number") == COUNT - 2
    assert hits(old, "invoice") == COUNT - 2
    assert hits(old, "receipt") == 1
    assert old.store.index_progress() == (COUNT - 1, COUNT - 1)
    assert list(old.store.check()) == []


def test_the_job_goes_on_where_another_was_killed(old: World) -> None:
    kind = reindex_kind(old.store)
    assert kind.wanted is not None
    assert kind.wanted()
    assert old.store.reindex()
    job = JobRunner(old.store, [kind], instant.now).run_now(JobOrder(REINDEX))
    assert (job.status, job.progress.done) == (JobStatus.SUCCEEDED, COUNT)
    assert hits(old, "invoice") == COUNT
    assert not kind.wanted()


def test_a_stream_that_is_declared_again_is_searched_as_before(old: World) -> None:
    old.settle(declare(stream("notes"), version="2"))
    while old.store.reindex():
        pass
    assert old.store.check() == []
    old.settle(declare(version="3"))
    assert hits(old, "invoice") == COUNT
    assert old.store.check() == []


def test_what_waits_to_be_deleted_is_not_missed_in_the_index(old: World) -> None:
    old.store.remove_connection("c1")
    while old.store.reindex():
        pass
    assert old.store.check() == []
    while old.store.delete_removed():
        pass
    assert old.store.check() == []
