from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mcp.client import HOSTED, KINDS, Client, Estate, estate
from tests.mcp.closure import Closure
from tests.mcp.launch import Server, find_judges
from tests.mcp.post import post_store
from tests.mcp.sight import HOSTS, Agent
from tests.mcp.wide import wide_store
from tests.serving import grant, seeded_store

from pdpp.mcp.reading import package


@pytest.fixture(autouse=True)
def patient_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the grants of a package take their time: a loaded machine is no slow grant.

    A test of the deadlines sets them itself.
    """
    for deadline in ("TOGETHER_SECONDS", "CHILD_SECONDS", "ALL_SECONDS", "PAGE_SECONDS"):
        monkeypatch.setattr(package, deadline, 60.0)


@pytest.fixture(scope="session")
def http_url() -> Iterator[str]:
    """The address of a fixture server over HTTP."""
    with Server("http") as server:
        line = server.output.next()
        assert line is not None
        yield line.decode()


@pytest.fixture(scope="session")
def judges() -> Path:
    """The folder of the official programs that judge the kernel."""
    return find_judges()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    """The demo world, only to be read."""
    folder = tmp_path_factory.mktemp("demo-estate")
    with estate(seeded_store(folder / "store"), folder) as made:
        yield made


@pytest.fixture(scope="session")
def demo_token(demo: Estate) -> str:
    """A token that opens the whole demo world."""
    return grant(demo.store)


@pytest.fixture(scope="session")
def demo_package(demo: Estate) -> str:
    """A package token that opens the whole demo world, a grant for each connection."""
    return demo.package()[0]


@pytest.fixture(scope="session")
def demo_closure(demo: Estate) -> Closure:
    """What checks that everything shown of the demo world leads somewhere."""
    return Closure(demo)


@pytest.fixture(params=KINDS)
def client(
    request: pytest.FixtureRequest, demo: Estate, demo_token: str, demo_closure: Closure
) -> Iterator[Client]:
    """A client of the whole demo world; whatever it was shown must be callable."""
    made = demo.client(request.param, demo_token)
    made.seen.clear()
    yield made
    demo_closure.check(made)


@pytest.fixture(params=HOSTS, ids="-".join)
def agent(
    request: pytest.FixtureRequest, demo: Estate, demo_token: str, demo_closure: Closure
) -> Iterator[Agent]:
    """A model behind a blind host; whatever it was shown of the demo world must be callable."""
    yield from _beheld(request.param, demo, demo_token, demo_closure)


def _beheld(
    host: tuple[str, str], demo: Estate, token: str, demo_closure: Closure
) -> Iterator[Agent]:
    sight, kind = host
    client = demo.client(kind, token)
    client.seen.clear()
    yield Agent(client, sight)
    demo_closure.check(client)


@pytest.fixture(scope="session")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    """The post and the diary; tests may add to it under keys of their own."""
    folder = tmp_path_factory.mktemp("post-estate")
    with estate(post_store(folder / "store"), folder) as made:
        yield made


@pytest.fixture(scope="session")
def post_token(post: Estate) -> str:
    """A token that opens all of the post and the diary."""
    return grant(post.store)


@pytest.fixture(params=KINDS)
def postman(request: pytest.FixtureRequest, post: Estate, post_token: str) -> Client:
    """A client of all the post and the diary."""
    return post.client(request.param, post_token)


@pytest.fixture(params=HOSTS, ids="-".join)
def correspondent(request: pytest.FixtureRequest, post: Estate, post_token: str) -> Agent:
    """A model that reads the post, behind a blind host."""
    sight, kind = request.param
    return Agent(post.client(kind, post_token), sight)


@pytest.fixture(params=[host for host in HOSTS if host[1] in HOSTED], ids="-".join)
def packaged(
    request: pytest.FixtureRequest, demo: Estate, demo_package: str, demo_closure: Closure
) -> Iterator[Agent]:
    """A model under a package token, behind a blind host."""
    yield from _beheld(request.param, demo, demo_package, demo_closure)


@pytest.fixture(scope="session")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    """A server of 200 streams on 40 connections."""
    folder = tmp_path_factory.mktemp("wide")
    with estate(wide_store(folder / "store"), folder) as made:
        yield made
