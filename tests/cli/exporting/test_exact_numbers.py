"""A decimal of 18 digits keeps its digits: in, out by every way there is, and in again."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import httpx
import orjson
import pytest
from tests.cli.reading.desk import Desk, at_desk
from tests.cli.shell import pdpp_here
from tests.mcp.client import StdioWire, connect_to, open_wire
from tests.promises.messages import tool_call
from tests.resource.library import book, library_store
from tests.serving import World, living

PRICES = (
    "123456789012.345677", "123456789012.345678", "123456789012.345679", "-0.000123456789012345678",
    "1.23456789012345678e+99", "18014398509481985.5", "0.3", "7",
)  # fmt: skip
"""In an order that is none; the first three stand next to the same float."""
BOOKS = "/v1/streams/books/records"
HOME = {"connection_id": "home"}
KEYS = {f"x{at}": price for at, price in enumerate(PRICES)}
IN_ORDER = sorted(KEYS, key=lambda key: Decimal(KEYS[key]))


def lines() -> list[bytes]:
    data = {"published": "1999-09-09", "price": 4711.25, "extra": {"e": 1}}
    return [
        orjson.dumps({"key": key, "data": book(key, 9, **data)})
        .replace(b"4711.25", price.encode())
        .replace(b'"e":1', b'"e":0.100000000000000006')
        for key, price in KEYS.items()
    ]


def ingest(owner: httpx.Client, body: bytes) -> dict[str, object]:
    answer = owner.post("/v1/ingest/books", params=HOME, content=body)
    told: dict[str, object] = answer.json()
    assert not told["rejections"], told
    return told


@dataclass(frozen=True, slots=True)
class Shelf:
    """A library with such prices, and somebody who may read it."""

    world: World
    desk: Desk
    folder: Path

    def prices(self, **params: str) -> list[str]:
        """Return the digits of the prices of a page, as they stand in its bytes."""
        asked = {**HOME, "limit": "100", "filter[published]": "1999-09-09", **params}
        body = self.desk.get(BOOKS, **asked).text
        rows = json.loads(body, parse_float=str, parse_int=str)["data"]
        return [row["data"]["price"] for row in rows]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    folder = tmp_path_factory.mktemp("exact")
    with living(library_store(folder / "data")) as world:
        body = b"\n".join(lines())
        ingest(world.owner(), body)
        again = ingest(world.owner(), body.replace(b"0.3,", b"0.30,"))
        assert (again["records_unchanged"], again["records_changed"]) == (len(PRICES), 0)
        yield Shelf(world, at_desk(world, folder / "cache"), folder)


def test_prices_are_sorted_and_printed_to_the_last_digit(shelf: Shelf) -> None:
    wanted = [KEYS[key] for key in IN_ORDER]
    assert shelf.prices(sort="price") == wanted
    assert shelf.prices(sort="-price") == wanted[::-1]
    pages: list[str] = []
    cursor: dict[str, str] = {}
    for _ in PRICES:
        asked = {**HOME, "limit": "1", "sort": "price", "filter[published]": "1999-09-09"}
        page = json.loads(
            shelf.desk.get(BOOKS, **asked, **cursor).text, parse_float=str, parse_int=str
        )
        pages += [row["data"]["price"] for row in page["data"]]
        cursor = {"cursor": page.get("next_cursor", "")}
    assert pages == wanted


@pytest.mark.parametrize("bound", ["123456789012.345678", "18014398509481985", "0.3", "-1e-4"])
def test_filters_compare_to_the_last_digit(shelf: Shelf, bound: str) -> None:
    wanted = [KEYS[key] for key in IN_ORDER]
    limit = Decimal(bound)
    kept = shelf.prices(sort="price", **{"filter[price][gte]": bound})
    assert kept == [price for price in wanted if Decimal(price) >= limit]
    below = shelf.prices(sort="price", **{"filter[price][lt]": bound})
    assert below == [price for price in wanted if Decimal(price) < limit]
    same = shelf.prices(**{"filter[price]": bound})
    assert same == [price for price in wanted if Decimal(price) == limit]


def test_sums_and_ends_are_exact(shelf: Shelf) -> None:
    def value(metric: str, **more: str) -> object:
        asked = {**HOME, "metric": metric, "field": "price", "filter[published]": "1999-09-09"}
        answer = shelf.desk.get("/v1/streams/books/aggregate", **asked, **more)
        return answer.json()["value"]

    low = {"filter[price][lt]": "1e20", "filter[price][gte]": "1"}
    wanted = [Decimal(price) for price in PRICES if 1 <= Decimal(price) < Decimal("1e20")]
    assert Decimal(str(value("sum", **low))) == sum(wanted)
    assert value("max") == "1.23456789012345678e+99"
    assert value("max", **low) == "18014398509481985.5"
    assert value("min") == "-0.000123456789012345678"


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_both_halves_of_a_tool_print_every_digit(shelf: Shelf, era: str) -> None:
    price = PRICES[1]
    arguments = {"stream": "books", **HOME, "filter": {"price": 4711.25}}
    message = tool_call("query_records", arguments, era)
    body = message.body().replace(b"4711.25", price.encode())
    headers = {**message.headers(), "Authorization": f"Bearer {shelf.desk.token}"}
    url = f"{shelf.desk.url}/mcp"
    answer = httpx.post(url, content=body, headers=headers, trust_env=False, timeout=30).text
    result = json.loads(answer, parse_float=str)["result"]
    (record,) = result["structuredContent"]["data"]["data"]
    assert record["data"]["price"] == price
    assert record["data"]["extra"] == {"e": "0.100000000000000006"}
    assert price in result["content"][0]["text"]


def test_the_adapter_prints_every_digit(shelf: Shelf) -> None:
    root = connect_to(shelf.desk.url, shelf.folder / "adapter", shelf.desk.token)
    wire = StdioWire(shelf.desk.url, root, "2025-06-18")
    try:
        open_wire(wire, "2025-06-18")
        call = {"name": "fetch", "arguments": {"id": "home/books:x1"}}
        wire.write({"jsonrpc": "2.0", "id": "raw", "method": "tools/call", "params": call})
        line = wire._lines.next() or b""
        assert line.count(PRICES[1].encode()) >= 2
        assert json.loads(line)["id"] == "raw"
    finally:
        wire.close()


def test_reads_print_every_digit(shelf: Shelf) -> None:
    for words in (
        ("records", "books", "--connection=home", f"--filter=price={PRICES[1]}"),
        ("fetch", "home/books:x1"),
    ):
        for form in (("--json",), ()):
            assert PRICES[1] in shelf.desk.read(*words, *form)
    window = shelf.desk.get(f"{BOOKS}/x1/field-window", **HOME, field="price").json()["window"]
    assert window["text"] == PRICES[1]


def test_an_export_and_its_restore_keep_every_digit(shelf: Shelf, tmp_path: Path) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    (tmp_path / "token").write_text(shelf.world.owner().headers["Authorization"].split()[1])
    where = ("--provider", shelf.desk.url, "--token-file", tmp_path / "token")
    assert pdpp_here("export", "--all", *where, "-o", out).code == 0
    assert pdpp_here("restore", out, data=new).code == 0
    again = tmp_path / "again"
    assert pdpp_here("export", "--all", "--data", new, "-o", again).code == 0
    kept = {
        line["key"]: line["data"]["price"]
        for path in again.rglob("books*")
        if path.is_file()
        for text in path.read_text().splitlines()
        for line in [json.loads(text, parse_float=str, parse_int=str)]
        if line["key"] in KEYS
    }
    assert kept == KEYS
