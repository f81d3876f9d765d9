"""``pdpp read search``, and the way from a hit to the text around it."""

import json
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.cli.reading.desk import Desk, commands, shown
from tests.serving import all_rows, running

from pdpp.credentials import Cache, Credential

QUERY = "invoice 4471"


@pytest.mark.scenario("S016", 1, on="cli")
@pytest.mark.parametrize("in_terminal", [False, True])
def test_each_hit_shows_a_bounded_passage_and_the_command_that_reads_around_it(
    desk: Desk, in_terminal: bool
) -> None:
    if in_terminal:
        code, screen = desk.terminal("read", "search", *QUERY.split(), columns=200)
        text = shown(screen)
        assert code == 0
    else:
        text = desk.read("search", *QUERY.split())
    hits = desk.get("/v1/search", q=QUERY, limit=10).json()["data"]
    lines = commands(text, "read")
    assert len(lines) == len(hits)
    proven = [(h, line) for h, line in zip(hits, lines, strict=True) if h["evidence_excerpts"]]
    assert len(proven) > 1
    for hit, line in proven:
        [part] = hit["evidence_excerpts"]
        preview = part["preview_text"].replace("<mark>", "").replace("</mark>", "")
        assert len(preview) <= 240
        assert f"in {hit['id']}" in text
        read = desk.typed(f"{line} --json")
        window = read.document
        assert window["object"] == "field_window"
        assert (window["record_id"], window["field"]["path"]) == (
            hit["record_key"],
            part["field_path"],
        )
        assert window["window"]["text"].startswith(preview)
        assert "data" not in window
        assert preview.split("\n")[0] in desk.typed(line).out


def test_a_hit_tells_where_it_is_and_from(desk: Desk) -> None:
    lines = desk.read("search", "invoice", "4471", "adhesive", "--match", "all").splitlines()
    assert lines == [
        "1. body 12–123 of 335 in cin_home/messages:m-invoice-4471",
        '   "please find attached <mark>invoice</mark> <mark>4471</mark> for the green '
        'kitchen tiles, the <mark>adhesive</mark> and two days of work. The total is "',
        "   read: pdpp read window cin_home/messages:m-invoice-4471 body --offset 12",
        '   "Invoice 4471 for the kitchen tiles" · demo_mail · Home mail · messages · '
        "2026-03-12T09:15:00Z",
        "1 hit, all matches ranked.",
    ]


def test_a_match_outside_every_body_invents_no_passage(desk: Desk) -> None:
    hits = desk.get("/v1/search", q="lealplumbing", limit=10).json()["data"]
    bare = next(hit for hit in hits if not hit["evidence_excerpts"])
    text = desk.read("search", "lealplumbing")
    line = next(line for line in text.splitlines() if f" {bare['id']} " in line)
    matched = ", ".join(bare["matched_fields"])
    assert line.endswith(f"{bare['id']} · matched in {matched} only, no passage")
    assert f"read: pdpp read fetch {bare['id']}" in text


def test_a_search_that_finds_nothing_says_what_to_try(desk: Desk) -> None:
    told = desk.get("/v1/search", q="zyzzyva", limit=10).json()["meta"]["try"]
    text = desk.read("search", "zyzzyva")
    assert f"streams searched: {', '.join(told['streams_searched'][:12])}" in text
    [line] = commands(text, "fields")
    assert told["streams_searched"][0] in desk.typed(line).out


def test_a_word_that_was_read_as_another_is_told(desk: Desk) -> None:
    asked = "adhesve"
    [terms] = desk.get("/v1/search", q=asked, limit=10).json()["meta"]["repaired"].values()
    assert f"no record holds {asked}; read as {', '.join(terms)}" in desk.read("search", asked)


def test_the_next_page_is_a_command_that_repeats_this_one(desk: Desk) -> None:
    words = ("search", "the", "--stream", "messages", "--connection", "cin_home", "--limit", "3")
    first = desk.read(*words)
    [line] = commands(first, "next")
    assert line.startswith("pdpp read search the --stream messages --connection cin_home --limit 3")
    second = desk.typed(line)
    told = all_rows(
        desk.world.server.client(desk.token),
        "/v1/search",
        **{"q": "the", "streams[]": "messages", "connection_id": "cin_home", "limit": 3},
    )
    ids = re.findall(r"\d\. .*?(cin_home/messages:\S+)", first + second.out)
    assert ids == [hit["id"] for hit in told[:6]]


def test_words_that_look_like_options_are_repeated_as_words(desk: Desk) -> None:
    first = desk.read("search", "--limit", "1", "--", "-kitchen tiles", "the")
    [line] = commands(first, "next")
    assert line.endswith(" -- '-kitchen tiles' the")
    assert desk.typed(line).code == 0


def test_json_is_the_servers_answer_to_the_byte(desk: Desk) -> None:
    ended = desk.run("read", "search", "invoice", "4471", "--limit", "2", "--json")
    told = desk.get("/v1/search?q=invoice%204471&limit=2")
    assert ended.out.encode() == told.content + b"\n"


def test_all_pages_come_as_lines_of_json(desk: Desk) -> None:
    ended = desk.run("read", "search", "kitchen", "--limit", "5", "--all", "--jsonl")
    told = all_rows(desk.world.server.client(desk.token), "/v1/search", q="kitchen", limit=5)
    assert [json.loads(line) for line in ended.out.splitlines()] == told
    assert len(told) > 5
    assert ended.err == ""


def test_without_hits_it_says_so(desk: Desk) -> None:
    assert desk.read("search", "+zzyzxq").startswith("0 hits, all matches ranked.\n")


def test_what_the_server_does_otherwise_is_noted(desk: Desk) -> None:
    text = desk.read("search", "invoice", "--mode", "hybrid", "--limit", "1")
    assert (
        "note: No model of meaning is installed here; the hits are by words and related words."
        in text
    )


def test_a_filter_narrows_the_hits(desk: Desk) -> None:
    early = desk.read("search", "invoice", "--filter", "sent_at<2026-03-15", "--stream", "messages")
    assert "m-invoice-4471 " in early.replace("\n", " ")
    assert "m-invoice-4471-paid" not in early


def test_a_server_that_counts_nothing_is_shown_without_a_total(desk: Desk, tmp_path: Path) -> None:
    hit = desk.get("/v1/search", q="adhesive", limit=1).json()["data"][0]

    async def answer(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [hit], "has_more": False})

    with running(Starlette(routes=[Route("/v1/{path:path}", answer)])) as server:
        Cache(tmp_path / "clients").store(Credential(server.url, "token", "client"))
        text = Desk(desk.world, tmp_path, "token").read("search", "adhesive")
    assert text.splitlines()[-1] == "1 hit."


def test_a_hit_says_which_words_it_lacks(desk: Desk) -> None:
    text = desk.read("search", "+adhesive", "zzyzxq", "--limit", "1")
    assert text.splitlines()[3].endswith(" · lacks zzyzxq")


def test_the_newest_hits_come_first_where_that_is_asked_for(desk: Desk) -> None:
    text = desk.read("search", "invoice", "--sort", "time", "--stream", "messages", "--json")
    times = [hit["event_time"] for hit in json.loads(text)["data"]]
    assert times == sorted(times, reverse=True)
