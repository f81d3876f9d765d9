"""Where the embedded engine stops: field sets, feeds."""

from pathlib import Path

import pytest
from tests.store.world import Clock, World, declare, stream

from pdpp.model.errors import Conflict
from pdpp.store.query import PageQuery
from pdpp.store.sqlite.store import SqliteStore
from pdpp.store.tables import feeds, numbering
from pdpp.store.tables.write import fieldsets

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def test_more_sets_of_fields_than_are_numbered_are_still_shown_right(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fieldsets, "_MOST", 1)
    world.put({"a": {"note": "n"}, "b": {"note": "n", "size": 1}, "c": {"note": "n"}})
    page = world.store.page(PageQuery((world.reach(fields=["note"]),), 9))
    assert {record.data for record in page.records} == {b'{"note":"n"}'}
    assert len(page.records) == 3


def test_a_store_holds_so_many_streams_and_no_more(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_FEEDS", 2)
    store = SqliteStore(tmp_path, clock)
    store.register(declare(stream("a"), stream("b")))
    with pytest.raises(Conflict, match="as many streams"):
        store.connect("c1", "mail", "Work")
    assert not store.catalogue().connections
    store.close()


@pytest.mark.parametrize("feed", [1, numbering.MOST_FEEDS - 1])
@pytest.mark.parametrize("sequence", [0, (1 << numbering.FEED_SHIFT) - 1])
def test_the_number_of_a_record_fits_the_engine_and_leads_back(feed: int, sequence: int) -> None:
    record = numbering.record_number(feed, sequence)
    assert record >> numbering.FEED_SHIFT == feed
    assert record < 2**63
