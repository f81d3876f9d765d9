"""The activity pages: what agents read, by question and by day, and what of it is unusual."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date
from pathlib import Path

import pytest
from tests.pages.house import House, Reader, housed
from tests.serving import UNLIMITED, SetClock, approve

from pdpp.model import instant
from pdpp.pages.dates import Dates
from pdpp.pages.reading_days import DAYS, day_bars, unusual_reads
from pdpp.receipts.recorder import ReceiptPolicy
from pdpp.store.receipts import ClientHour, FirstRead

QUICK = replace(UNLIMITED, receipts=ReceiptPolicy(seconds=0.02))
DATES = Dates(UTC)
TODAY = date(2026, 11, 16)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A world in which an agent has read a few things."""
    clock = SetClock("2026-11-02T10:00:00Z")
    folder = Path(tmp_path_factory.mktemp("read")) / "store"
    with housed(folder, settings=QUICK, clock=clock) as house:
        agent = house.world.server.client(approve(house.store, now=clock.now).token)
        assert agent.get("/v1/search?q=invoice").status_code == 200
        clock.advance(3_600)
        query = "filter[amount][lt]=0&connection_id=cin_bank&metric=count"
        assert agent.get(f"/v1/streams/transactions/aggregate?{query}").status_code == 200
        clock.advance(60)
        house.wait_for(lambda: len(house.owner().get("/activity").tree.css(".results li")) == 2)
        yield house


def test_a_record_without_a_title_is_called_by_how_it_begins(tmp_path: Path) -> None:
    with housed(tmp_path / "store", settings=QUICK) as house:
        agent = house.world.server.client(approve(house.store).token)
        rows = agent.get("/v1/streams").json()["data"]
        for row in rows:
            query = f"connection_id={row['connection_id']}&limit=2"
            assert agent.get(f"/v1/streams/{row['name']}/records?{query}").status_code == 200
        owner = house.owner()
        house.wait_for(lambda: len(owner.get("/activity").tree.css(".results li")) >= 5)
        links = owner.get("/activity").tree.css(".results p > a")
        titles = [node.text() for node in links if "/r/" in str(node.attributes["href"])]
        assert titles
        names = {f"{row['display_name']} / {row['name']} / " for row in rows}
        assert not [title for title in titles if title.startswith(tuple(names))]


@pytest.fixture(scope="module")
def looker(read: House) -> Reader:
    return read.owner()


def test_reads_are_grouped_by_question_with_titles_and_links(looker: Reader) -> None:
    page = looker.get("/activity")
    counted, searched = page.tree.css(".results li")
    words = " ".join(searched.text(separator=" ").split())
    assert "test-client searched" in words
    assert "Home mail / Letters" in words
    assert "Banco Azul / Payments" in words
    links = [str(node.attributes["href"]) for node in searched.css("p > a")]
    assert [link for link in links if link.startswith("/r/cin_")]
    assert "no longer exists" not in words
    assert "asked about amount" in counted.text()
    assert "2 November 2026, 11:00" in counted.text()


def test_the_records_of_a_search_begin_with_the_best(tmp_path: Path) -> None:
    with housed(tmp_path / "store", settings=QUICK) as house:
        agent = house.world.server.client(approve(house.store).token)
        best = agent.get("/v1/search?q=invoice 4471").json()["data"][0]
        owner = house.owner()
        house.wait_for(lambda: bool(owner.get("/activity").tree.css(".results li")))
        first = owner.get("/activity").tree.css(".results p > a")[0]
        where = f"/r/{best['connection_id']}/{best['stream']}/{best['record_key']}"
        assert first.attributes["href"] == where


def test_a_question_shows_every_record_and_what_was_seen_of_it(looker: Reader) -> None:
    link = looker.get("/activity").tree.css(".results h2 a")[1]
    page = looker.get(str(link.attributes["href"]))
    assert "It saw:" in page.text
    links = [str(node.attributes["href"]) for node in page.tree.css(".rows a")]
    assert "/r/cin_home/messages/m-invoice-4471" in links
    assert looker.get(links[0]).status == 200
    box = page.tree.css_first("input#q")
    assert box is not None
    assert box.attributes["value"] == "", "the search box holds what is searched for alone"


@pytest.mark.parametrize("number", ["0", "999999", "x", "1" * 30])
def test_a_question_that_is_not_there_is_told(looker: Reader, number: str) -> None:
    assert looker.get(f"/activity/{number}").status == 404


def test_a_day_is_looked_at_by_itself(looker: Reader) -> None:
    page = looker.get("/activity")
    bars = page.tree.css("svg a")
    assert [str(node.attributes["href"]) for node in bars] == ["/activity?day=2026-11-02"]
    label = str(bars[0].attributes["aria-label"])
    assert re.fullmatch(r"2 November 2026: \d+ reads, \d+ records", label)
    day = looker.get("/activity?day=2026-11-02")
    assert len(day.tree.css(".results li")) == 2
    assert "What agents read on 2 November 2026" in day.text
    other = looker.get("/activity?day=2026-11-01")
    assert "Nothing on this day" in other.text
    for odd in ("2026-99-99", "9999-12-31", "0001-01-01"):
        assert looker.get(f"/activity?day={odd}").status == 200, odd


def test_every_read_can_be_taken_away(looker: Reader) -> None:
    answer = looker.http.get("/activity/export")
    assert "attachment" in answer.headers["content-disposition"]
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert {row["operation"] for row in rows} == {"search", "aggregate"}
    assert {row["client_id"] for row in rows} == {"test-client"}
    assert all(instant.parse(row["at"]) for row in rows)


def test_home_tells_of_the_last_questions(looker: Reader) -> None:
    assert "test-client counted in Banco Azul / Payments" in looker.get("/").text


# What is unusual


def hour(day: int, records: int, client: str = "a") -> ClientHour:
    moment = instant.parse(f"2026-11-{day:02d}T10:00:00Z") or 0
    return ClientHour(client, moment, 1, records)


def first(day: int, client: str = "a", stream: str = "s") -> FirstRead:
    return FirstRead(client, "c", stream, hour(day, 0).hour)


def test_ten_times_the_usual_is_unusual() -> None:
    days = [hour(10, 20), hour(11, 30), hour(12, 25)]
    (found,) = unusual_reads([*days, hour(13, 250)], [], DATES, TODAY, " / ".join)
    assert (found.client_id, found.day) == ("a", date(2026, 11, 13))
    assert "250 records" in found.words
    assert unusual_reads([*days, hour(13, 249)], [], DATES, TODAY, " / ".join) == []
    assert (
        unusual_reads(
            [hour(10, 1), hour(11, 1), hour(12, 1), hour(13, 99)], [], DATES, TODAY, " / ".join
        )
        == []
    )
    assert unusual_reads([hour(12, 1), hour(13, 9_999)], [], DATES, TODAY, " / ".join) == []


def test_a_stream_that_is_read_for_the_first_time_is_unusual() -> None:
    names = {("c", "s"): "Bank / Accounts", ("c", "t"): "Bank / Payments"}.__getitem__
    (found,) = unusual_reads([], [first(1), first(12, stream="t")], DATES, TODAY, names)
    assert found.words == "read Bank / Payments for the first time"
    assert unusual_reads([], [first(1), first(1, stream="t")], DATES, TODAY, names) == []
    assert unusual_reads([], [first(1), first(2, stream="t")], DATES, TODAY, names) == []
    assert (
        unusual_reads([], [first(1), first(12, client="b", stream="t")], DATES, TODAY, " / ".join)
        == []
    )


def test_every_day_has_a_place_and_days_without_reads_have_no_bar() -> None:
    bars = day_bars([hour(15, 5), hour(16, 1)], DATES, TODAY, "2026-11-15")
    assert len(bars) == DAYS
    assert [bar.day for bar in bars if bar.height] == ["2026-11-15", "2026-11-16"]
    assert [bar.day for bar in bars if bar.chosen] == ["2026-11-15"]
