from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.world import ENGINES, NOW, Clock, World, declare, stream

from pdpp.authz.selection import Selection, make_grant, make_package, resolve
from pdpp.authz.token import hash_token
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import AccessMode, Allowance, Interval

VIEWS = [{"id": "brief", "label": "Brief", "fields": ["id", "subject"]}]


@pytest.fixture(scope="module", params=ENGINES)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Mail with dated and undated streams on two connections, and a source of notes."""
    clock = Clock()
    store = ENGINES[request.param](Path(tmp_path_factory.mktemp("data")), clock)
    world = World(store, clock)
    properties = {"id": {"type": "string"}, "title": {"type": "string"}}
    labels = stream("labels", properties, {}, consent_time_field=None)
    world.settle(declare(stream(views=VIEWS), labels), "work", "home")
    world.settle(declare(stream("notes"), key="notes"), "diary")
    yield world
    store.close()


def chosen(world: World, **choice: object) -> tuple[Allowance, ...]:
    return resolve(Selection(**choice), world.store.catalogue())  # type: ignore[arg-type]


def opened(world: World, **choice: object) -> list[tuple[str, str]]:
    return [(found.connection_id, found.stream) for found in chosen(world, **choice)]


def test_an_empty_selection_opens_everything(world: World) -> None:
    assert opened(world) == [
        ("diary", "notes"),
        ("home", "labels"),
        ("home", "messages"),
        ("work", "labels"),
        ("work", "messages"),
    ]
    for allowance in chosen(world):
        feed = world.feed(allowance.connection_id, allowance.stream)
        assert allowance.fields == tuple(feed.stream.fields)
        assert allowance.whole
        assert (allowance.time, allowance.keys) == (None, None)
        declaration = world.store.catalogue().sources[feed.connection.connector_key]
        assert allowance.revision == declaration.revision


def test_connections_and_streams_narrow_each_other(world: World) -> None:
    assert opened(world, connections=("work",)) == [("work", "labels"), ("work", "messages")]
    assert opened(world, streams=("messages",)) == [("home", "messages"), ("work", "messages")]
    both = {"connections": ("work", "diary"), "streams": ("messages", "notes")}
    assert opened(world, **both) == [("diary", "notes"), ("work", "messages")]


@pytest.mark.parametrize(
    ("choice", "param", "name"),
    [
        ({"connections": ("work", "nope")}, "connection", "nope"),
        ({"streams": ("nope",)}, "stream", "nope"),
        ({"connections": ("work",), "streams": ("notes",)}, "stream", "notes"),
        ({"fields": ("subject", "nope")}, "fields", "nope"),
        ({"streams": ("labels",), "fields": ("subject",)}, "fields", "subject"),
        ({"view": "nope"}, "view", "nope"),
        ({"streams": ("labels",), "view": "brief"}, "view", "brief"),
        ({"fields": ("id",), "view": "brief"}, "view", "not both"),
    ],
)
def test_a_choice_of_what_there_is_not_is_refused_by_name(
    world: World, choice: dict[str, object], param: str, name: str
) -> None:
    with pytest.raises(InvalidRequest, match=name) as refused:
        chosen(world, **choice)
    assert refused.value.param == param


def test_fields_are_opened_in_declared_order_where_a_stream_has_them(world: World) -> None:
    found = chosen(world, connections=("work",), fields=("title", "subject", "at"))
    assert [(item.stream, item.fields, item.whole) for item in found] == [
        ("labels", ("title",), False),
        ("messages", ("subject", "at"), False),
    ]


def test_a_stream_without_any_of_the_fields_is_left_out(world: World) -> None:
    assert opened(world, connections=("work",), fields=("subject",)) == [("work", "messages")]


def test_a_view_opens_its_fields_on_the_streams_that_have_it(world: World) -> None:
    found = chosen(world, view="brief")
    assert [(item.connection_id, item.fields, item.whole) for item in found] == [
        ("home", ("id", "subject"), False),
        ("work", ("id", "subject"), False),
    ]


def test_a_time_range_leaves_out_streams_without_a_consent_time(world: World) -> None:
    time = Interval(0, None)
    found = chosen(world, connections=("work",), time=time)
    assert [(item.stream, item.time) for item in found] == [("messages", time)]


def test_keys_limit_every_stream_that_is_opened(world: World) -> None:
    found = chosen(world, streams=("messages",), keys=("a", "b", "a"))
    assert [item.keys for item in found] == [frozenset({"a", "b"})] * 2


def test_a_selection_that_opens_nothing_is_refused(world: World) -> None:
    with pytest.raises(InvalidRequest, match="open nothing"):
        chosen(world, streams=("labels",), time=Interval(0, None))


def test_a_grant_is_made_with_one_token_bound_to_it(world: World) -> None:
    allowances = chosen(world)
    grant, secret, token = make_grant(
        allowances, client_id="app", purpose="to help", now=NOW, expires_at=NOW + 5
    )
    assert grant.allowances == allowances
    assert (grant.client_id, grant.purpose) == ("app", "to help")
    assert (grant.created_at, grant.expires_at, grant.revoked_at) == (NOW, NOW + 5, None)
    assert grant.access_mode is AccessMode.CONTINUOUS
    assert token.hash == hash_token(secret)
    assert (token.kind, token.grant_id, token.expires_at) == ("client", grant.id, NOW + 5)
    other, _, _ = make_grant(allowances, client_id="app", purpose="", now=NOW)
    assert other.id != grant.id


def test_a_package_holds_one_grant_for_each_connection(world: World) -> None:
    package, grants, secret, token = make_package(
        chosen(world), client_id="app", purpose="to help", now=NOW, expires_at=NOW + 5
    )
    assert [{found.connection_id for found in grant.allowances} for grant in grants] == [
        {"diary"},
        {"home"},
        {"work"},
    ]
    assert len({grant.id for grant in grants}) == 3
    assert {grant.package_id for grant in grants} == {package.id}
    assert (package.client_id, package.created_at, package.expires_at) == ("app", NOW, NOW + 5)
    assert token.hash == hash_token(secret)
    assert (token.kind, token.package_id, token.grant_id) == ("mcp_package", package.id, None)
