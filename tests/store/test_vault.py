"""Grants and tokens as they are kept."""

from dataclasses import replace

import pytest
from tests.store.world import NOW, Clock, World, allow

from pdpp.model.grant import AccessMode, Grant, Interval
from pdpp.store.port import Store, Token

TOKEN = Token("h1", "client", "app", NOW, grant_id="g1")


def grant_of(world: World, name: str = "g1", **members: int) -> Grant:
    allowances = (
        allow(world),
        allow(
            world, fields=("id",), whole=False, time=Interval(None, 5), keys=frozenset({"b", "a"})
        ),
    )
    made = Grant(name, "app", "to read", AccessMode.SINGLE_USE, allowances, NOW)
    return replace(made, **members)  # type: ignore[arg-type]


def test_a_grant_comes_back_as_it_was_kept(world: World) -> None:
    grant = grant_of(world, expires_at=NOW + 9)
    world.store.add_grant(grant, [TOKEN])
    assert world.store.grant("g1") == grant
    assert world.store.token("h1") == TOKEN
    assert world.store.grant("nowhere") is None
    assert world.store.token("nowhere") is None


def test_grants_are_listed_oldest_first(world: World) -> None:
    for name, created in (("g2", 5), ("g3", 1), ("g1", 5)):
        world.store.add_grant(grant_of(world, name, created_at=created), [])
    assert [grant.id for grant in world.store.grants()] == ["g3", "g1", "g2"]


def test_revoking_a_grant_revokes_its_tokens_and_no_others(world: World, clock: Clock) -> None:
    world.store.add_grant(grant_of(world), [TOKEN, replace(TOKEN, hash="h2")])
    world.store.add_token(replace(TOKEN, hash="h3", grant_id=None, kind="owner"))
    clock.pass_by()
    assert world.store.revoke_grant("g1")
    revoked = world.store.grant("g1")
    assert revoked is not None
    assert revoked.revoked_at == clock.now
    times = [getattr(world.store.token(name), "revoked_at", 0) for name in ("h1", "h2", "h3")]
    assert times == [clock.now, clock.now, None]


def test_a_grant_is_revoked_once(world: World, clock: Clock) -> None:
    world.store.add_grant(grant_of(world), [])
    assert world.store.revoke_grant("g1")
    first = world.store.grant("g1")
    clock.pass_by()
    assert not world.store.revoke_grant("g1")
    assert world.store.grant("g1") == first
    assert not world.store.revoke_grant("nowhere")


def test_a_grant_is_kept_with_all_its_tokens_or_not_at_all(world: World) -> None:
    world.store.add_token(TOKEN)
    with pytest.raises(Exception, match="UNIQUE"):
        world.store.add_grant(grant_of(world), [TOKEN])
    assert world.store.grant("g1") is None


def test_a_token_may_end_by_itself(store: Store) -> None:
    token = Token("h9", "owner", "console", NOW, expires_at=NOW + 1)
    store.add_token(token)
    assert store.token("h9") == token
