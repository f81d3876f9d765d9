"""A server that dies in the middle of a stdio session is named, and used once it is back."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.cli.shell import Served, pdpp, serving
from tests.faults.soundness import check_sound
from tests.mcp.host import Host
from tests.mcp.test_connect import adapter, shelf

QUERY = {"query": "kiln"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    shelf(tmp_path / "data").close()
    return tmp_path / "data"


@pytest.fixture
def token(data: Path) -> str:
    ask = ("grant", "create", "--client", "a", "--purpose", "b", "--everything", "--json")
    return str(pdpp(*ask, data=data).document["client_token"])


@contextmanager
def back(served: Served, notes: Path) -> Iterator[Served]:
    """Start a server where another one was."""
    port = str(urlsplit(served.url).port)
    with serving(served.data, notes, "--port", port) as again:
        assert again.url == served.url
        yield again


def kill(served: Served) -> None:
    served.process.send_signal(signal.SIGKILL)
    served.process.wait()


def test_a_killed_server_is_named_and_read_again_once_it_is_back(
    data: Path, token: str, tmp_path: Path
) -> None:
    with (
        serving(data, tmp_path / "one") as served,
        adapter(served.url, tmp_path / "root", token) as wire,
    ):
        host = Host(wire)
        found = host.good("search", QUERY).structured["results"]
        for number in range(3):
            kill(served)
            error = host.refused("server_unreachable", "search", QUERY)
            assert served.url in error["message"]
            host.refused("server_unreachable", "schema")
            with back(served, tmp_path / f"again {number}") as again:
                assert host.good("search", QUERY).structured["results"] == found
                kill(again)
    check_sound(data)


def test_a_call_that_is_under_way_when_its_server_is_killed_is_answered_with_an_error(
    data: Path, token: str, tmp_path: Path
) -> None:
    with (
        serving(data, tmp_path / "one") as served,
        adapter(served.url, tmp_path / "root", token) as wire,
    ):
        host = Host(wire)
        host.good("search", QUERY)
        served.process.send_signal(signal.SIGSTOP)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(host.refused, "server_unreachable", "search", QUERY)
            with pytest.raises(TimeoutError):
                asked.result(timeout=0.3)
            kill(served)
            assert served.url in asked.result()["message"]
        with back(served, tmp_path / "again"):
            host.good("search", QUERY)
