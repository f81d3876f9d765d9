"""The tree of routes finds what the framework's own router finds by trying every route."""

from pathlib import Path

import pytest
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send
from tests.serving import World

from pdpp.app import make_app
from pdpp.service.routing import RouteTree

PARTS = ("", "v1", "streams", "records", "import", "uploads", "report", "search", "a b", "é", "{x}")


class Endpoint:
    """Answers nothing: only its route is looked for."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


def tried(routes: list[Route], path: str) -> tuple[str, dict[str, str]] | None:
    """Return the first route that takes a path by its own pattern, with its parameters."""
    scope = {"type": "http", "method": "GET", "path": path, "root_path": ""}
    for route in routes:
        match, child = route.matches(scope)
        if match is Match.FULL:
            return route.path, child["path_params"]
    return None


def found(tree: RouteTree, path: str) -> tuple[str, dict[str, str]] | None:
    match = tree.find(path)
    return None if match is None else (match[0].path, match[1])


def test_every_path_finds_the_route_that_trying_each_finds(demo: World, tmp_path: Path) -> None:
    app = make_app(demo.store, data=tmp_path)
    routes = [route for route in app.routes if isinstance(route, Route)]
    tree = RouteTree(routes)
    paths = {route.path for route in routes}
    paths |= {path.replace("{", "").replace("}", "") for path in set(paths)}
    paths |= {f"{path}{end}" for path in set(paths) for end in ("/", "/x", "//", "/records/y")}
    paths |= {path.removeprefix("/") for path in set(paths)} | {"", "*", "//", "/%2F"}
    paths |= {f"/{a}/{b}/{c}" for a in PARTS for b in PARTS for c in PARTS}
    assert len(paths) > 1_500
    for path in paths:
        assert found(tree, path) == tried(routes, path), path


def test_a_named_part_goes_before_a_parameter_and_gives_way_where_it_leads_nowhere() -> None:
    tree = RouteTree([Route("/a/{b}", Endpoint()), Route("/a/b/c", Endpoint())])
    assert found(tree, "/a/b") == ("/a/{b}", {"b": "b"})
    assert found(tree, "/a/b/c") == ("/a/b/c", {})
    assert found(tree, "/a/x/c") is None
    assert found(tree, "/a/") is None


def test_two_routes_of_one_path_are_refused() -> None:
    with pytest.raises(ValueError, match="another route"):
        RouteTree([Route("/a/{b}", Endpoint()), Route("/a/{c}", Endpoint())])


def test_a_route_that_leaves_methods_to_the_router_is_refused() -> None:
    with pytest.raises(TypeError, match="methods"):
        RouteTree([Route("/a", Endpoint(), methods=["GET"])])
