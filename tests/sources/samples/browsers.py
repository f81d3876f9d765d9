"""Samples of browsers' histories: Chrome, Firefox, Safari, and Chrome's part of a Takeout."""

from typing import Any

from tests.sources.samples.sample import FormatSample, json_bytes, sqlite_bytes

MICRO = 10**6
ZERO = 1_767_261_600 * MICRO
CHROME_SCHEMA = """
create table urls (id integer primary key, url longvarchar, title longvarchar, visit_count integer,
 typed_count integer, last_visit_time integer, hidden integer);
create table visits (id integer primary key, url integer not null, visit_time integer not null,
 from_visit integer, transition integer, segment_id integer, visit_duration integer);
"""
FIREFOX_SCHEMA = """
create table moz_places (id integer primary key, url longvarchar, title longvarchar, guid text);
create table moz_historyvisits (id integer primary key, from_visit integer, place_id integer,
 visit_date integer, visit_type integer);
create table moz_bookmarks (id integer primary key, type integer, fk integer, parent integer,
 title longvarchar, dateAdded integer);
"""
SAFARI_SCHEMA = """
create table history_items (id integer primary key, url text, visit_count integer);
create table history_visits (id integer primary key, history_item integer, visit_time real,
 title text);
"""
PAGE = "https://www.knots.example/7?x=1"
TITLE = "How to tie a sheepshank with numb thumbs"
CHROME_VISITS: list[tuple[Any, ...]] = [
    (1, 1, ZERO + 11_644_473_600 * MICRO, 0, 0x30000001, 0, 61 * MICRO),
    (2, 2, ZERO + 11_644_473_600 * MICRO + 7, 1, 0, 0, 0),
    (3, 2, ZERO + 11_644_473_600 * MICRO + 8, 1, 3, 0, 0),
    (4, 99, ZERO + 11_644_473_600 * MICRO + 9, 1, 0, 0, 0),
]


def chrome(*visits: tuple[Any, ...]) -> bytes:
    urls = [
        (1, PAGE, TITLE, 2, 1, 0, 0),
        (2, "https://tides.example/", "", 1, 0, 0, 0),
    ]
    return sqlite_bytes(CHROME_SCHEMA, {"urls": urls, "visits": visits})


FIREFOX = sqlite_bytes(
    FIREFOX_SCHEMA,
    {
        "moz_places": [
            (1, "https://gulls.example/a", "Why herring gulls stamp on lawns", "g1"),
            (2, "https://old.example/", None, "g2"),
        ],
        "moz_historyvisits": [(1, 0, 1, ZERO, 2), (2, 0, 2, ZERO // 1000, 1), (3, 0, 2, ZERO, 8)],
        "moz_bookmarks": [(1, 2, None, 0, "Birds", ZERO), (2, 1, 1, 1, "Gulls", ZERO)],
    },
)
SAFARI = sqlite_bytes(
    SAFARI_SCHEMA,
    {
        "history_items": [(1, "https://sails.example/patch", 1)],
        "history_visits": [
            (1, 1, ZERO / MICRO - 978_307_200 + 0.5, "Patching a spinnaker with tape")
        ],
    },
)
TAKEOUT = {
    "Browser History": [
        {
            "favicon_url": "https://x.example/f.ico",
            "page_transition": "TYPED",
            "title": "Cleaning brass fittings with vinegar",
            "url": "https://brass.example/",
            "time_usec": ZERO,
            "client_id": "c",
        },
        {
            "page_transition": "LINK",
            "title": TITLE,
            "url": PAGE,
            "time_usec": ZERO,
            "client_id": "c",
        },
    ]
}
CHROME_MARKS = {
    "checksum": "x",
    "roots": {
        "bookmark_bar": {
            "name": "Bookmarks bar",
            "type": "folder",
            "children": [
                {
                    "name": "Ropes",
                    "type": "folder",
                    "children": [
                        {
                            "date_added": str(ZERO + 11_644_473_600 * MICRO),
                            "guid": "g",
                            "name": "The rope dictionary",
                            "type": "url",
                            "url": "https://ropes.example/",
                        }
                    ],
                }
            ],
        },
        "other": {"children": [], "name": "Other", "type": "folder"},
    },
    "version": 1,
}
MARKS_PAGE = (
    "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n"
    '<DT><H3 ADD_DATE="1">Sea &amp; maps</H3>\n<DL><p>\n'
    '<DT><A HREF="https://charts.example/?a=1&amp;b=2" ADD_DATE="1767261600">Old sea charts of '
    "Setúbal</A>\n</DL><p>\n</DL><p>\n"
).encode()

SAMPLES = (
    FormatSample(
        "browser_history",
        "Chrome",
        {
            "Default/History": chrome(*CHROME_VISITS),
            "Default/Bookmarks": json_bytes(CHROME_MARKS),
            "Default/Cookies": b"hush",
        },
        cut="Default/History",
        words="sheepshank numb thumbs",
        sentence=TITLE,
        units={"visit": ["rows of visits"]},
        earlier={"Default/History": chrome(*CHROME_VISITS[:1])},
        renamed={"Default/History": "Default/History copy"},
    ),
    FormatSample(
        "browser_history",
        "Firefox",
        {"profile/places.sqlite": FIREFOX},
        cut="profile/places.sqlite",
        words="herring gulls stamp lawns",
        sentence="Why herring gulls stamp on lawns",
        units={"visit": ["rows of moz_historyvisits"]},
    ),
    FormatSample(
        "browser_history",
        "Safari",
        {"Safari/History.db": SAFARI},
        cut="Safari/History.db",
        words="patching spinnaker tape",
        sentence="Patching a spinnaker with tape",
        units={"visit": ["rows of history_visits"]},
    ),
    FormatSample(
        "browser_history",
        "Takeout",
        {
            "Takeout/Chrome/BrowserHistory.json": json_bytes(TAKEOUT),
        },
        words="cleaning brass fittings vinegar",
        sentence="Cleaning brass fittings with vinegar",
        units={"visit": ["JSON objects at Browser History.item"]},
        cut="Takeout/Chrome/BrowserHistory.json",
        renamed={"Takeout/Chrome/BrowserHistory.json": "Takeout/Chrome/History.json"},
    ),
    FormatSample(
        "browser_history",
        "a page of bookmarks",
        {"bookmarks_16_11_26.html": MARKS_PAGE},
        words="old Setúbal",
        sentence="Old sea charts of Setúbal",
        cut="bookmarks_16_11_26.html",
    ),
)
