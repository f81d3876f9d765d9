"""The benchmark itself: that it runs, and that what it compares is comparable."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest
from bench import measures, world
from bench.client import BadAnswer, Client, get
from bench.process import serving
from bench.report import Row, table
from bench.stock import Stock, open_stock

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmark reads /proc"),
    pytest.mark.xdist_group("bench"),
]

ROOT = Path(__file__).parents[2]
RECORDS = 3_000


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def stock(shelf: Path) -> Stock:
    return open_stock(shelf, RECORDS, fresh=False, say=lambda _: None)


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
    assert open_stock(shelf, RECORDS, fresh=False, say=pytest.fail) == stock


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


def test_a_goal_is_a_most_or_a_least() -> None:
    words = {True: "met", False: "MISSED"}
    for value in (1.0, 2.0, 3.0):
        assert Row("a", value, "ms", 2.0, "").verdict == words[value <= 2]
        assert Row("a", value, "ms", 2.0, "", at_least=True).verdict == words[value >= 2]
    assert Row("a", 1.0, "ms", None, "").verdict == "–"


def test_a_table_lines_up() -> None:
    rows = [Row("page", 1.5, "×", 2.5, "n"), Row("ingest", 9000, "/s", 8000, "", at_least=True)]
    assert len({len(line) for line in table(rows).splitlines()}) == 1


def test_a_small_run_prints_and_writes_every_row(shelf: Path) -> None:
    target = shelf / "result.json"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "bench", f"--records={RECORDS}", "--rounds=1"),
            *(f"--folder={shelf}", f"--json={target}"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    rows = orjson.loads(target.read_bytes())["rows"]
    assert len(rows) == 23
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert row["value"] > 0
        assert f"| {row['name']} " in run.stdout


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
