"""``pdpp read schema`` and ``pdpp read streams``."""

import json
from pathlib import Path

import pytest
from tests.cli.reading.desk import Desk, at_desk, commands
from tests.serving import World


def test_the_index_lists_every_stream_of_every_account(desk: Desk) -> None:
    text = desk.read("schema")
    lines = text.splitlines()
    assert lines[0].split() == ["STREAM", "RECORDS", "ACCOUNT", "CONNECTION"]
    assert "messages      598      Home mail          cin_home" in lines
    assert "19 streams of 8 connections." in lines
    [line] = commands(text, "fields")
    assert desk.typed(line).code == 0


def test_a_stream_shows_what_may_be_asked_of_each_field(desk: Desk) -> None:
    lines = desk.read("schema", "messages", "--connection", "cin_home").splitlines()
    assert lines[0] == "messages · demo_mail · Home mail (cin_home, 598 records)"
    row = next(line for line in lines if line.startswith("sent_at "))
    flags = ["r=gte|gt|lte|lt", "sort", "a=min|max|group_by_time"]
    assert row.split() == ["sent_at", "date-time", "event-time", "eq", *flags]
    assert "views: envelope, reading" in lines
    assert "expand: thread, attachments" in lines
    assert "t=type; role=declared" in lines[-1]


def test_the_full_schema_is_read_too(desk: Desk) -> None:
    words = ("schema", "messages", "--connection", "cin_home", "--full")
    assert "body         text       body           lex" in desk.read(*words)
    assert json.loads(desk.read(*words, "--json"))["detail"] == "full"


def test_a_full_schema_of_several_sources_offers_them(desk: Desk) -> None:
    told = desk.here("read", "schema", "messages", "--full").failed()
    assert told.startswith("ambiguous_schema_detail: ")
    assert "Try: --connection cin_team (Atlas & Tide chat) or --connection cin_home" in told


def test_streams_are_a_table_lines_or_the_servers_json(desk: Desk) -> None:
    text = desk.read("streams", "messages")
    assert text.splitlines()[0].split() == ["STREAM", "RECORDS", "NEWEST", "ACCOUNT", "CONNECTION"]
    assert len([line for line in text.splitlines() if line.startswith("messages ")]) == 3
    assert commands(text, "records") == ["pdpp read records messages"]
    told = desk.get("/v1/streams").json()
    assert json.loads(desk.read("streams", "--json")) == told
    lines = desk.read("streams", "--jsonl").splitlines()
    assert [json.loads(line) for line in lines] == told["data"]


@pytest.mark.scenario("S050", 1, 2, on="cli")
def test_only_the_streams_of_the_grant_are_listed(demo: World, tmp_path: Path) -> None:
    person = at_desk(demo, tmp_path, connections=("cin_bank", "cin_home"), streams=("messages",))
    told = json.loads(person.read("streams", "--json"))["data"]
    named = {(row["connector_key"], row["connection_id"], row["name"]) for row in told}
    assert named == {("demo_mail", "cin_home", "messages")}
    rows = [line for line in person.read("streams").splitlines() if "cin_" in line]
    assert [(line.split()[0], line.split()[-1]) for line in rows] == [("messages", "cin_home")]
