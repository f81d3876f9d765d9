"""One question asked over REST, MCP and the program: the same ids, windows, cuts and ways on."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.reading.desk import Desk, at_desk, commands
from tests.mcp.client import Client as Agent
from tests.mcp.client import Estate, estate
from tests.serving import seeded_store

QUERY = "kitchen tiles"
DIARY = "cin_notes/documents:renovation-diary"
HIT = re.compile(r"^\d+\. (?:(\S+) (\d+)–(\d+) of (\d+) in )?(\S+)", re.MULTILINE)
PLACE = re.compile(r"chars (\d+)–(\d+) of (\d+), ([a-z ]+) · digest (\w+)")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    """The demo world, where agents and a person read under one grant each."""
    folder = tmp_path_factory.mktemp("parity")
    with estate(seeded_store(folder / "store"), folder) as made:
        yield made


@pytest.fixture(scope="module")
def person(house: Estate, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A person who may read all of it."""
    return at_desk(house.world, tmp_path_factory.mktemp("person"))


@pytest.fixture(scope="module", params=["stdio-modern", "http-legacy"])
def agent(request: pytest.FixtureRequest, house: Estate, person: Desk) -> Agent:
    """An agent under the same grant."""
    return house.client(request.param, person.token)


def options_of(line: str) -> tuple[list[str], dict[str, str]]:
    """Return the words and the options of a command that was shown."""
    words = shlex.split(line)
    at = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    rest = words[at:]
    return words[:at], dict(zip(rest[::2], rest[1::2], strict=True))


def rest_hits(person: Desk, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = person.get("/v1/search", **params).json()
    return answer


def told(hits: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return what each hit proves: its field, the stretch of it, and the record."""
    names = ("field_path", "start_chars", "end_chars", "total_chars")
    nothing = dict.fromkeys(names, "")
    return [
        (*(str((hit["evidence_excerpts"] or [nothing])[0][name]) for name in names), hit["id"])
        for hit in hits
    ]


@pytest.mark.scenario("S015")
@pytest.mark.scenario("S016")
def test_a_search_shows_the_same_hits_and_passages(agent: Agent, person: Desk) -> None:
    rest = rest_hits(person, q=QUERY, limit=5)
    mcp = agent.good("search", {"query": QUERY, "limit": 5})
    text = person.read("search", *QUERY.split(), "--limit", "5")
    assert HIT.findall(text) == HIT.findall(mcp.text) == told(rest["data"])
    assert len(told(rest["data"])) == 5
    quotes = re.compile(r'^   (".*<mark>.*")$', re.MULTILINE)
    assert quotes.findall(text) == quotes.findall(mcp.text)
    proven = [part for hit in rest["data"] for part in hit["evidence_excerpts"]]
    assert len(quotes.findall(text)) == len(proven) > 1
    for part in proven:
        assert part.keys() >= {"field_path", "preview_text", "truncated", "read"}


@pytest.mark.scenario("S016")
def test_a_hit_is_read_on_from_the_same_place(agent: Agent, person: Desk) -> None:
    rest = rest_hits(person, q=QUERY, limit=5)
    mcp = agent.good("search", {"query": QUERY, "limit": 5}).structured
    lines = commands(person.read("search", *QUERY.split(), "--limit", "5"), "read")
    for hit, rung, line in zip(rest["data"], mcp["content_ladder"]["records"], lines, strict=True):
        if not hit["evidence_excerpts"]:
            assert (line, rung["fetch"]) == (f"pdpp read fetch {hit['id']}", {"id": hit["id"]})
            continue
        read = hit["evidence_excerpts"][0]["read"]
        words, options = options_of(line)
        call = rung["read_record_field"]
        assert words == ["pdpp", "read", "window", call["id"], call["field_path"]]
        assert call["id"] == hit["id"]
        assert int(options["--offset"]) == call["offset_chars"] == read["offset_chars"]
        window = person.get(
            read["route"],
            connection_id=read["connection_id"],
            field=read["field"],
            offset_chars=read["offset_chars"],
            limit_chars=read["limit_chars"],
        ).json()
        assert person.typed(f"{line} --json").document == window
        assert agent.good("read_record_field", call).structured["window"] == window["window"]


@pytest.mark.parametrize(
    ("params", "call", "words"),
    [
        ({}, {}, ()),
        ({"offset_chars": 4096}, {"offset_chars": 4096}, ("--offset", "4096")),
        (
            {"offset_chars": 100, "limit_chars": 5000},
            {"offset_chars": 100, "limit_chars": 5000},
            ("--offset", "100", "--limit", "5000"),
        ),
        (
            {"q": "tiles", "before_chars": 40, "after_chars": 60},
            {"query": "tiles", "before_chars": 40, "after_chars": 60},
            ("--query", "tiles", "--before", "40", "--after", "60"),
        ),
        ({"offset_chars": 9_999_999}, {"offset_chars": 9_999_999}, ("--offset", "9999999")),
    ],
)
@pytest.mark.scenario("S016")
def test_a_window_is_the_same_piece_with_the_same_ways_on(
    agent: Agent, person: Desk, params: dict[str, Any], call: dict[str, Any], words: tuple[str, ...]
) -> None:
    path = "/v1/streams/documents/records/renovation-diary/field-window"
    rest = person.get(path, field="body", **params).json()
    mcp = agent.good("read_record_field", {"id": DIARY, "field_path": "body", **call})
    assert person.here("read", "window", DIARY, "body", *words, "--json").document == rest
    assert mcp.structured["window"] == rest["window"]
    text = person.read("window", DIARY, "body", *words)
    assert PLACE.findall(text) == PLACE.findall(mcp.text)
    assert len(PLACE.findall(text)) == 1
    assert (
        text.split("┌ record text")[1].split("└")[0]
        == (mcp.text.split("┌ record text")[1].split("└")[0])
    )
    shown = [options_of(line) for what in ("read on", "before") for line in commands(text, what)]
    offered = [step["arguments"] for step in mcp.structured.get("next", [])]
    assert [(names[3], names[4], int(options["--offset"])) for names, options in shown] == [
        (step["id"], step["field_path"], step["offset_chars"]) for step in offered
    ]
    assert [options.get("--limit") for _, options in shown] == [
        str(step["limit_chars"]) if "limit_chars" in step else None for step in offered
    ]


def test_pages_of_records_go_on_alike(agent: Agent, person: Desk) -> None:
    asked = {"stream": "messages", "connection_id": "cin_home", "fields": ["id"], "limit": 3}
    mcp = agent.good("query_records", asked)
    text = person.read(
        "records", "messages", "--connection", "cin_home", "--fields", "id", "--limit", "3"
    )
    rest = person.get(
        "/v1/streams/messages/records", connection_id="cin_home", fields="id", limit=3
    ).json()
    ids = [f"cin_home/messages:{row['id']}" for row in rest["data"]]
    assert [row[-1] for row in HIT.findall(text)] == ids
    assert [row[-1] for row in HIT.findall(mcp.text)] == ids
    [step] = [step for step in mcp.structured["next"] if "cursor" in step["arguments"]]
    [line] = commands(text, "next")
    _, options = options_of(line)
    assert options["--cursor"] == step["arguments"]["cursor"] == rest["next_cursor"]
    following = [row[-1] for row in HIT.findall(person.typed(line).out)]
    called = agent.good("query_records", step["arguments"])
    assert following == [row[-1] for row in HIT.findall(called.text)]


def test_pages_of_hits_go_on_alike(agent: Agent, person: Desk) -> None:
    mcp = agent.good("search", {"query": "tiles", "limit": 2})
    text = person.read("search", "tiles", "--limit", "2")
    rest = rest_hits(person, q="tiles", limit=2)
    [line] = commands(text, "next")
    [step] = mcp.structured["next"]
    assert options_of(line)[1]["--cursor"] == step["arguments"]["cursor"] == rest["next_cursor"]
    assert HIT.findall(person.typed(line).out) == HIT.findall(
        agent.good("search", step["arguments"]).text
    )


def test_a_long_field_of_a_record_is_cut_and_both_say_where_to_go_on(
    agent: Agent, person: Desk
) -> None:
    whole = person.get("/v1/streams/documents/records/renovation-diary").json()["data"]["body"]
    document = agent.good("fetch", {"id": DIARY}).structured
    call = document["metadata"]["truncation"]["body"]["read_record_field"]
    text = person.read("fetch", DIARY)
    [line] = commands(text, "read on")
    names, options = options_of(line)
    assert names[3:] == [call["id"], call["field_path"]] == [DIARY, "body"]
    assert document["text"].endswith(whole[: call["offset_chars"]])
    served = [row.removeprefix("│ ") for row in text.splitlines() if row.startswith("│ ")]
    assert "\n".join(served) == whole[: int(options["--offset"])]
    assert f"{len(whole):,} chars" in text


def test_numbers_are_the_same(agent: Agent, person: Desk) -> None:
    asked = {"stream": "transactions", "metric": "count", "group_by": "category", "limit": 3}
    mcp = agent.good("aggregate", asked)
    rest = person.get(
        "/v1/streams/transactions/aggregate", metric="count", group_by="category", limit=3
    ).json()
    text = person.read("aggregate", "transactions", "--group-by", "category", "--limit", "3")
    assert f"other_count {rest['other_count']}" in text
    assert f"other_count {rest['other_count']}" in mcp.text
    for group in rest["groups"]:
        assert re.search(rf"^{group['key']} +{group['count']}$", text, re.MULTILINE)


@pytest.mark.scenario("S018", 1, on="cli")
@pytest.mark.parametrize("command", [("read",), ("read", "search"), ("connect",), ("mcp",)])
def test_no_way_to_read_offers_a_profile_to_choose(
    person: Desk, command: tuple[str, ...], tmp_path: Path
) -> None:
    shown = person.here(*command, "--help").out.lower()
    for word in ("profile", "toolset", "event", "control-plane"):
        assert word not in shown
    ended = person.here(*command, "--profile", "full")
    assert ended.code == 64
