"""The private parts of uvicorn that the defences against slow clients lean on are still there."""

import asyncio
import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import uvicorn
from packaging.requirements import Requirement
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from pdpp.serving.framing import BoundedProtocol
from pdpp.serving.process import configure
from pdpp.serving.slow_clients import ClientConnection, GuardedServer

OVERRIDDEN = (
    "data_received",
    "resume_writing",
    "on_headers_complete",
    "on_body",
    "on_message_complete",
    "on_response_complete",
    "send_400_response",
    "eof_received",
    "connection_lost",
)
WRITTEN_TO = ("disconnected", "message_event", "response_complete", "more_body")


def test_the_uvicorn_in_use_is_one_that_was_tried() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    wanted = [Requirement(text) for text in project["dependencies"]]
    (range_,) = [requirement for requirement in wanted if requirement.name == "uvicorn"]
    operators = {specifier.operator for specifier in range_.specifier}
    assert operators == {">=", "<"}, "name the first version that was not tried too"
    assert version("uvicorn") in range_.specifier


@pytest.mark.parametrize("method", OVERRIDDEN)
def test_what_is_overridden_is_called_by_uvicorn_under_that_name(method: str) -> None:
    ours, theirs = getattr(ClientConnection, method), getattr(HttpToolsProtocol, method)
    assert ours is not theirs
    parameters = inspect.signature(theirs).parameters
    assert list(inspect.signature(ours).parameters) == list(parameters)


def test_a_connection_has_the_parts_that_are_looked_at() -> None:
    async def check() -> None:
        config = configure(None)
        config.load()
        assert config.http_protocol_class is ClientConnection
        connection = ClientConnection(config, ServerState(), {}, asyncio.get_running_loop())
        assert vars(connection)["cycle"] is None
        assert list(connection.pipeline) == []
        assert isinstance(connection, BoundedProtocol)
        for name in ("flow", "transport"):
            assert hasattr(connection, name), name
        begun = inspect.getsource(HttpToolsProtocol.on_message_begin)
        assert "self.url" in begun
        assert "self.headers" in begun

    asyncio.run(check())


def test_a_request_under_way_has_the_parts_that_end_it() -> None:
    source = inspect.getsource(RequestResponseCycle.__init__)
    for name in WRITTEN_TO:
        assert f"self.{name}" in source, name


def test_a_server_ticks_ten_times_a_second_and_knows_its_connections() -> None:
    server = GuardedServer(configure(None))
    assert server.server_state.connections == set()
    assert inspect.iscoroutinefunction(uvicorn.Server.on_tick)
    assert "asyncio.sleep(0.1)" in inspect.getsource(uvicorn.Server.main_loop)
