"""Ambiguity: a package of several sources asks which one is meant, without asking them."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.mcp.client import HOSTED, KINDS, TRANSPORTS, Estate, compact, estate
from tests.mcp.post import DIARY, FIRST, SECOND, declaration
from tests.mcp.recorder import Sent
from tests.mcp.shelf import NOTES
from tests.mcp.sight import see
from tests.serving import planted_store

from pdpp.authz.selection import Selection


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    """A server of one source with twenty connections."""
    folder = tmp_path_factory.mktemp("crowd")
    connections = {f"cin_{number:02}": f"Shelf {number:02}" for number in range(20)}
    store = planted_store(folder / "store", declaration("shelf", NOTES), connections)
    with estate(store, folder) as made:
        yield made


@pytest.mark.scenario("S036", 1, 2, 3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("query_records", {"stream": "letters"}),
        ("aggregate", {"stream": "letters", "metric": "count"}),
        ("fetch", {"id": "letters:same"}),
        ("read_record_field", {"id": "letters:same", "field_path": "body"}),
        ("schema", {"stream": "letters", "detail": "full"}),
    ],
)
def test_a_package_of_several_sources_asks_which_without_asking_them(
    post: Estate, kind: str, tool: str, arguments: dict[str, Any]
) -> None:
    token, grants = post.package()
    client = post.client(kind, token)
    with post.recorder.listening() as sent:
        found = client.refused("ambiguous_connection", tool, arguments)
    assert_no_child_asked(kind, sent)
    error = found.structured["error"]
    assert error["retry_with"] == "connection_id"
    offered = {choice["connection_id"]: choice for choice in error["available_connections"]}
    assert set(offered) == {FIRST, SECOND}
    for connection_id, choice in offered.items():
        assert choice["grant_id"] == grants[connection_id]
        assert choice["connector_key"] == "post"
    assert (error["total"], error["truncated"]) == (2, False)
    for sight in ("content", "structured"):
        chosen = see(found, sight).shown(tool, holding=SECOND)
        client.good(chosen.tool, chosen.arguments)


def assert_no_child_asked(kind: str, sent: list[Sent]) -> None:
    """Check that the hosted endpoint asked nothing, and the local process no single grant."""
    assert [one.grant_id for one in sent] == ([] if kind in HOSTED else [None])


@pytest.mark.scenario("S036", 1, 2, 3, 4)
@pytest.mark.parametrize("kind", TRANSPORTS)
def test_a_large_package_offers_a_few_and_points_at_the_index(crowd: Estate, kind: str) -> None:
    token, grants = crowd.package()
    client = crowd.client(kind, token)
    with crowd.recorder.listening() as sent:
        found = client.refused("ambiguous_connection", "query_records", {"stream": "notes"})
    assert_no_child_asked(kind, sent)
    error = found.structured["error"]
    assert error["retry_with"] == "connection_id"
    assert len(error["available_connections"]) == 12
    for choice in error["available_connections"]:
        assert choice["grant_id"] == grants[choice["connection_id"]]
        assert choice["connector_key"] == "shelf"
    assert (error["total"], error["truncated"]) == (20, True)
    assert "schema {}" in found.text
    assert "total: 20" in found.text
    assert len(found.text) <= 4_000
    assert len(compact(found.structured)) <= 4_000


@pytest.mark.scenario("S036")
def test_a_package_of_one_source_is_not_ambiguous(post: Estate) -> None:
    token, _ = post.package(Selection(connections=(DIARY,)))
    found = post.client("http-modern", token).good("query_records", {"stream": "pages"})
    assert see(found, "content").ids == (f"{DIARY}/pages:p-1",)
