"""The search page, its timeline, and what a record page shows beside the record."""

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from tests.pages.house import House, Reader, Sheet, housed
from tests.serving import keep, planted_store, put

from pdpp.model import instant
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader
from pdpp.pages.records.browsing import month_bounds
from pdpp.pages.records.readable import readable
from pdpp.pages.records.search_filters import SearchFilters
from pdpp.pages.records.timeline import timeline
from pdpp.store.batch import Line

INVOICE = "/r/cin_home/messages/m-invoice-4471"
TIME = {"type": "string", "format": "date-time"}
DECLARATION: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://sources.example/posts"},
    "connector_key": "posts",
    "declaration_version": "1",
    "publisher": {"id": "https://sources.example"},
    "display": {"name": "Posts"},
    "streams": [
        {
            "name": "posts",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "title": {"type": ["string", "null"], "x_pdpp_role": "primary-title"},
                    "body": {"type": ["string", "null"], "x_pdpp_role": "body"},
                    "at": {**TIME, "x_pdpp_role": "event-time"},
                    "file": {"type": ["object", "null"], "x_pdpp_type": "blob"},
                },
            },
            "primary_key": ["id"],
            "consent_time_field": "at",
            "query": {
                "range_filters": {"at": ["gte", "gt", "lte", "lt"]},
                "search": {"lexical_fields": ["title", "body"]},
                "aggregations": {"count": True, "group_by_time": ["at"]},
            },
        }
    ],
}
SAME = "2026-05-05T05:05:05Z"
HOSTILE = (
    "<html><body><p>Dear <b>you</b></p><script>alert(1)</script>"
    "<img src=x onerror=alert(2)><a href='javascript:alert(3)'>press</a></body></html>"
)
MARKDOWN = (
    "# Walk\n\n- the **green** coat\n- [map](https://maps.example/x)\n\n```\n<b>code</b>\n```\n"
)


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Posts in two accounts, many of them of one and the same moment, and files of every kind."""
    folder = Path(tmp_path_factory.mktemp("posts"))
    store = planted_store(folder, DECLARATION, {"a": "Alpha", "b": "Beta"})
    ties = [{"id": f"t{n:02d}", "title": f"Tie {n:02d}", "at": SAME} for n in range(40)]
    put(store, "a", "posts", *ties)
    put(
        store,
        "b",
        "posts",
        *({"id": f"u{n}", "title": f"Tie b{n}", "at": SAME} for n in range(15)),
        {"id": "html", "title": "Mail", "body": HOSTILE, "at": "2026-04-01T00:30:00Z"},
        {"id": "md", "title": "Note", "body": MARKDOWN, "at": "2026-04-02T00:00:00Z"},
        *(
            {"id": name, "title": name, "at": "2026-03-01T10:00:00Z", "file": keep(store, *content)}
            for name, content in {
                "page.html": (b"<script>alert(1)</script>", "text/html"),
                "drawing.svg": (b"<svg onload='alert(1)'/>", "image/svg+xml"),
                "photo.png": (b"\x89PNG\r\n\x1a\n" + b"0" * 50, "image/png"),
                "paper.pdf": (b"%PDF-1.4 " + b"0" * 50, "application/pdf"),
            }.items()
        ),
    )
    with housed(folder, store=store) as made:
        yield made


@pytest.fixture(scope="module")
def poster(posts: House) -> Reader:
    return posts.owner()


def titles(page: Sheet) -> list[str]:
    return [node.text() for node in page.tree.css(".results h2")]


def bars(page: Sheet) -> list[str]:
    return [str(node.attributes["aria-label"]) for node in page.tree.css("svg a")]


def walked(reader: Reader, path: str) -> list[str]:
    """Return the titles of all pages of a list."""
    found: list[str] = []
    while True:
        page = reader.get(path)
        assert page.status == 200, page.text
        found += titles(page)
        link = page.tree.css_first('a[rel="next"]')
        if link is None:
            return found
        path = str(link.attributes["href"])


# Searching


def test_the_search_is_that_of_the_agents_with_passages(owner: Reader) -> None:
    page = owner.get("/search?q=invoice 4471")
    assert "Invoice 4471 for the kitchen tiles" in titles(page)
    marks = {node.text().lower() for node in page.tree.css(".passage mark")}
    assert {"invoice", "4471"} <= marks
    link = page.tree.css_first(".results h2 a[href*='chars=']")
    assert link is not None
    assert owner.get(str(link.attributes["href"])).tree.css_first("mark#passage") is not None


def test_a_hit_without_title_or_passage_shows_how_it_begins_and_what_it_lacks(
    owner: Reader,
) -> None:
    """Two messages stand beside the one that holds the words; neither holds any of them."""
    page = owner.get("/search?q=invoice 4471&account=cin_team")
    beside = [hit for hit in page.tree.css(".results > li") if "window frames" in hit.text()]
    assert len(beside) == 1
    assert beside[0].text().count("The window frames in the bedroom") == 1
    assert "Missing: invoice, 4471" in beside[0].text()
    assert titles(page)[0].startswith("paid invoice 4471 today")
    assert not any(" / " in title for title in titles(page))


def test_filters_are_chips_that_can_be_taken_away(owner: Reader) -> None:
    query = "q=invoice&account=cin_home&kind=messages&person=Rui+Almeida&month=2026-03"
    page = owner.get(f"/search?{query}")
    assert titles(page) == ["Invoice 4471 for the kitchen tiles"]
    chips = {node.text().split("×")[0].strip(): node for node in page.tree.css(".chips a")}
    assert set(chips) == {"Home mail", "Letters", "from Rui Almeida", "March 2026"}
    wider = owner.get(str(chips["Home mail"].attributes["href"]))
    assert "account=" not in str(wider.answer.url)
    assert "kind=messages" in str(wider.answer.url)


def test_a_kind_is_called_by_every_name_that_accounts_have_for_it(owner: Reader) -> None:
    def kinds(query: str) -> dict[str | None, str]:
        options = owner.get(f"/search?{query}").tree.css("select[name=kind] option")
        return {option.attributes.get("value"): option.text() for option in options}

    assert kinds("")["messages"] == kinds("q=invoice")["messages"] == "Chat messages, Letters"
    assert kinds("account=cin_team")["messages"] == "Chat messages"
    chips = owner.get("/search?account=cin_team&kind=messages").tree.css(".chips a")
    assert [chip.text().split("×")[0].strip() for chip in chips][1] == "Chat messages"


@pytest.mark.parametrize("query", ["account=nope", "kind=nope", "account=cin_bank&kind=messages"])
def test_what_is_not_there_is_told(owner: Reader, query: str) -> None:
    page = owner.get(f"/search?{query}")
    assert page.status == 400
    assert "no such account or kind" in page.text


@pytest.mark.parametrize("query", ["q=%00", "q=before:never", "month=x&q=a", "after=zzz&q=a"])
def test_a_question_that_makes_no_sense_is_a_page(owner: Reader, query: str) -> None:
    assert owner.get(f"/search?{query}").status in (200, 400)


def test_a_mistyped_word_is_answered_with_one_that_is_there(owner: Reader) -> None:
    page = owner.get("/search?q=zzzzqqq")
    assert "No record matches" in page.text


# Browsing


def test_everything_is_browsed_once_in_the_order_of_time(poster: Reader) -> None:
    found = walked(poster, "/search")
    assert len(found) == len(set(found)) == 40 + 15 + 2 + 4
    assert all(title.startswith("Tie") for title in found[:55])
    assert found[55:57] == ["Note", "Mail"]


def test_one_kind_of_one_account_is_browsed_in_its_own_order(poster: Reader) -> None:
    found = walked(poster, "/search?account=a&kind=posts")
    assert len(found) == len(set(found)) == 40


def test_a_month_narrows_and_the_bars_lead_there(poster: Reader) -> None:
    page = poster.get("/search")
    assert bars(page) == ["March 2026: 4 records", "April 2026: 2 records", "May 2026: 55 records"]
    april = poster.get(str(page.tree.css("svg a")[1].attributes["href"]))
    assert titles(april) == ["Note", "Mail"]
    assert [node.attributes["aria-current"] for node in april.tree.css("svg a[aria-current]")]
    assert poster.get("/search?month=2025").status == 200


def test_bars_follow_what_is_written(posts: House) -> None:
    reader = posts.owner()
    before = reader.get("/search?account=a").tree.css("svg a")
    put(posts.store, "a", "posts", {"id": "new", "title": "New", "at": "2026-06-01T12:00:00Z"})
    posts.wait_for(
        lambda: len(reader.get("/search?account=a").tree.css("svg a")) == len(before) + 1
    )
    feed = posts.store.catalogue().feeds["a", "posts"]
    posts.store.write(feed, [Line(0, "new", instant.now(), None)])


def test_bars_narrow_to_the_question_and_stay_when_a_month_is_chosen(poster: Reader) -> None:
    page = poster.get("/search?q=tie")
    assert bars(page) == ["May 2026: 55 records"]
    assert bars(poster.get("/search?q=mail")) == ["April 2026: 1 record"]
    either = "/search?q=tie OR note"
    wide = bars(poster.get(either))
    assert poster.get(f"{either}&month=2026-04").tree.css("svg a[aria-current]")
    assert bars(poster.get(f"{either}&month=2026-04")) == wide
    assert bars(poster.get("/search?q=nothinglikethis")) == []


def test_a_record_without_a_title_is_called_by_how_it_begins(posts: House) -> None:
    reader, feed = posts.owner(), posts.store.catalogue().feeds["a", "posts"]
    at = "2026-07-01T12:00:00Z"
    put(posts.store, "a", "posts", {"id": "x1", "body": "Only zebras here", "at": at})
    put(posts.store, "a", "posts", {"id": "x2", "at": at})
    try:
        shown = titles(reader.get("/search?month=2026-07"))
        assert sorted(shown) == ["Only zebras here", "posts, 1 July 2026, 12:00 UTC"]
        assert titles(reader.get("/search?q=zebras")) == ["Only zebras here"]
        heading = reader.get("/r/a/posts/x2").tree.css_first("h1")
        assert heading is not None
        assert heading.text().startswith("posts, 1 July 2026")
    finally:
        posts.store.write(feed, [Line(0, key, instant.now(), None) for key in ("x1", "x2")])


def test_a_past_page_asks_no_stream_that_cannot_be_on_it(posts: House) -> None:
    """The page after the ties begins in March, where account ``a`` has nothing to ask for."""
    asked: list[str] = []
    operate = PageReader.operate

    async def counted(reader: PageReader, operation: str, *args: Any, **options: Any) -> Any:
        asked.append(operation)
        return await operate(reader, operation, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PageReader, "operate", counted)
        page = posts.owner().get("/search?month=2026-03")
    assert len(titles(page)) == 4
    assert asked.count("listRecords") == 1


# Records


def test_hostile_mail_is_readable_text(poster: Reader) -> None:
    page = poster.get("/r/b/posts/html")
    prose = page.tree.css_first(".prose")
    assert prose is not None
    assert "Dear you" in " ".join(prose.text().split())
    assert "alert(1)" not in prose.text()
    assert prose.css("script, img, a") == []


def test_markdown_is_read_without_its_marks(poster: Reader) -> None:
    prose = poster.get("/r/b/posts/md").tree.css_first(".prose")
    assert prose is not None
    assert [node.text() for node in prose.css("h3")] == ["Walk"]
    assert [node.text() for node in prose.css(".item")] == [
        "the green coat",
        "map (https://maps.example/x)",
    ]
    assert [node.text() for node in prose.css("pre")] == ["<b>code</b>"]


def test_plain_text_stays_as_it_is() -> None:
    assert readable("a < b and **c**\n- d", 100).source == ""
    assert readable("<b>x</b>", 100).source == ""
    assert readable("<p>x</p><p>y</p>" * 3, 8).left == 16 * 3 - 8


@pytest.mark.parametrize(
    ("name", "media_type", "disposition"),
    [
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("drawing.svg", "text/plain; charset=utf-8", "inline"),
        ("photo.png", "image/png", "inline"),
        ("paper.pdf", "application/pdf", "attachment"),
    ],
)
def test_no_file_is_ever_executed(
    posts: House, poster: Reader, name: str, media_type: str, disposition: str
) -> None:
    link = poster.get(f"/r/b/posts/{name}").tree.css_first('a[href^="/file/"]')
    assert link is not None
    address = str(link.attributes["href"])
    answer = poster.http.get(address)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media_type
    assert answer.headers["content-disposition"] == disposition
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answer.headers["cache-control"] == "private, no-store"
    assert posts.stranger().http.get(address).status_code == 401
    assert poster.http.get("/file/" + "0" * 64 + "/x").status_code == 404


def test_a_record_leads_to_its_conversation_files_and_neighbours(owner: Reader) -> None:
    page = owner.get(INVOICE)
    thread = page.tree.css("#thread ~ ol a")
    assert [node.text() for node in thread] == ["Re: Invoice 4471 for the kitchen tiles"]
    files = {node.text() for node in page.tree.css("#files ~ ul a")}
    assert {"Open invoice-4471.txt", "Open invoice-4471.csv"} <= files
    earlier = page.tree.css_first('a[rel="prev"]')
    assert earlier is not None
    back = owner.get(str(earlier.attributes["href"])).tree.css_first('a[rel="next"]')
    assert back is not None
    assert back.attributes["href"] == INVOICE


def test_neighbours_of_one_moment_are_not_skipped(poster: Reader) -> None:
    seen = []
    path = "/r/b/posts/u0"
    for _ in range(4):
        seen.append(path)
        link = poster.get(path).tree.css_first('a[rel="next"]')
        if link is None:
            break
        path = str(link.attributes["href"])
    assert len(seen) == len(set(seen))


# Pieces


def test_an_address_keeps_its_filters() -> None:
    filters = SearchFilters.of_query({"q": " tiles ", "month": "2026-13", "after": "x"})
    assert filters == SearchFilters(q="tiles", after="x")
    assert filters.query(account="a&b") == "?q=tiles&account=a%26b"
    assert SearchFilters().query() == "?"
    named = SearchFilters(q="x", person='Rui "R" A', month="2026")
    assert named.question == 'x from:"Rui  R  A" on:2026'


def test_months_begin_on_the_readers_calendar() -> None:
    dates = Dates(UTC)
    since, until = month_bounds(dates, "2026-12")
    assert since is not None
    assert until is not None
    assert (dates.day(since), dates.day(until)) == ("1 December 2026", "1 January 2027")
    assert month_bounds(dates, "0000")[0] is not None
    assert month_bounds(dates, "9999-12")[1] is not None


def test_many_months_become_years_and_empty_ones_have_no_bar() -> None:
    dates = Dates(UTC)
    few = timeline({"2026-01": 3, "2026-04": 9}, SearchFilters(), dates)
    assert few is not None
    assert [bar.height for bar in few.bars] == [21, 0, 0, 64]
    many = timeline({"1990-01": 3, "2026-04": 9}, SearchFilters(), dates)
    assert many is not None
    assert (many.first, many.last, len(many.bars)) == ("1990", "2026", 37)
    assert timeline({}, SearchFilters(), dates) is None


@pytest.mark.parametrize("after", ["999999999999999999.0", "-999999999999999999.9", "0.0", "x.1"])
def test_an_address_that_names_an_odd_moment_is_a_page(owner: Reader, after: str) -> None:
    assert owner.get(f"/search?after={after}").status == 200
