"""Browser history: what only browsers have."""

import sqlite3
from pathlib import Path
from typing import Any

from tests.sources.kit import Home, read, told
from tests.sources.samples import every_sample
from tests.sources.samples.browsers import CHROME_VISITS, chrome

from pdpp.sources.formats.browser_history.source import BrowserHistory

SAMPLES = every_sample()


def of(records: dict[tuple[str, str], dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def test_a_visit_of_chrome_has_its_site_way_and_length(tmp_path: Path) -> None:
    path = SAMPLES["browser_history: Chrome"].folder(tmp_path)
    first, second = of(read(BrowserHistory(), path), "visits")
    assert (first["site"], first["way"], first["seconds"]) == ("knots.example", "typed", 61.0)
    assert first["visited_at"] == "2026-01-01T10:00:00Z"
    assert second["title"] == "https://tides.example/"
    [mark] = of(read(BrowserHistory(), path), "bookmarks")
    assert (mark["folder"], mark["added_at"]) == ("Bookmarks bar/Ropes", "2026-01-01T10:00:00Z")
    assert [skip.reason for skip in told(BrowserHistory(), path)] == [
        "a frame inside a page",
        "a visit without an address or a time",
    ]


def test_firefox_counts_milliseconds_on_android(tmp_path: Path) -> None:
    records = read(BrowserHistory(), SAMPLES["browser_history: Firefox"].folder(tmp_path))
    assert {data["visited_at"] for data in of(records, "visits")} == {"2026-01-01T10:00:00Z"}
    assert [data["folder"] for data in of(records, "bookmarks")] == ["Birds"]


def test_safari_counts_seconds_since_2001(tmp_path: Path) -> None:
    records = read(BrowserHistory(), SAMPLES["browser_history: Safari"].folder(tmp_path))
    assert [data["visited_at"] for data in of(records, "visits")] == ["2026-01-01T10:00:00.500000Z"]


def test_a_visit_in_the_takeout_and_in_the_database_is_one(tmp_path: Path) -> None:
    database = read(BrowserHistory(), SAMPLES["browser_history: Chrome"].folder(tmp_path / "a"))
    takeout = read(BrowserHistory(), SAMPLES["browser_history: Takeout"].folder(tmp_path / "b"))
    visits = {key for key in database if key[0] == "visits"}
    assert len(visits & set(takeout)) == 1


def test_a_page_of_bookmarks_keeps_folders_and_letters(tmp_path: Path) -> None:
    path = SAMPLES["browser_history: a page of bookmarks"].folder(tmp_path)
    [mark] = of(read(BrowserHistory(), path), "bookmarks")
    assert (mark["folder"], mark["link"]) == ("Sea & maps", "https://charts.example/?a=1&b=2")


def test_a_history_that_the_browser_has_locked_is_read_and_grows(tmp_path: Path) -> None:
    path = tmp_path / "History"
    path.write_bytes(chrome(*CHROME_VISITS[:1]))
    home = Home(tmp_path / "home")
    browser = sqlite3.connect(path, isolation_level=None)
    browser.execute("begin exclusive")
    assert home.bring(path)["counts"]["new"] == 1
    browser.execute("insert into visits values (9, 2, 13411735200000099, 0, 0, 0, 0)")
    browser.execute("commit")
    browser.close()
    assert home.bring(path)["counts"]["new"] == 1


def test_secrets_of_a_profile_are_never_read(tmp_path: Path) -> None:
    report = Home(tmp_path / "home").bring(
        SAMPLES["browser_history: Chrome"].folder(tmp_path / "e")
    )
    reasons = [case["reason"] for case in report["files"]["passed_over"]]
    assert "cookies, which are never read" in reasons
