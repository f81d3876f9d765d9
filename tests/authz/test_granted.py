from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine import open_store
from tests.store.world import NOW, Clock, World, allow, declare, stream

from pdpp.authz.granted import granted_details
from pdpp.model import instant
from pdpp.model.grant import AccessMode, Allowance, Grant, Interval


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A store with connections of two sources."""
    clock = Clock()
    world = World(open_store(tmp_path, clock), clock).settle()
    yield world.settle(declare(stream("notes"), key="notes"), "c2")
    world.store.close()


def grant_of(*allowances: Allowance) -> Grant:
    return Grant("g1", "app", "to read", AccessMode.CONTINUOUS, allowances, NOW)


def test_a_grant_is_told_in_the_form_it_is_asked_for(world: World) -> None:
    catalogue = world.store.catalogue()
    limited = allow(
        world,
        fields=("id", "subject"),
        whole=False,
        time=Interval(NOW, None),
        keys=frozenset({"b", "a"}),
    )
    (told,) = granted_details([grant_of(limited)], catalogue)
    source = catalogue.sources[catalogue.connections["c1"].connector_key]
    assert told == {
        "type": "https://pdpp.dev/data-access",
        "source": source.source_id,
        "purpose_description": "to read",
        "access_mode": "continuous",
        "streams": [
            {
                "name": "messages",
                "connection_ids": ["c1"],
                "fields": ["id", "subject"],
                "time_range": {"since": instant.to_text(NOW)},
                "resources": ["a", "b"],
            }
        ],
    }


def test_each_source_has_an_object_of_its_own(world: World) -> None:
    first = allow(world)
    second = replace(first, connection_id="c2", stream="notes")
    told = granted_details([grant_of(second, first)], world.store.catalogue())
    assert sorted(one["streams"][0]["name"] for one in told) == ["messages", "notes"]
    assert len({one["source"] for one in told}) == 2


def test_what_no_longer_exists_is_not_told(world: World) -> None:
    gone = replace(allow(world), connection_id="gone")
    assert granted_details([grant_of(gone)], world.store.catalogue()) == []
