"""The clock of the machine: a day of summer is one in winter, too."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.resource.library import LIBRARY, book
from tests.serving import SetClock, living, planted_store

from pdpp.pages.preferences import Preferences
from pdpp.service import local_zone as module
from pdpp.service.local_zone import local_zone

SUMMER, WINTER = 7, 1
SetZone = Callable[[str | None], None]


@pytest.fixture
def set_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[SetZone]:
    def set_to(name: str | None) -> None:
        monkeypatch.delenv("TZ", raising=False)
        if name is not None:
            monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_to
    monkeypatch.undo()
    time.tzset()


def offsets() -> list[timedelta | None]:
    zone = local_zone()
    return [datetime(2026, month, 1, tzinfo=zone).utcoffset() for month in (SUMMER, WINTER)]


@pytest.mark.parametrize("name", ["Europe/Berlin", ":Europe/Berlin"])
def test_the_zone_of_the_machine_has_summer_and_winter(set_zone: SetZone, name: str) -> None:
    set_zone(name)
    assert offsets() == [timedelta(hours=2), timedelta(hours=1)]
    assert Preferences().dates.event("2026-07-01T10:00:00Z") == "1 July 2026, 12:00 CEST"
    assert Preferences().dates.event("2026-01-01T11:00:00Z") == "1 January 2026, 12:00 CET"


def test_without_a_variable_the_rules_of_the_machine_count(
    set_zone: SetZone, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_zone(None)
    monkeypatch.setattr(module, "_CLOCK", Path("/usr/share/zoneinfo/America/New_York"))
    module._zone_of.cache_clear()
    try:
        assert offsets() == [timedelta(hours=-4), timedelta(hours=-5)]
    finally:
        module._zone_of.cache_clear()


@pytest.mark.parametrize("name", ["", "<+03>-3", "Mars/Olympus"])
def test_a_zone_that_is_not_known_has_the_offset_of_today(set_zone: SetZone, name: str) -> None:
    set_zone(name)
    hours = 3 if name.startswith("<") else 0
    assert offsets() == [timedelta(hours=hours)] * 2
    assert module._zone_of(name) is None, "an offset that is remembered would be that of last year"


def test_a_search_for_a_day_of_summer_asked_in_winter_finds_all_of_it(
    set_zone: SetZone, tmp_path: Path
) -> None:
    set_zone("Europe/Berlin")
    rows = [
        book("first", 1, title="lantern") | {"added_at": "2026-06-30T22:30:00Z"},
        book("last", 1, title="lantern") | {"added_at": "2026-07-01T21:30:00Z"},
        book("after", 1, title="lantern") | {"added_at": "2026-07-01T22:30:00Z"},
    ]
    clock = SetClock("2026-12-01T12:00:00Z")
    store = planted_store(tmp_path, LIBRARY, {"only": "Only"}, {("only", "books"): rows}, clock)
    with living(store, clock=clock) as world:
        page = world.client().get("/v1/search?q=lantern on:2026-07-01").json()
    assert {hit["record_key"] for hit in page["data"]} == {"first", "last"}
