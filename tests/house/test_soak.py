"""The soak: that it asks for everything, tells what it sees, judges rightly and stops by itself."""

import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from bench.client import Client
from bench.process import serving
from bench.soak import Span, percentile, prepare, verdict
from bench.soak_callers import Log, call
from bench.soak_traffic import Ask, traffic
from bench.stock import Stock

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the soak reads /proc"),
    pytest.mark.xdist_group("bench"),
]

ROOT = Path(__file__).parents[2]


def test_every_kind_of_request_is_asked_and_answered_well(stock: Stock, tmp_path: Path) -> None:
    asks = traffic(stock, prepare(stock, tmp_path / "data"))
    first = {ask.kind: ask for ask in asks}
    kinds = {"page", "record", "window", "search", "aggregate", "schema", "MCP", "ingest"}
    assert first.keys() == kinds
    with serving("product", tmp_path / "data") as server, Client(server.port) as client:
        seen = {ask.request: ask for ask in asks if ask.kind != "ingest"}
        for ask in [*seen.values(), first["ingest"]]:
            body = client.ask(ask.request)
            assert ask.is_good(body), (ask.kind, body[:500])


def test_an_answer_that_is_wrong_inside_is_an_error(stock: Stock, tmp_path: Path) -> None:
    assert not Ask("MCP", b"").is_good(b'{"result":{"isError":true}}')
    assert not Ask("ingest", b"").is_good(b'{"records_rejected":2}')
    heard: list[str | None] = []
    with serving("product", stock.folder) as server:
        nowhere = Ask("page", b"GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
        call(server.port, [nowhere], 0.2, 50, lambda _due, _ms, error: heard.append(error))
    assert heard
    assert all(error is not None and "404" in error for error in heard)


def test_waiting_counts_from_when_a_request_was_due(stock: Stock) -> None:
    with serving("product", stock.folder) as server:
        ask = Ask("page", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        log = Log()
        started = time.perf_counter()
        call(server.port, [ask], 0.5, 100, lambda _, waited, error: log.add(waited, error))
        took = 1e3 * (time.perf_counter() - started)
    assert log.errors == []
    assert len(log.waited) == 50
    assert max(log.waited) < took


def span(waited: float, megabytes: float, *errors: str) -> Span:
    return Span(Log([waited] * 100, list(errors)), megabytes, 20, 1.0)


def verdicts(spans: list[Span], *failed: str) -> list[str]:
    return [row.verdict for row in verdict(spans, 1, failed) if row.goal is not None]


def test_a_run_that_stays_as_it_was_is_good() -> None:
    assert verdicts([span(2, 100), span(9, 130), span(2.9, 109)]) == ["met", "met", "met"]


def test_a_run_that_gets_slower_fatter_or_fails_is_not() -> None:
    assert verdicts([span(2, 100), span(2, 100), span(3.1, 100)]) == ["MISSED", "met", "met"]
    assert verdicts([span(2, 100), span(2, 100), span(2, 111)]) == ["met", "MISSED", "met"]
    spans = [span(2, 100), span(2, 100, "page: 500"), span(2, 100)]
    assert verdicts(spans) == ["met", "met", "MISSED"]
    assert verdicts([span(2, 100)] * 3, "an import failed") == ["met", "met", "MISSED"]


def test_a_percentile_of_nothing_is_nothing() -> None:
    assert percentile([], 99) == 0
    assert percentile([float(n) for n in range(100)], 99) == 99
    assert percentile([float(n) for n in range(100)], 50) == 50


def test_a_short_run_tells_every_part_judges_and_ends(shelf: Path, stock: Stock) -> None:
    target = shelf / "soak.json"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "bench.soak", "--minutes=0.1", "--measure=1", "--share=0.3"),
            *(f"--records={stock.world.records}", f"--folder={shelf}", f"--json={target}"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    result = orjson.loads(target.read_bytes())
    rows = {row["name"]: row for row in result["rows"]}
    assert rows["errors"]["value"] == 0, run.stdout + run.stderr
    assert len(result["spans"]) == 3
    assert all(part["requests"] and part["p99_ms"] and part["files"] for part in result["spans"])
    assert run.returncode == int(any(row["verdict"] == "MISSED" for row in rows.values()))
    assert "p99 ms" in run.stdout
    assert [path.name for path in shelf.iterdir() if path.name.startswith("tmp")] == []


@pytest.mark.parametrize("option", ["--minutes=0", "--share=2", "--records=5"])
def test_what_cannot_be_run_is_refused(option: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "bench.soak", option],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 2
    assert "error: --" in run.stderr
