"""The soak: that it asks for everything, tells what it sees, judges rightly and stops by itself."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from bench.client import Client
from bench.process import serving
from bench.soak import main, prepare
from bench.soak_callers import Log, call, percentile
from bench.soak_capacity import Unsustained, measure, sustained
from bench.soak_traffic import Ask, traffic
from bench.soak_verdict import Span, verdict
from bench.stock import Stock

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the soak reads /proc"),
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
    return Span(Log([waited] * 100, list(errors)), megabytes, 20, 1.0, 0.1)


def judged(spans: list[Span], *failed: str) -> dict[str, str]:
    return {row.name: row.verdict for row in verdict(spans, 1, failed, 10)}


def missed(spans: list[Span], *failed: str) -> list[str]:
    return [name for name, verdict in judged(spans, *failed).items() if verdict == "MISSED"]


STABLE, SHORT, LEAN, SOUND = (
    "p99 of a minute, last third against first",
    "p99 of a minute",
    "memory growth",
    "errors",
)


def test_a_run_that_stays_as_it_was_is_good() -> None:
    found = judged([span(2, 100), span(9, 130), span(2.9, 109)])
    assert {name for name, verdict in found.items() if verdict == "met"} == {
        STABLE,
        SHORT,
        LEAN,
        SOUND,
    }


def test_a_run_that_gets_slower_fatter_or_fails_is_not() -> None:
    assert missed([span(2, 100), span(2, 100), span(3.1, 100)]) == [STABLE]
    assert missed([span(2, 100), span(2, 100), span(2, 111)]) == [LEAN]
    assert missed([span(2, 100), span(2, 100, "page: 500"), span(2, 100)]) == [SOUND]
    assert missed([span(2, 100)] * 3, "an import failed") == [SOUND]


def test_a_run_whose_minutes_are_slow_throughout_is_not_good_for_being_stable() -> None:
    assert missed([span(10.1, 100)] * 6) == [SHORT]


def test_one_disturbed_minute_is_told_and_does_not_decide() -> None:
    spans = [span(2, 100)] * 8 + [span(900, 100)]
    assert missed(spans) == []
    rows = {row.name: row for row in verdict(spans, 1, (), 10)}
    assert rows["p99 of the worst minute"].value == 900
    assert rows["p99 of the worst minute"].note == "9 of 9"
    assert missed([*spans[:7], *[span(900, 100)] * 2]) == [STABLE]


def queue(capacity: float) -> Callable[[float, float], float]:
    """Return the p99 that a queue with random arrivals would have at a rate."""
    return lambda rate, _: 1e9 if rate >= capacity else 4_600 / (capacity - rate)


def test_the_capacity_is_the_highest_rate_with_short_waiting() -> None:
    found = sustained(queue(500), 500, 1, bound_ms=100)
    assert found == pytest.approx(500 - 46, rel=0.05)
    assert queue(500)(found, 1) <= 100


def test_a_rate_counts_as_too_high_only_when_it_is_so_twice() -> None:
    offered: list[float] = []

    def offer(rate: float, _seconds: float) -> float:
        offered.append(rate)
        return 1e9 if offered.count(rate) == 1 else queue(500)(rate, 1)

    assert sustained(offer, 500, 1, bound_ms=100) >= 400


def test_a_rate_that_does_not_hold_for_longer_is_lowered_until_it_does() -> None:
    offered: list[tuple[float, float]] = []

    def offer(rate: float, seconds: float) -> float:
        offered.append((rate, seconds))
        return queue(300 if seconds > 1 else 500)(rate, seconds)

    found = sustained(offer, 500, 1, bound_ms=100)
    assert 200 < found < 300 - 46
    assert offered[-1] == (found, 3)


def test_a_server_that_is_slow_at_any_rate_has_no_capacity() -> None:
    with pytest.raises(Unsustained, match="longer than 100 ms"):
        sustained(lambda *_: 101.0, 500, 1, bound_ms=100)


def test_a_server_sustains_no_more_than_it_answers_without_a_pause(stock: Stock) -> None:
    said: list[str] = []
    with serving("product", stock.folder) as server:
        ask = Ask("page", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        found = measure(server.port, [ask], 0.3, 5_000, said.append)
    assert 0 < found.sustained <= found.saturation
    assert any("p99" in line for line in said)


def test_a_percentile_of_nothing_is_nothing() -> None:
    assert percentile([], 99) == 0
    assert percentile([float(n) for n in range(100)], 99) == 99
    assert percentile([float(n) for n in range(100)], 50) == 50


def test_a_short_run_tells_every_part_judges_and_ends(shelf: Path, stock: Stock) -> None:
    target = shelf / "soak.json"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "bench.soak", "--minutes=0.05", "--measure=0.2"),
            *("--share=0.3", "--bound=5000", f"--records={stock.world.records}"),
            *(f"--folder={shelf}", f"--json={target}"),
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
    told = result["conditions"]
    assert 0 < told["sustained"] <= told["saturation"]
    assert told["rate"] == pytest.approx(0.3 * told["sustained"], abs=0.2)
    assert [path.name for path in shelf.iterdir() if path.name.startswith("tmp")] == []


@pytest.mark.parametrize("option", ["--minutes=0", "--share=2", "--bound=0", "--records=5"])
def test_what_cannot_be_run_is_refused(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.soak", option])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "error: --" in capsys.readouterr().err
