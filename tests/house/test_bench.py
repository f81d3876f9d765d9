"""The benchmark itself: that it runs, and that what it compares is comparable."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest
from bench import measures, world
from bench.__main__ import main
from bench.agent import HALVES, LEGACY, MODERN, Agent, Refused, calling, result_of
from bench.client import BadAnswer, Client, get
from bench.estate import TITLED, TRANSCRIPT_ID, UNIQUE, Estate, letters_estate, long_line
from bench.imports import every_maker, read_alone
from bench.journeys import journeys
from bench.process import serving
from bench.report import Row, table, taken
from bench.stock import CHILDREN, Stock, open_stock
from bench.timing import Timing
from tests.soak import SOAK

from pdpp.sources.importing.recognition import recognise_export
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import OwnerChoices

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmark reads /proc"),
]

ROOT = Path(__file__).parents[2]
FORMATS = 2
"""How many formats a small run imports; a soak imports all of them, which takes a minute."""


@pytest.fixture(scope="module")
def clients(stock: Stock) -> Iterator[dict[str, Client]]:
    with ExitStack() as stack:
        yield {
            kind: stack.enter_context(Client(stack.enter_context(serving(kind, stock.folder)).port))
            for kind in ("product", "floor")
        }


def answers(client: Client, requests: list[bytes]) -> list[dict[str, object]]:
    return [orjson.loads(client.ask(request)) for request in requests]


def test_the_floor_answers_the_same_pages(stock: Stock, clients: dict[str, Client]) -> None:
    ours = [
        [record["data"] for record in orjson.loads(clients["product"].ask(request))["data"]]
        for request in measures.pages(stock, stock.tokens.third)
    ]
    floor = [page["data"] for page in answers(clients["floor"], measures.floor_pages(stock))]
    assert ours == floor
    assert {len(page) for page in ours} == {25}


def test_the_floor_answers_the_same_records(stock: Stock, clients: dict[str, Client]) -> None:
    ours = answers(clients["product"], measures.records(stock, stock.tokens.third))
    floor = answers(clients["floor"], measures.floor_reads(stock, "record"))
    assert [record["data"] for record in ours] == floor


def test_the_floor_answers_the_same_windows(stock: Stock, clients: dict[str, Client]) -> None:
    requests = measures.windows(stock, stock.tokens.third)
    ours = [orjson.loads(clients["product"].ask(request))["window"]["text"] for request in requests]
    floor = answers(clients["floor"], measures.floor_reads(stock, "window"))
    assert ours == [window["text"] for window in floor]


@pytest.mark.parametrize("word", [world.RARE, world.STEADY, world.COMMON, world.EVERYWHERE])
def test_a_search_fills_a_page_with_evidence(
    stock: Stock, clients: dict[str, Client], word: str
) -> None:
    (request,) = measures.search(word, stock.tokens.third)
    hits = orjson.loads(clients["product"].ask(request))["data"]
    assert len(hits) == 25
    assert all(
        f"<mark>{word}</mark>" in hit["evidence_excerpts"][0]["preview_text"] for hit in hits
    )
    assert len(orjson.loads(clients["floor"].ask(get(f"/search/{word}")))["data"]) == 25


def test_a_stock_of_the_same_code_is_taken_as_it_is(shelf: Path, stock: Stock) -> None:
    assert open_stock(shelf, stock.world.records, fresh=False, say=pytest.fail) == stock


def test_an_answer_that_is_no_success_is_not_measured(clients: dict[str, Client]) -> None:
    with pytest.raises(BadAnswer, match="401"):
        clients["product"].ask(get("/v1/schema"))


def test_the_world_has_300_feeds_and_one_biggest() -> None:
    made = world.make_world(1_000_000)
    sizes = [feed.size for feed in made.feeds]
    assert (len(sizes), sum(sizes), max(sizes)) == (300, 1_000_000, 64_000)
    assert made.biggest.size == 64_000
    assert sum(batch.size for batch in made.batches()) == 1_000_000


def test_a_record_has_about_650_bytes_and_is_the_same_every_time() -> None:
    made = world.make_world(100_000)
    batch = world.Batch(made.biggest, 1_000, 1_000)
    body = made.lines(batch)
    assert made.lines(batch) == body
    lines = [orjson.loads(line)["data"] for line in body.split(b"\n")]
    mean = sum(len(orjson.dumps(data)) for data in lines) / len(lines)
    assert 600 < mean < 700
    assert 960 <= sum(world.EVERYWHERE in data["body"].split() for data in lines) <= 975


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Estate:
    return letters_estate(tmp_path_factory.mktemp("letters"))


@pytest.fixture(scope="module")
def agent(letters: Estate) -> Iterator[Agent]:
    with serving("product", letters.folder) as server, Client(server.port) as client:
        yield Agent(client, letters.token)


def test_two_letters_answer_to_the_invoice_one_by_its_title_alone(agent: Agent) -> None:
    seen = agent.call("search", {"query": "invoice 4471"})
    assert "in cin_work/messages:18c2f" in seen.text
    assert "cin_home/messages:77aa · matched in subject only" in seen.text
    assert len(orjson.loads(seen.structured)["results"]) == 2


def test_the_unique_word_stands_once_deep_in_one_long_line(agent: Agent) -> None:
    line = long_line()
    assert len(line) > 200_000
    assert "\n" not in line
    assert line.count(UNIQUE) == 1
    seen = agent.call("search", {"query": UNIQUE})
    assert all(TRANSCRIPT_ID in seen.half(half) and UNIQUE in seen.half(half) for half in HALVES)


def test_ten_hits_by_title_are_shown_at_once(agent: Agent) -> None:
    seen = agent.call("search", {"query": TITLED, "limit": 10})
    assert len(orjson.loads(seen.structured)["results"]) == 10


def test_a_hosted_search_finds_what_the_plain_one_finds(
    stock: Stock, clients: dict[str, Client]
) -> None:
    token, word = stock.tokens.third, world.RARE
    plain = orjson.loads(clients["product"].ask(get(f"/v1/search?q={word}&limit=10", token)))
    seen = Agent(clients["product"], token).call("search", {"query": word, "limit": 10})
    shown = [hit["id"] for hit in orjson.loads(seen.structured)["results"]]
    assert shown
    assert shown == [hit["id"] for hit in plain["data"]][: len(shown)]


def test_a_package_has_twenty_children_that_each_answer(
    stock: Stock, clients: dict[str, Client]
) -> None:
    agent = Agent(clients["product"], stock.tokens.package)
    index = agent.call("schema", {}).structured
    assert len(CHILDREN) == 20
    assert [child for child in CHILDREN if f'"{child}"' not in index] == []
    assert f'"{world.connection_id(20)}"' not in index
    for child in CHILDREN:
        seen = agent.call("search", {"query": world.COMMON, "connection_id": child, "limit": 1})
        assert f"{child}/" in seen.text


def test_the_tools_are_listed_for_clients_of_both_eras(agent: Agent) -> None:
    legacy, modern = (orjson.loads(agent.tools(version)) for version in (LEGACY, MODERN))
    assert legacy["tools"] == modern["tools"]
    assert "resultType" in modern.keys() - legacy.keys()


def test_a_refusal_is_not_measured(agent: Agent) -> None:
    with pytest.raises(Refused, match="not_found"):
        agent.call("fetch", {"id": "cin_work/messages:none"})
    with pytest.raises(Refused, match="Unknown tool"):
        result_of(agent.client.ask(calling(agent.token, "guess", {})))


def test_there_are_fifteen_journeys() -> None:
    assert len(journeys()) == 15
    assert all(journeys().values())


def test_a_cost_over_another_is_taken_round_by_round() -> None:
    assert Timing((), (3.0, 9.0, 5.0)).over(Timing((), (1.0, 8.0, 2.0))) == 2_000


def test_a_goal_is_a_most_or_a_least() -> None:
    words = {True: "met", False: "MISSED"}
    for value in (1.0, 2.0, 3.0):
        assert Row("a", value, "ms", 2.0, "").verdict == words[value <= 2]
        assert Row("a", value, "ms", 2.0, "", at_least=True).verdict == words[value >= 2]
    assert Row("a", 1.0, "ms", None, "").verdict == "–"


def test_a_table_lines_up() -> None:
    rows = [Row("page", 1.5, "×", 2.5, "n"), Row("ingest", 9000, "/s", 8000, "", at_least=True)]
    assert len({len(line) for line in table(rows).splitlines()}) == 1


def test_a_run_that_is_cut_has_told_what_it_measured(capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> Iterator[Row]:
        yield Row("page", 1.5, "×", 2.5, "two servers in turn")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        taken(rows())
    assert "page: 1.50 ×, met (two servers in turn)" in capsys.readouterr().err


@pytest.mark.parametrize("key", every_maker())
def test_an_export_of_the_benchmark_is_read_by_its_own_source(key: str, tmp_path: Path) -> None:
    path = every_maker()[key](tmp_path, 20)
    export = recognise_export(open_tree(path), OwnerChoices())
    assert export.source.connector_key == key
    assert read_alone(export, path) >= 1


def test_a_small_run_prints_and_writes_every_row(
    shelf: Path, stock: Stock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = shelf / "result.json"
    options = [f"--records={stock.world.records}", "--rounds=1", f"--folder={shelf}"]
    options += [f"--json={target}", *([] if SOAK else [f"--formats={FORMATS}"])]
    monkeypatch.setattr(sys, "argv", ["bench", *options])
    main()
    printed = capsys.readouterr().out
    rows = orjson.loads(target.read_bytes())["rows"]
    left_out = 0 if SOAK else len(every_maker()) - FORMATS
    assert len(rows) >= 117 - left_out
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert row["value"] > 0 or " over " in row["name"]
        assert f"| {row['name']} " in printed
    sums = {row["name"]: row for row in rows if row["parts"]}
    assert list(sums) == [f"15 journeys, {half} half" for half in HALVES]
    for row in sums.values():
        assert len(row["parts"]) == 15
        assert sum(row["parts"].values()) == row["value"]


def test_too_few_records_are_refused() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "bench", "--records", "10"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 2
    assert "--records is at least 3000" in run.stderr
