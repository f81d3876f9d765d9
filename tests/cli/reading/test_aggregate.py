"""``pdpp read aggregate``: numbers."""

import json

from tests.cli.reading.desk import Desk

SPENT = ("aggregate", "transactions", "--metric", "sum", "--field", "amount")


def test_one_number_is_one_line(desk: Desk) -> None:
    line = desk.read("aggregate", "messages", "--connection", "cin_home")
    assert line == "count of messages: 598 · 598 records\n"
    total = json.loads(desk.read(*SPENT, "--json"))
    assert desk.read(*SPENT) == f"sum of amount of transactions: {total['value']} · 539 records\n"


def test_groups_are_a_table_with_what_was_left_out(desk: Desk) -> None:
    lines = desk.read(*SPENT, "--group-by", "category", "--limit", "2").splitlines()
    told = desk.get(
        "/v1/streams/transactions/aggregate",
        metric="sum",
        field="amount",
        group_by="category",
        limit=2,
    ).json()
    assert lines[0] == "sum of amount of transactions by category"
    assert lines[1].split() == ["GROUP", "RECORDS", "SUM"]
    first = told["groups"][0]
    assert lines[2].split("  ")[0] == first["key"]
    assert lines[2].split()[-2:] == [str(first["count"]), str(first["value"])]
    assert lines[-1] == f"other_count {told['other_count']} · 539 records"


def test_time_is_grouped_by_the_calendar_of_a_place(desk: Desk) -> None:
    words = ("--group-by-time", "sent_at", "--granularity", "year", "--time-zone", "Europe/Lisbon")
    lines = desk.read("aggregate", "messages", "--connection", "cin_home", *words).splitlines()
    assert lines[0] == "count of messages by year of sent_at (Europe/Lisbon)"
    assert lines[1].split() == ["GROUP", "RECORDS"]


def test_a_group_of_nothing_and_a_clamped_limit_are_told(desk: Desk) -> None:
    words = ("--connection", "cin_team", "--group-by", "thread_ts", "--limit", "5000")
    text = desk.read("aggregate", "messages", *words)
    assert "(none) " in text
    assert "note: limit is at most 1000" in text


def test_a_filter_narrows_the_numbers(desk: Desk) -> None:
    words = (
        "aggregate",
        "messages",
        "--connection",
        "cin_home",
        "--filter",
        "unread=true",
        "--json",
    )
    found = json.loads(desk.read(*words))
    assert 0 < found["value"] < 598
