"""What is particular to tables of books, films and orders, and to clippings."""

from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, check_twice, look, read, told, zipped
from tests.sources.samples import books_and_films as sample

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.amazon_orders.source import AmazonOrders
from pdpp.sources.formats.goodreads.source import Goodreads
from pdpp.sources.formats.kindle.source import Kindle
from pdpp.sources.formats.letterboxd.source import Letterboxd
from pdpp.sources.formats.netflix.source import Netflix
from pdpp.sources.source import Recognition, Source


def put(folder: Path, content: bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def records(source: Source, path: Path, stream: str, **settings: str) -> list[dict[str, Any]]:
    found = read(source, path, **settings).items()
    return [data for (name, _), data in found if name == stream]


def test_a_book_has_your_stars_and_the_day_you_read_it(tmp_path: Path) -> None:
    knots, tides = records(Goodreads(), put(tmp_path, sample.LIBRARY), "books")
    assert (knots["my_rating"], knots["read_on"], knots["shelf"]) == (5, "2026-05-03", "read")
    assert (knots["review"], knots["isbn"]) == ("Wet rope\nexplained well", "9780000000041")
    assert (knots["shelves"], knots["published"]) == (["sea", "boats"], 1999)
    assert "my_rating" not in tides
    assert "read_on" not in tides


@pytest.mark.parametrize(
    ("written", "day"), [("2026/05/03", "2026-05-03"), ("2026", "2026-01-01"), ("soon", None)]
)
def test_days_of_goodreads(tmp_path: Path, written: str, day: str | None) -> None:
    row = sample.book("41", "Knots", "5", written, "read")
    [book] = records(Goodreads(), put(tmp_path, sample.table(sample.BOOKS_HEADER, row)), "books")
    assert book.get("read_on") == day


def test_a_film_seen_twice_is_two_viewings(tmp_path: Path) -> None:
    for name, content in sample.LETTERBOXD.items():
        put(tmp_path, content, name)
    seen, again = records(Letterboxd(), tmp_path, "diary")
    assert (seen["watched_on"], seen["rating"], seen["rewatch"]) == ("2026-05-01", 4.5, False)
    assert (seen["tags"], again["rewatch"]) == (["sea", "dad"], True)
    [review] = records(Letterboxd(), tmp_path, "reviews")
    assert review["text"] == "The fog!"
    films = records(Letterboxd(), tmp_path, "films")
    assert {film["title"]: film["list"] for film in films} == {
        "Tides": "watchlist",
        "Ropes": "liked",
    }
    [comment] = records(Letterboxd(), tmp_path, "comments")
    assert comment["text"] == "The fog again"


def test_a_review_has_its_lines(tmp_path: Path) -> None:
    row = [*sample.REVIEW[:-1], "Pros:\nthe <i>fog</i>\n\nCons: none", "", "2026-05-01"]
    header = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date"
    path = put(tmp_path, sample.table(header, row), "reviews.csv")
    [review] = records(Letterboxd(), path, "reviews")
    assert review["text"] == "Pros:\nthe fog\n\nCons: none"


OWN_LIST = (
    "Letterboxd list export v7\n"
    "Date,Name,Tags,URL,Description\n"
    '2026-05-04,Lighthouses,"sea, lamp",https://boxd.it/lamps,"Lamps,\nall of them"\n'
    "\n"
    "Position,Name,Year,URL,Description\n"
    "1,Tides,2020,https://boxd.it/tides,\n"
    "2,Ropes,2021,https://boxd.it/ropes,<b>The</b> mizzen\n"
    "3,,2021,,\n"
)


def test_a_list_of_ones_own_comes_in_with_places_and_notes(tmp_path: Path) -> None:
    path = put(tmp_path / "e", OWN_LIST.encode(), "lighthouses.csv")
    first, second = check_twice(path, tmp_path).values()
    tides, ropes = sorted((first, second), key=lambda film: int(film["position"]))
    assert (tides["title"], tides["list"], tides["added_on"]) == (
        "Tides",
        "Lighthouses",
        "2026-05-04",
    )
    assert (ropes["note"], ropes["link"]) == ("The mizzen", "https://boxd.it/ropes")
    assert [finding.reason for finding in told(Letterboxd(), path)] == [
        "an entry of a list without a film",
        "what is said of a list as a whole",
    ]


def test_what_others_wrote_and_you_liked_on_letterboxd_is_left_out_and_told(
    tmp_path: Path,
) -> None:
    liked = b"Date,Content\n2026-01-02,https://boxd.it/5xyz\n"
    files = sample.LETTERBOXD | {"likes/reviews.csv": liked, "likes/lists.csv": liked}
    report = Home(tmp_path / "home").bring(zipped(tmp_path / "letterboxd.zip", files))
    assert "others wrote and you liked" in str(report["files"]["passed_over"])
    assert report["files"]["unknown"] == []


def test_what_was_deleted_on_letterboxd_stays_out(tmp_path: Path) -> None:
    files = dict(sample.LETTERBOXD)
    gone = {f"{folder}/{name}": files[name] for folder in ("deleted", "orphaned") for name in files}
    path = zipped(tmp_path / "letterboxd-nora.zip", {**files, **gone})
    alone = zipped(tmp_path / "alone.zip", files)
    assert read(Letterboxd(), path) == read(Letterboxd(), alone)
    report = Home(tmp_path / "home").bring(path)
    assert report["files"]["unknown"] == []
    assert look(Letterboxd(), zipped(tmp_path / "gone.zip", gone)) is None


def test_a_viewing_of_no_day_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, sample.table(sample.DIARY_HEADER, [*sample.SEEN, "2026-05-"]))
    assert [finding.reason for finding in told(Letterboxd(), path)] == [
        "a viewing without a film or a day"
    ]


@pytest.mark.parametrize(
    ("first", "second", "days"),
    [
        ("5/9/26", "12/1/25", ["2026-05-09", "2025-12-01"]),
        ("09/05/2026", "10/04/2026", ["2026-05-09", "2026-04-10"]),
        ("9.5.26", "30.4.26", ["2026-05-09", "2026-04-30"]),
        ("2026-05-09", "2025-12-01", ["2026-05-09", "2025-12-01"]),
    ],
)
def test_days_of_a_list_are_read_so_that_it_is_sorted(
    tmp_path: Path, first: str, second: str, days: list[str]
) -> None:
    rows = sample.table("Title,Date", ["Fog", first], ["Rope", second])
    found = records(Netflix(), put(tmp_path, rows, "NetflixViewingHistory.csv"), "watched_titles")
    assert [data["watched_on"] for data in found] == days


def test_the_owner_can_say_how_days_are_written(tmp_path: Path) -> None:
    path = put(tmp_path, sample.table("Title,Date", ["Fog", "1/2/26"]), "netflix.csv")
    seen = look(Netflix(), path)
    assert isinstance(seen, Recognition)
    assert "date_order" in seen.notes[0]
    [day] = records(Netflix(), path, "watched_titles", date_order="DMY")
    assert day["watched_on"] == "2026-02-01"
    with pytest.raises(ImportRefused, match="DMY"):
        look(Netflix(), path, date_order="up")


def test_a_table_of_titles_and_days_is_not_of_netflix_by_itself(tmp_path: Path) -> None:
    content = sample.table("Title,Date", ["Ropes", "1/2/26"], ["Tides", "1/1/26"])
    assert look(Netflix(), put(tmp_path, content, "reading.csv")) is None
    assert look(Netflix(), put(tmp_path, sample.table("Titel,Datum", *sample.WATCHED))) is not None


def test_trailers_are_told_and_a_viewing_has_its_length(tmp_path: Path) -> None:
    path = put(tmp_path, sample.ACTIVITY)
    [viewing] = records(Netflix(), path, "viewings")
    assert (viewing["started_at"], viewing["seconds"]) == ("2026-05-09T20:00:02Z", 2509)
    assert [finding.reason for finding in told(Netflix(), path)] == [
        "a trailer or clip, which plays by itself"
    ]


def test_two_rows_of_one_thing_are_two_and_stay_when_their_state_changes(tmp_path: Path) -> None:
    before = read(AmazonOrders(), put(tmp_path, sample.ORDERS))
    assert [data["amount_text"] for data in before.values()] == ["20.00", "20.00", "1019.01"]
    assert not any("shipped_at" in data for data in before.values())
    changed = sample.ORDERS.replace(b"Authorized", b"Closed")
    assert read(AmazonOrders(), put(tmp_path, changed)).keys() == before.keys()


def test_a_report_of_items_is_the_same_orders_as_the_history(tmp_path: Path) -> None:
    header = (
        "Order Date,Order ID,Title,Category,ASIN/ISBN,Website,Condition,Purchase Price Per Unit,"
        "Quantity,Payment Instrument Type,Shipment Date,Order Status,Item Total,Currency"
    )
    row = ["02/03/26", "111-2", "Flare", "Ropes", "BFla", "Amazon.com", "new", "$509.50", "2"]
    report = sample.table(header, [*row, "Visa - 0000", "02/04/26", "Shipped", "$1,019.01", "USD"])
    [item] = read(AmazonOrders(), put(tmp_path, report, "items.csv")).values()
    assert (item["ordered_at"], item["shipped_at"]) == (
        "2026-02-03T00:00:00",
        "2026-02-04T00:00:00",
    )
    assert (item["amount_text"], item["unit_price_text"], item["quantity"]) == (
        "1019.01",
        "509.50",
        2.0,
    )
    history = read(AmazonOrders(), put(tmp_path, sample.ORDERS, "orders.csv"))
    assert item["id"] in {data["id"] for data in history.values()}


def test_clippings_are_read_in_any_language(tmp_path: Path) -> None:
    path = put(tmp_path, sample.clippings(), "My Clippings.txt")
    found = records(Kindle(), path, "clippings")
    assert [(data["kind"], data["added_at"]) for data in found] == [
        ("highlight", "2017-07-31T23:11:20"),
        ("note", "2020-12-28T21:33:49"),
        ("bookmark", "2014-07-08T22:42:55"),
        ("highlight", "2011-01-02T19:49:00"),
        ("highlight", "2014-06-05T19:34:01"),
    ]
    places = [(data.get("page"), data.get("location")) for data in found]
    assert places == [
        ("3", "145-146"),
        ("7", "12"),
        (None, "3257"),
        (None, "12-25"),
        (None, "204-205"),
    ]
    assert (found[0]["book"], found[0]["author"]) == ("Knots for the Harbour", "Lind, Ana")
    zoned = records(Kindle(), path, "clippings", time_zone="Europe/Lisbon")
    assert (zoned[0]["added_at"], zoned[0]["floating"]) == ("2017-07-31T23:11:20+01:00", False)


def clip(about: str, words: str = "rope") -> str:
    return f"\ufeffRopes (Lind)\r\n{about}\r\n\r\n{words}\r\n"


def test_a_russian_kindle_writes_a_long_dash_before_each_clipping(tmp_path: Path) -> None:
    clips = [
        clip(f"– {place} | Добавлено: среда, 6 мая 2026 г. в 7:4{minute}:00")
        for minute, place in enumerate(
            ("Ваш выделенный отрывок в месте 410–422", "Ваша заметка на странице 6 | Место 53")
        )
    ]
    path = put(tmp_path, sample.clippings(clips), "My Clippings.txt")
    found = records(Kindle(), path, "clippings")
    assert [(data["kind"], data["location"], data["added_at"]) for data in found] == [
        ("highlight", "410-422", "2026-05-06T07:40:00"),
        ("note", "53", "2026-05-06T07:41:00"),
    ]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("Added on Thursday, 25 April 13 23:45:11", "2013-04-25T23:45:11"),
        ("Aggiunto il venerdì 6 aprile 12, 00:25:08", "2012-04-06T00:25:08"),
        ("Added on Friday, 6 July 12 07:37:42 GMT+01:00", "2012-07-06T06:37:42Z"),
    ],
)
def test_an_older_kindle_writes_years_of_two_digits(
    tmp_path: Path, written: str, moment: str
) -> None:
    path = put(tmp_path, sample.clippings([clip(f"- Note Loc. 62  | {written}")]), "clips.txt")
    [clipping] = records(Kindle(), path, "clippings")
    assert clipping["added_at"] == moment
    assert told(Kindle(), path) == []


@pytest.mark.parametrize(
    ("place", "page", "location"),
    [
        ("Je highlight op pagina 3 | locatie 55 t/m 88", "3", "55-88"),
        ("Your Highlight on page xii | Location 300-340", "xii", "300-340"),
        ("Seu destaque na página xiv | posição 7-9", "xiv", "7-9"),
        ("ハイライト ページ222 | 位置No. 3396-3397", "222", "3396-3397"),
        ("7ページ｜位置No. 114-116のハイライト", "7", "114-116"),
        ("Your Highlight on Location 102-102", None, "102-102"),
    ],
)
def test_a_place_in_a_book_is_whole(
    tmp_path: Path, place: str, page: str | None, location: str
) -> None:
    about = clip(f"- {place} | Added on Thursday, September 3, 2026 7:31:00 PM")
    path = put(tmp_path, sample.clippings([about]), "clips.txt")
    [clipping] = records(Kindle(), path, "clippings")
    assert (clipping.get("page"), clipping["location"]) == (page, location)


def test_a_marked_passage_without_words_is_no_bookmark(tmp_path: Path) -> None:
    line = "- Your Highlight on Location {} | Added on Monday, September 14, 2026 7:05:00 AM"
    clips = [f"Scans (Lind)\r\n{line.format(place)}\r\n\r\n\r\n" for place in ("40-41", "42")]
    path = put(tmp_path, sample.clippings(clips), "clips.txt")
    assert [data["kind"] for data in records(Kindle(), path, "clippings")] == [
        "highlight",
        "bookmark",
    ]


def test_a_clipping_of_an_unknown_time_stays_and_is_told(tmp_path: Path) -> None:
    odd = "Ropes (Lind)\r\n- Your Note at location 3 | Added some day\r\n\r\nrope\r\n"
    path = put(tmp_path, sample.clippings([odd]), "clips.txt")
    [clipping] = records(Kindle(), path, "clippings")
    assert (clipping["kind"], "added_at" in clipping) == ("note", False)
    assert [finding.reason for finding in told(Kindle(), path)] == [
        "a time in words that are not known"
    ]


@pytest.mark.parametrize(
    ("title", "series"),
    [
        ("Harbour Watch: Season 1: The Wet Rope (Episode 1)", "Harbour Watch"),
        ("Tides: The Return: Staffel 12: Ebbe", "Tides: The Return"),
        ("Fog: Limited Series: One", "Fog"),
        ("灯台: シーズン1: 第1話", "灯台"),
        ("The Keeper: Part 2", None),
        ("Foghorn Island", None),
        ("Ropes: A Film: About Knots", None),
    ],
)
def test_an_episode_is_of_a_series(tmp_path: Path, title: str, series: str | None) -> None:
    path = put(tmp_path, sample.table("Title,Date", [title, "5/9/26"]), "netflix.csv")
    [day] = records(Netflix(), path, "watched_titles")
    assert day.get("series") == series
    path = put(
        tmp_path, sample.table(sample.ACTIVITY_HEADER, sample.viewing(title, "2026-05-09 20:00:02"))
    )
    [viewing] = records(Netflix(), path, "viewings")
    assert viewing.get("series") == series


def test_viewings_of_a_profile_that_was_renamed_are_the_same_ones(tmp_path: Path) -> None:
    keys = []
    for profile in ("Nora", "Nora ⛵"):
        rows = [sample.viewing("Fog", "2026-05-09 20:00:02") for _ in range(2)]
        content = sample.table(sample.ACTIVITY_HEADER, *([profile, *row[1:]] for row in rows))
        keys.append(set(read(Netflix(), put(tmp_path / profile, content))))
    assert keys[0] == keys[1]
    assert len(keys[0]) == 2
