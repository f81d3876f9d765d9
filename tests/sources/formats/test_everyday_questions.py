"""Everyday questions: an agent asks of exports what people ask, by what the tools tell it."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.engine import open_store
from tests.made_once import parse_once
from tests.mcp.client import Client, estate
from tests.serving import grant
from tests.sources.kit import Home

from pdpp.sources.registry import load

MAIL = (
    "From x Thu Jan 01 10:00:00 2026\nX-Gmail-Labels: Travel,Inbox,Opened\n"
    "Message-ID: <1@x>\nFrom: Nora <nora@lind.example>\n"
    "To: Ana Reis <ana@reis.example>\nCc: Bo <bo@x.example>\nSubject: Budget\n"
    "Date: Thu, 01 Jan 2026 10:00:00 +0000\n\nThe quay costs more.\n\n"
    "From x Fri Jan 02 10:00:00 2026\nMessage-ID: <2@x>\nFrom: Nora Lind <Nora@Lind.example>\n"
    "Subject: Fog\nDate: Fri, 02 Jan 2026 10:00:00 +0000\n\nNo ferry.\n"
)
CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//X//EN\r\nBEGIN:VEVENT\r\nUID:1@x\r\n"
    "DTSTART:20260105T100000Z\r\nSUMMARY:Planning\r\n"
    "ATTENDEE;CN=Ana Reis:mailto:ana@reis.example\r\n"
    "END:VEVENT\r\nBEGIN:VEVENT\r\nUID:4@x\r\nDTSTART:20250106T090000Z\r\nSUMMARY:Choir\r\n"
    "RRULE:FREQ=WEEKLY\r\nEND:VEVENT\r\n"
    "BEGIN:VTODO\r\nUID:2@x\r\nSUMMARY:Paint the boat\r\nEND:VTODO\r\n"
    "BEGIN:VTODO\r\nUID:3@x\r\nSUMMARY:Buy rope\r\nCOMPLETED:20260104T100000Z\r\nEND:VTODO\r\n"
    "END:VCALENDAR\r\n"
)
CARDS = "".join(
    f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:{name}\r\nTEL;TYPE=CELL:{phone}\r\nBDAY:{birthday}\r\n"
    f"EMAIL:{name.split()[0].lower()}@x.example\r\nCATEGORIES:{group}\r\nEND:VCARD\r\n"
    for name, phone, birthday, group in (
        ("Ana Reis", "+351 912 345 678", "1990-11-03", "Choir"),
        ("Bo Lund", "+351 910 000 001", "--12-24", "Choir"),
        ("Ida Cais", "+351 910 000 002", "1971-02-28", "Office"),
    )
)
NOTE = "---\ntags: [garden, plans]\n---\nTomatoes need poles.\n"
BANK = (
    "Date,Description,Amount,Category\n2026-01-03,Lidl,-30.50,Groceries\n"
    "2026-01-09,Lidl,-20.00,Groceries\n2026-02-01,Bus,-2.00,Transport\n2026-02-02,Pay,900,Income\n"
)
NETFLIX = (
    "Title,Date\nDark: Season 2: Bell,5/9/26\nDark: Season 1: Fog,5/8/26\nFoghorn Island,5/7/26\n"
)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("everyday")
    home = Home(folder / "home")
    for name, text in (
        ("mail.mbox", MAIL),
        ("nora.ics", CALENDAR),
        ("people.vcf", CARDS),
        ("vault/Garden.md", NOTE),
        ("statement.csv", BANK),
        ("NetflixViewingHistory.csv", NETFLIX),
    ):
        path = folder / "exports" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        home.bring(path.parent if "/" in name else path)
    store = open_store(home.data)
    with estate(store, folder) as made:
        yield made.client("http-modern", grant(made.store))


def titles(agent: Client, query: str, stream: str) -> list[str]:
    found = agent.good("search", {"query": query, "streams": [stream]})
    return [result["title"] for result in found.structured["results"]]


@pytest.mark.parametrize(
    ("query", "stream", "title"),
    [
        ("+ana +quay", "messages", "Budget"),
        ("bo@x.example", "messages", "Budget"),
        ("mail labelled travel", "messages", "Budget"),
        ("meetings with Ana Reis", "events", "Planning"),
        ("+351912345678", "contacts", "Ana Reis"),
        ("910 000 002", "contacts", "Ida Cais"),
        ("ida@x.example", "contacts", "Ida Cais"),
        ("notes tagged plans", "notes", "Garden"),
        ("groceries", "transactions", "Lidl"),
    ],
)
def test_a_search_finds_what_a_record_lists(
    agent: Client, query: str, stream: str, title: str
) -> None:
    assert titles(agent, query, stream)[0] == title


def test_the_next_birthdays_are_sorted_by_the_course_of_the_year(agent: Client) -> None:
    found = agent.good(
        "query_records",
        {
            "stream": "contacts",
            "filter": {"birthday_month_day": {"gte": "11-01"}},
            "sort": "birthday_month_day",
            "fields": ["name"],
        },
    )
    assert [row["data"]["name"] for row in found.structured["data"]["data"]] == [
        "Ana Reis",
        "Bo Lund",
    ]


def test_what_is_still_to_do_is_asked_by_its_state(agent: Client) -> None:
    asked = {"stream": "tasks", "filter": {"status": "NEEDS-ACTION"}}
    found = agent.good("query_records", asked)
    assert [row["data"]["title"] for row in found.structured["data"]["data"]] == ["Paint the boat"]


def test_what_repeats_can_be_listed_because_it_stands_at_its_first_time_alone(
    agent: Client,
) -> None:
    asked = {"stream": "events", "filter": {"repeating": True}}
    found = agent.good("query_records", asked)
    assert [row["data"]["title"] for row in found.structured["data"]["data"]] == ["Choir"]


def grouped(agent: Client, **asked: Any) -> dict[str, Any]:
    answer = agent.good("aggregate", asked).structured["data"]
    return {group["key"]: group.get("value", group["count"]) for group in answer["groups"]}


def test_spending_is_summed_by_category_and_by_shop(agent: Client) -> None:
    spent: dict[str, Any] = {"stream": "transactions", "metric": "sum", "field": "amount"}
    spent["filter"] = {"amount": {"lt": 0}}
    assert grouped(agent, **spent, group_by="category") == {"Groceries": -50.5, "Transport": -2}
    assert grouped(agent, **spent, group_by="payee") == {"Lidl": -50.5, "Bus": -2}


def test_who_writes_under_several_names_is_counted_once(agent: Client) -> None:
    counted = {"stream": "messages", "metric": "count", "group_by": "sender_email"}
    assert grouped(agent, **counted) == {"nora@lind.example": 2}


def test_mail_is_counted_by_label(agent: Client) -> None:
    counted = {"stream": "messages", "metric": "count", "group_by": "label_names"}
    assert grouped(agent, **counted) == {"Travel": 1, None: 1}


def test_people_are_counted_by_group_and_viewings_by_series(agent: Client) -> None:
    counted = {"stream": "contacts", "metric": "count", "group_by": "groups"}
    assert grouped(agent, **counted) == {"Choir": 2, "Office": 1}
    watched = {"stream": "watched_titles", "metric": "count", "group_by": "series"}
    assert grouped(agent, **watched) == {"Dark": 2, None: 1}


@pytest.mark.parametrize(
    ("source", "stream", "metric", "field"),
    [
        ("google_timeline", "visits", "group_by", "place"),
        ("goodreads", "books", "sum", "my_rating"),
        ("letterboxd", "diary", "sum", "rating"),
        ("letterboxd", "ratings", "group_by", "rating"),
        ("netflix", "viewings", "group_by", "series"),
        ("google_activity", "activities", "group_by", "kind"),
        *(
            (agent, "sessions", metric, field)
            for agent in ("claude_code", "codex", "gemini_cli", "opencode", "cursor")
            for metric, field in (("sum", "output_tokens"), ("group_by", "model"))
        ),
    ],
)
def test_what_is_asked_for_most_can_be_summed_and_grouped(
    source: str, stream: str, metric: str, field: str
) -> None:
    declared = parse_once(load(source).declaration()).streams[stream]
    assert metric in declared.fields[field].aggregations
