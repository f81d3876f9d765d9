"""``pdpp read`` and ``pdpp export`` against another implementation of the protocol."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import Ended, pdpp_here
from tests.reference_server import Behaviour, ReferenceServer
from tests.reference_server.world import LONG_BODY, PICTURE

from pdpp.credentials import Cache


@pytest.fixture(scope="module")
def server() -> Iterator[ReferenceServer]:
    with ReferenceServer(Behaviour(legend=True)) as running:
        yield running


@pytest.fixture
def read(server: ReferenceServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Read":
    """Run reads with a credential that the reference's own program has kept."""
    cache = tmp_path / "clients"
    cache.mkdir()
    kept = {
        "provider_url": server.url,
        "credential": {
            "access_token": server.token,
            "token_type": "Bearer",
            "expires_at": "2099-01-01T00:00:00.000Z",
        },
    }
    Cache(cache).path(server.url).write_text(json.dumps(kept))
    for name in ("PDPP_PROVIDER_URL", "PDPP_OWNER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PDPP_CACHE_ROOT", str(tmp_path))
    return Read()


class Read:
    def __call__(self, *arguments: str) -> str:
        ended = self.ended(*arguments)
        assert (ended.code, ended.err) == (0, ""), ended
        assert "None" not in ended.out
        assert "null" not in ended.out
        return ended.out

    def ended(self, *arguments: str) -> Ended:
        return pdpp_here("read", *arguments)


def test_the_kept_credential_is_listed(read: Read, server: ReferenceServer) -> None:
    assert server.url in pdpp_here("connect", "--list").out


def test_what_is_there(read: Read) -> None:
    index = read("schema")
    assert "Everyday account" in index
    assert "payments" in index
    fields = read("schema", "messages")
    assert "subject" in fields
    assert "attachments" in fields
    assert "messages · mail · Work mail (cin_work)" in fields
    assert "cin_home" in read("streams", "messages")
    assert json.loads(read("schema", "payments", "--full", "--json"))["connectors"]


def test_a_search_shows_the_passage_and_a_command_that_works(read: Read) -> None:
    found = read("search", "picture")
    assert "1. body in cin_home/messages:m1" in found
    assert "heron <mark>picture</mark>" in found
    assert "read: pdpp read window cin_home/messages:m1 body" in found
    assert "Home mail · messages" in found
    assert "1 hit" in found
    window = read("window", "cin_home/messages:m1", "body")
    assert "Bring the heron picture." in window
    assert "chars 0–24 of 24, whole field" in window


def test_records_and_changes(read: Read) -> None:
    page = read("records", "messages", "--connection", "cin_work", "--limit", "3")
    assert "m0" in page
    assert "3 records of messages." in page
    large = read("records", "messages", "--filter", "size_bytes>=900", "--jsonl")
    assert [json.loads(line)["id"] for line in large.splitlines()] == ["m9", "m10", "m11"]
    changed = read(
        *("records", "messages", "--connection", "cin_work"),
        *("--changes-since", "beginning", "--all", "--jsonl"),
    )
    keys = [json.loads(line)["id"] for line in changed.splitlines()]
    assert keys == [*(f"m{number}" for number in range(12)), "gone"]
    small = ("records", "messages", "--connection", "cin_work", "--limit", "5")
    paged = read(*small, "--changes-since", "beginning", "--all", "--jsonl")
    assert paged == changed
    first = read(*small, "--changes-since", "beginning")
    assert "later:" not in first
    [onward] = [line for line in first.splitlines() if line.startswith("next: ")]
    assert "--changes-since" not in onward
    assert "Invoice 7" in read(*onward.split()[3:])
    last = read(*small, "--cursor", "chg_10")
    assert "next:" not in last
    assert "later: pdpp read records messages --changes-since bkm_15" in last
    assert read("fetch", "cin_work/messages:m3").startswith('"Invoice 3"\n')


def test_a_blob_is_saved(read: Read, tmp_path: Path) -> None:
    read("blob", "blob1", "-o", str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").read_bytes() == PICTURE


def test_a_field_is_read_to_its_end(read: Read) -> None:
    text = read("window", "cin_work/messages:m0", "body", "--all")
    assert f"chars 0–{len(LONG_BODY)} of {len(LONG_BODY)}, whole field" in text


def test_numbers(read: Read) -> None:
    assert "sum of amount of payments: -105.0 · 4 records" in read(
        "aggregate", "payments", "--metric", "sum", "--field", "amount"
    )
    assert "person1@example.org" in read("aggregate", "messages", "--group-by", "from")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("schema", "diary"), 1, "The token opens no stream 'diary'."),
        (("search", "x", "--stream", "diary"), 1, "The token opens no stream 'diary'."),
        (("records", "diary"), 1, "context.stream_not_allowed: Stream is not in the grant"),
        (("fetch", "messages:m1"), 1, "--connection cin_work (Work mail)"),
        (("window", "cin_work/messages:m1", "picture"), 1, "field_not_text"),
        (("search", "heron", "--mode", "semantic"), 1, "not_found"),
        (("search", "heron", "--filter", "from=x"), 1, "filter is not supported on search"),
        (("blob", "blob99", "-o", "file"), 1, "blob_not_found: Blob not found"),
    ],
)
def test_refusals_are_told_as_what_they_are(
    read: Read, arguments: tuple[str, ...], code: int, words: str
) -> None:
    told = read.ended(*arguments).failed(code=code)
    assert words in told
    assert "unreachable" not in told


ODD_SCHEMAS: list[dict[str, Any]] = [
    {"expand_capabilities": 5, "views": "odd", "field_capabilities": {"subject": 7}},
    {"expand_capabilities": [5, {"name": None}, {"name": "replies"}], "views": [{"id": 3}, "v"]},
    {"record_counts": {"cin_work": "many"}, "granted_connections": ["odd"], "primary_key": 4},
]


@pytest.mark.parametrize("odd", ODD_SCHEMAS)
def test_a_schema_with_odd_members_is_shown_as_far_as_it_makes_sense(
    read: Read, server: ReferenceServer, monkeypatch: pytest.MonkeyPatch, odd: dict[str, Any]
) -> None:
    body = {"connectors": [{"streams": [{"name": "messages", **odd}]}, 5], "bearer": "odd"}
    monkeypatch.setattr(server, "_serve", lambda *_: body)
    assert "messages" in read("schema", "messages")
    assert "messages" in pdpp_here("connect", server.url).out


def test_an_aggregate_that_does_not_name_its_stream_is_named_as_it_was_asked_for(
    read: Read, server: ReferenceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[tuple[dict[str, Any], str]] = [
        ({"metric": "count", "value": 5}, "count of messages: 5"),
        ({"metric": "count", "field": 3, "groups": []}, "count of messages\n"),
        ({"metric": "sum", "group_by_time": "at", "groups": []}, "sum of messages by at (UTC)"),
    ]
    for body, words in answers:
        monkeypatch.setattr(server, "_serve", lambda *_, told=body: told)
        assert words in read("aggregate", "messages")


def test_an_unknown_stream_is_refused_where_json_is_asked_for(read: Read) -> None:
    for arguments in (("schema", "diary"), ("search", "x", "--stream", "diary")):
        ended = read.ended(*arguments, "--json")
        assert (ended.code, ended.out) == (1, "")
        assert json.loads(ended.err)["error"]["code"] == "grant_stream_not_allowed"


def test_a_token_that_ended_says_how_to_get_another(read: Read, server: ReferenceServer) -> None:
    server.alive = False
    try:
        told = read.ended("streams").failed(code=78)
    finally:
        server.alive = True
    assert f"Try: pdpp connect {server.url}" in told


def test_everything_is_exported(read: Read, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    ended = pdpp_here("export", "--all", "-o", f"{target}/")
    assert ended.code == 0, ended.err
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest["complete"] is True
    lines = [
        json.loads(line)
        for path in (target / "records").rglob("*.ndjson")
        for line in path.read_text().splitlines()
    ]
    assert len(lines) == 17
    assert {line["data"]["id"] for line in lines} >= {"m0", "p1"}
    single = tmp_path / "letter.md"
    assert pdpp_here("export", "cin_work/messages:m3", "-o", str(single)).code == 0
    assert "Invoice 3" in single.read_text()
