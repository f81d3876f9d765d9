"""Everyday words: an agent finds by them what exports say in codes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.engine import open_store
from tests.mcp.client import Client, estate
from tests.serving import grant
from tests.sources.kit import Home
from tests.sources.samples import apple_health as health
from tests.sources.samples.books_and_films import BOOKS_HEADER, book, table

BEATS = health.record(
    "HKQuantityTypeIdentifierHeartRate",
    "61",
    "2026-01-05 08:00:00 +0000",
    "2026-01-05 08:00:00 +0000",
    unit="count/min",
)
WEIGHT = BEATS.replace("HeartRate", "BodyMass").replace('"61"', '"70"')
HEALTH = health.document(health.steps(5, 512), health.steps(6, 1_024), BEATS, WEIGHT, health.SLEEP)
OFX = (
    "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS>"
    "<CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>77<ACCTTYPE>SAVINGS</BANKACCTFROM><BANKTRANLIST>"
    "<STMTTRN><TRNTYPE>SRVCHG<DTPOSTED>20260104<TRNAMT>-5<FITID>1<NAME>Monthly</STMTTRN>"
    "<STMTTRN><TRNTYPE>ATM<DTPOSTED>20260105<TRNAMT>-90<FITID>2<NAME>Quay 4</STMTTRN>"
    "</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
)
TIMELINE = json.dumps(
    {
        "semanticSegments": [
            {
                "startTime": f"2026-01-05T{hour:02}:00:00Z",
                "endTime": f"2026-01-05T{hour:02}:30:00Z",
                "activity": {"distanceMeters": 9_000, "topCandidate": {"type": kind}},
            }
            for hour, kind in ((8, "IN_PASSENGER_VEHICLE"), (9, "WALKING"), (10, "IN_TRAIN"))
        ]
    }
)
BOOKS = table(
    BOOKS_HEADER,
    book("1", "Read last", "4", "2026/01/05", "read"),
    book("2", "Read before", "4", "2024/05/03", "read"),
    book("3", "Some day", "0", "", "to-read"),
)
CALLS = (
    '<?xml version="1.0"?><calls count="2"><call number="+351910000009" duration="61" '
    'date="1767607200000" type="2" contact_name="Bo Lund" /><call number="+351910000008" '
    'duration="0" date="1767607300000" type="3" contact_name="Ida Cais" /></calls>'
)
TASKS = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//X//EN\r\nBEGIN:VTODO\r\nUID:1@x\r\n"
    "SUMMARY:Buy rope\r\nCOMPLETED:20260104T100000Z\r\nEND:VTODO\r\nBEGIN:VTODO\r\n"
    "UID:2@x\r\nSUMMARY:Paint the boat\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("words")
    home = Home(folder / "home")
    for name, content in (
        ("export.xml", HEALTH),
        ("giro.ofx", OFX.encode()),
        ("Timeline.json", TIMELINE.encode()),
        ("goodreads_library_export.csv", BOOKS),
        ("calls.xml", CALLS.encode()),
        ("nora.ics", TASKS.encode()),
    ):
        (folder / name).write_bytes(content)
        home.bring(folder / name)
    store = open_store(home.data)
    with estate(store, folder) as made:
        yield made.client("http-modern", grant(made.store))


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("how many steps did I take", "Step count"),
        ("what was my heart rate", "Heart rate"),
        ("how did I sleep", "Sleep analysis"),
        ("what is my weight", "Body mass (weight)"),
        ("StepCount", "Step count"),
        ("bank fees", "Monthly"),
        ("cash withdrawals", "Quay 4"),
        ("how far did I drive", "Driving in a car"),
        ("trips by train", "On a train"),
        ("what books did I finish in january 2026", "Read last"),
        ("what books did I read in 2024", "Read before"),
        ("books I want to read", "Some day"),
        ("calls I missed", "Ida Cais"),
        ("completed tasks", "Buy rope"),
    ],
)
def test_a_question_finds_first_what_it_means(agent: Client, query: str, title: str) -> None:
    assert agent.good("search", {"query": query}).structured["results"][0]["title"] == title


def test_steps_are_summed_by_day_and_ways_by_how_somebody_moved(agent: Client) -> None:
    def summed(**asked: Any) -> dict[str, float]:
        answer = agent.good("aggregate", {"metric": "sum", **asked}).structured["data"]
        return {group["key"]: group["value"] for group in answer["groups"]}

    steps = {"stream": "measurements", "field": "value", "filter": {"kind": "Step count"}}
    days = summed(**steps, group_by_time="started_at", granularity="day")
    assert [*days.values()] == [512, 1_024]
    assert summed(stream="trips", field="metres", group_by="kind")["Driving in a car"] == 9_000
