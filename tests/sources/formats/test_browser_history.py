"""Browser history: what only browsers have."""

import plistlib
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.engine import open_store
from tests.sources.kit import Home, look, read, told
from tests.sources.samples import every_sample
from tests.sources.samples.browsers import CHROME_VISITS, FIREFOX_SCHEMA, TAKEOUT, chrome
from tests.sources.samples.sample import json_bytes

from pdpp.cli.import_preparation import Choice, prepare
from pdpp.sources.formats.browser_history.source import BrowserHistory
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.task import ImportCallbacks, ImportTask
from pdpp.sources.importing.watching import watch
from pdpp.sources.reading.mozlz4 import MARK
from pdpp.sources.source import OwnerChoices

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


def test_a_takeout_takes_no_length_of_a_visit_away(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    for name in ("Chrome", "Takeout"):
        path = SAMPLES[f"browser_history: {name}"].folder(tmp_path / name)
        home.bring(path, "--account", "nora")
    lengths = [data.get("seconds") for data in of(home.records(), "visits")]
    assert [length for length in lengths if length] == [61.0]


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


@contextmanager
def watched(path: Path, data: Path) -> Iterator[ImportTask]:
    """Prepare a path as `pdpp import --watch` does."""
    with closing(open_store(data)) as store:
        yield prepare(store, ImportState(data), path, Choice()).task


def visit(path: Path, number: int) -> sqlite3.Connection:
    """Let Firefox note a visit; it keeps its database open, and new rows lie in the log alone."""
    browser = sqlite3.connect(path, isolation_level=None)
    browser.execute("pragma journal_mode = wal")
    browser.execute("pragma wal_autocheckpoint = 0")
    values = (100 + number, 1, 1_767_261_600_000_000 + number * 1_000_000, 1, 0)
    browser.execute(
        "insert into moz_historyvisits (id, place_id, visit_date, visit_type, from_visit) "
        "values (?, ?, ?, ?, ?)",
        values,
    )
    return browser


@pytest.mark.parametrize("alone", [True, False])
def test_a_watch_sees_visits_that_lie_in_the_log_alone(tmp_path: Path, alone: bool) -> None:
    folder = SAMPLES["browser_history: Firefox"].folder(tmp_path / "e")
    database = folder / "profile" / "places.sqlite"
    rounds: list[int] = []
    with watched(database if alone else folder, tmp_path / "data") as task, ExitStack() as browsers:

        def wait() -> bool:
            rounds.append(task.document()["counts"]["new"])
            if len(rounds) <= 2:
                before = database.stat()
                browsers.enter_context(closing(visit(database, len(rounds))))
                assert len(rounds) == 1 or database.stat().st_mtime_ns == before.st_mtime_ns
            return len(rounds) > 3

        watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)
    assert [count - rounds[0] for count in rounds] == [0, 1, 2, 2]


def test_a_watch_that_begins_again_after_the_browser_forgot_goes_on_in_the_same_account(
    tmp_path: Path,
) -> None:
    path = tmp_path / "History"
    path.write_bytes(chrome(*CHROME_VISITS[:1]))
    with watched(path, tmp_path / "data") as first:
        watch(first, first.settle(), OwnerChoices(), ImportCallbacks(), lambda: True)
    # Ninety days later nothing of it is left, and other visits are there.
    path.write_bytes(chrome((9, 2, 13_421_735_200_000_099, 0, 0, 0, 0)))
    with watched(path, tmp_path / "data") as second:
        watch(second, second.settle(), OwnerChoices(), ImportCallbacks(), lambda: True)
        assert second.document()["counts"]["new"] == 1
        assert second.destination.connection_id == first.destination.connection_id


def test_what_lies_beside_the_visits_of_a_takeout_is_told(tmp_path: Path) -> None:
    document = {
        **TAKEOUT,
        "Typed Url": [{"url": "https://tide.example/", "visits": [1]}],
        "Session": [{"session_tag": "x"}, {"session_tag": "y"}],
    }
    path = tmp_path / "History.json"
    path.write_bytes(json_bytes(document))
    assert len(read(BrowserHistory(), path)) == len(TAKEOUT["Browser History"])
    assert [found.reason for found in told(BrowserHistory(), path)] == [
        "an address that you typed, of which visits are a list of their own",
        "what was open on a device",
        "what was open on a device",
    ]


def test_what_safari_exports_is_read_and_its_secrets_are_not(tmp_path: Path) -> None:
    moment = 1_767_261_600_000_000
    redirect = {"url": "https://knots.example/", "time_usec": moment, "visit_count": 1}
    page = {**redirect, "url": "https://knots.example/reef", "title": "Reef knot"}
    about = {"browser_name": "Safari", "export_time_usec": moment, "schema_version": 1}
    files = {
        "History.json": {"metadata": about, "history": [redirect, page]},
        "History_Work.json": {"metadata": about, "history": [{**page, "time_usec": moment + 5}]},
        "PaymentCards.json": {"metadata": about, "payment_cards": []},
    }
    export = tmp_path / "Safari Export"
    export.mkdir()
    for name, content in files.items():
        (export / name).write_bytes(json_bytes(content))
    (export / "Passwords.csv").write_text("Title,URL,Username,Password\n")
    home = Home(tmp_path / "data")
    report = home.bring(export)
    visits = of(home.records(), "visits")
    assert {data["browser"] for data in visits} == {"Safari"}
    assert {(data["title"], data["visited_at"]) for data in visits} == {
        ("https://knots.example/", "2026-01-01T10:00:00Z"),
        ("Reef knot", "2026-01-01T10:00:00Z"),
        ("Reef knot", "2026-01-01T10:00:00.000005Z"),
    }
    assert not report["files"]["unknown"]


def test_a_page_of_bookmarks_keeps_tags_and_notes(tmp_path: Path) -> None:
    page = tmp_path / "bookmarks.html"
    page.write_text(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n"
        '    <DT><A HREF="https://reef.example/" ADD_DATE="1767261600" TAGS="sea, rope">Reef</A>\n'
        "    <DD>Tie it twice &amp; test\nthen go\n"
        "    <DT><a href=https://lamp.example/ add_date=1767261600>Lamp</a>\n"
        "    <HR>\n</DL><p>\n"
    )
    reef, lamp = of(read(BrowserHistory(), page), "bookmarks")
    assert (reef["tags"], reef["note"]) == ("sea, rope", "Tie it twice & test\nthen go")
    assert (lamp["link"], lamp["added_at"]) == ("https://lamp.example/", "2026-01-01T10:00:00Z")
    assert not {"tags", "note"} & lamp.keys()
    assert not told(BrowserHistory(), page)


def test_a_tag_of_firefox_is_no_second_bookmark(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        FIREFOX_SCHEMA.replace("dateAdded integer)", "dateAdded integer, guid text)")
        + """
        insert into moz_places values (1, 'https://a.example/', 'A', 'p1');
        insert into moz_bookmarks values (1, 2, null, 0, '', 0, 'root________');
        insert into moz_bookmarks values (2, 2, null, 1, 'menu', 0, 'menu________');
        insert into moz_bookmarks values (3, 2, null, 1, 'tags', 0, 'tags________');
        insert into moz_bookmarks values (4, 2, null, 3, 'ropes', 0, 't1');
        insert into moz_bookmarks values (5, 2, null, 3, 'sea', 0, 't2');
        insert into moz_bookmarks values (6, 1, 1, 2, 'A knot', 0, 'b1');
        insert into moz_bookmarks values (7, 1, 1, 4, null, 0, 'b2');
        insert into moz_bookmarks values (8, 1, 1, 5, null, 0, 'b3');
        """
    )
    connection.close()
    [mark] = of(read(BrowserHistory(), path), "bookmarks")
    assert (mark["title"], mark["folder"], mark["tags"]) == ("A knot", "menu", "ropes, sea")
    assert [skip.reason for skip in told(BrowserHistory(), path)] == [
        "a tag, which its bookmark has"
    ] * 2


def test_bookmarks_of_a_phone_count_milliseconds_and_have_tags_in_tables_of_their_own(
    tmp_path: Path,
) -> None:
    path = tmp_path / "places.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        FIREFOX_SCHEMA.replace("dateAdded integer)", "dateAdded integer, guid text)")
        + """
        create table moz_tags (id integer primary key, tag text, lastModified integer);
        create table moz_tags_relation (tag_id integer, place_id integer);
        insert into moz_tags values (1, 'ropes', 0), (2, 'sea', 0);
        insert into moz_tags_relation values (1, 1), (2, 1);
        insert into moz_places values (1, 'https://a.example/', 'A', 'p1');
        insert into moz_bookmarks values (5, 2, null, 1, 'mobile', 0, 'mobile______');
        insert into moz_bookmarks values (6, 1, 1, 5, 'A knot', 1767261600123, 'b1');
        """
    )
    connection.close()
    [mark] = of(read(BrowserHistory(), path), "bookmarks")
    assert (mark["added_at"], mark["tags"]) == ("2026-01-01T10:00:00.123000Z", "ropes, sea")


@pytest.mark.parametrize("alone", [True, False])
def test_a_young_database_has_its_tables_in_the_log_alone(tmp_path: Path, alone: bool) -> None:
    path = tmp_path / "History"
    older = tmp_path / "older"
    older.write_bytes(chrome(*CHROME_VISITS))
    with closing(sqlite3.connect(path)) as browser, closing(sqlite3.connect(older)) as before:
        browser.execute("pragma journal_mode = wal")
        browser.executescript("".join(f"{line}\n" for line in before.iterdump()))
        older.unlink()
        records = read(BrowserHistory(), path if alone else tmp_path)
    assert len(of(records, "visits")) == 2


def container(title: str, *children: dict[str, Any], **more: str) -> dict[str, Any]:
    return {
        "type": "text/x-moz-place-container",
        "guid": title.ljust(12, "_"),
        "title": title,
        "children": list(children),
        **more,
    }


def place(uri: str, **more: Any) -> dict[str, Any]:
    return {"type": "text/x-moz-place", "guid": "g", "uri": uri, "title": "A place", **more}


def backup(*children: dict[str, Any]) -> bytes:
    """Return a backup as Firefox saves it."""
    return json_bytes(container("", *children, root="placesRoot"))


def test_a_backup_of_firefox_keeps_folders_tags_and_notes(tmp_path: Path) -> None:
    noted = {"name": "bookmarkProperties/description", "value": "Mind the tide"}
    path = tmp_path / "bookmarks-2026-01-31.json"
    path.write_bytes(
        backup(
            container(
                "menu",
                place("https://a.example/", dateAdded=1767261600000000, tags="sea,ropes"),
                {"type": "text/x-moz-place-separator", "guid": "s"},
                place("place:sort=8"),
                container("Birds", place("https://b.example/", annos=[noted]), root=""),
            ),
            container("tags", container("sea", place("https://a.example/")), root="tagsFolder"),
        )
    )
    first, second = of(read(BrowserHistory(), path), "bookmarks")
    assert (first["folder"], first["tags"]) == ("menu", "sea, ropes")
    assert first["added_at"] == "2026-01-01T10:00:00Z"
    assert (second["folder"], second["note"]) == ("Birds", "Mind the tide")
    assert [skip.reason for skip in told(BrowserHistory(), path)] == [
        "a bookmark that is no page",
        "a list of tags, which their bookmarks have too",
    ]


def test_a_bookmark_in_a_backup_and_in_the_database_is_one(tmp_path: Path) -> None:
    folder = SAMPLES["browser_history: Firefox"].folder(tmp_path / "profile")
    [(key, kept)] = [
        item
        for item in read(BrowserHistory(), folder).items()
        if "link" in item[1] and item[0][0] == "bookmarks"
    ]
    path = tmp_path / "bookmarks.json"
    path.write_bytes(backup(container("menu", container("Birds", place(kept["link"])))))
    assert key in read(BrowserHistory(), path)


def packed(content: bytes) -> bytes:
    """Return content as Firefox packs it, in one run without any copy."""
    more = len(content) - 15
    run = b"\xf0" + b"\xff" * (more // 255) + bytes([more % 255]) + content
    return MARK + len(content).to_bytes(4, "little") + run


def test_a_backup_that_firefox_packed_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks-2026-01-31_7_x.jsonlz4"
    path.write_bytes(packed(backup(container("menu", place("https://a.example")))))
    [bookmark] = of(read(BrowserHistory(), path), "bookmarks")
    assert (bookmark["link"], bookmark["folder"]) == ("https://a.example", "menu")
    path.write_bytes(path.read_bytes()[:-30])
    assert [skip.reason for skip in told(BrowserHistory(), path)] == ["damaged"]


def test_of_packed_backups_the_newest_counts_and_none_beside_the_database(tmp_path: Path) -> None:
    backups = tmp_path / "profile" / "bookmarkbackups"
    backups.mkdir(parents=True)
    for day in (30, 31):
        content = backup(container("menu", place(f"https://a.example/{day}")))
        (backups / f"bookmarks-2026-01-{day}_1_x==.jsonlz4").write_bytes(packed(content))
    session = packed(b'{"version": ["sessionrestore", 1], "windows": []}')
    (tmp_path / "profile" / "sessionstore.jsonlz4").write_bytes(session)
    [bookmark] = of(read(BrowserHistory(), tmp_path), "bookmarks")
    assert bookmark["link"] == "https://a.example/31"
    assert look(BrowserHistory(), tmp_path / "profile" / "sessionstore.jsonlz4") is None
    [database] = SAMPLES["browser_history: Firefox"].folder(tmp_path / "other").rglob("*.sqlite")
    database.rename(tmp_path / "profile" / "places.sqlite")
    links = [data["link"] for data in of(read(BrowserHistory(), tmp_path), "bookmarks")]
    assert "https://a.example/31" not in links


def test_a_backup_that_is_cut_off_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.json"
    path.write_bytes(backup(container("menu", place("https://a.example")))[:-3])
    assert [skip.reason for skip in told(BrowserHistory(), path)] == ["damaged"]


def leaf(address: str, title: str, **more: Any) -> dict[str, Any]:
    return {
        "WebBookmarkType": "WebBookmarkTypeLeaf",
        "URLString": address,
        "URIDictionary": {"title": title},
        **more,
    }


def shelf(title: str, *children: dict[str, Any]) -> dict[str, Any]:
    kind = "WebBookmarkTypeList"
    return {"WebBookmarkType": kind, "Title": title, "Children": list(children)}


def test_safaris_own_list_brings_in_bookmarks_and_the_reading_list(tmp_path: Path) -> None:
    added = datetime(2026, 1, 31, 8, 0)  # noqa: DTZ001 - property lists hold UTC and no zone
    later = {"DateAdded": added, "PreviewText": "Nets and knots"}
    root = shelf(
        "",
        {"WebBookmarkType": "WebBookmarkTypeProxy", "Title": "History"},
        shelf("BookmarksBar", shelf("Birds", leaf("https://gulls.example/", "Gulls"))),
        shelf("com.apple.ReadingList", leaf("https://nets.example/", "Nets", ReadingList=later)),
        {"WebBookmarkType": "WebBookmarkTypeNovel"},
    )
    path = tmp_path / "Bookmarks.plist"
    path.write_bytes(plistlib.dumps(root, fmt=plistlib.FMT_BINARY))
    gulls, nets = of(read(BrowserHistory(), tmp_path), "bookmarks")
    assert (gulls["title"], gulls["folder"]) == ("Gulls", "Favorites/Birds")
    assert (nets["folder"], nets["note"]) == ("Reading List", "Nets and knots")
    assert nets["added_at"] == "2026-01-31T08:00:00Z"
    [unknown] = told(BrowserHistory(), path)
    assert unknown.reason == "a bookmark of a shape that is not known"
    path.write_bytes(path.read_bytes()[:-9])
    assert look(BrowserHistory(), path) is None


def test_a_bookmark_of_firefox_whose_address_is_gone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            FIREFOX_SCHEMA
            + """
            insert into moz_places values (1, 'https://a.example/', 'A', 'p1');
            insert into moz_bookmarks values (1, 1, 1, 0, 'A knot', 0);
            insert into moz_bookmarks values (2, 1, 7, 0, 'Lost', 0);
            """
        )
    assert len(of(read(BrowserHistory(), path), "bookmarks")) == 1
    assert [(finding.reason, finding.example) for finding in told(BrowserHistory(), path)] == [
        ("a bookmark without an address", "places.sqlite bookmark 2")
    ]
