"""Grants and tokens as they are kept."""

from dataclasses import replace

import pytest
from tests.engine import revoke_grant, revoke_package
from tests.store.world import NOW, Clock, World, allow

from pdpp.model.grant import AccessMode, Grant, Interval, Package
from pdpp.store.port import Store
from pdpp.store.vault import Token

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
    world.store.vault.keep_grant(grant, [TOKEN])
    assert world.store.vault.grant("g1") == grant
    assert world.store.vault.token("h1") == TOKEN
    assert world.store.vault.grant("nowhere") is None
    assert world.store.vault.token("nowhere") is None


def test_grants_are_listed_oldest_first(world: World) -> None:
    for name, created in (("g2", 5), ("g3", 1), ("g1", 5)):
        world.store.vault.keep_grant(grant_of(world, name, created_at=created), [])
    assert [grant.id for grant in world.store.vault.grants()] == ["g3", "g1", "g2"]


def test_revoking_a_grant_revokes_its_tokens_and_no_others(world: World, clock: Clock) -> None:
    world.store.vault.keep_grant(grant_of(world), [TOKEN, replace(TOKEN, hash="h2")])
    world.store.vault.keep_token(replace(TOKEN, hash="h3", grant_id=None, kind="owner"))
    clock.pass_by()
    assert revoke_grant(world.store, "g1")
    revoked = world.store.vault.grant("g1")
    assert revoked is not None
    assert revoked.revoked_at == clock.now
    times = [getattr(world.store.vault.token(name), "revoked_at", 0) for name in ("h1", "h2", "h3")]
    assert times == [clock.now, clock.now, None]


def test_a_grant_is_revoked_once(world: World, clock: Clock) -> None:
    world.store.vault.keep_grant(grant_of(world), [])
    assert revoke_grant(world.store, "g1")
    first = world.store.vault.grant("g1")
    clock.pass_by()
    assert not revoke_grant(world.store, "g1")
    assert world.store.vault.grant("g1") == first
    assert not revoke_grant(world.store, "nowhere")


def test_a_grant_is_kept_with_all_its_tokens_or_not_at_all(world: World) -> None:
    world.store.vault.keep_token(TOKEN)
    with pytest.raises(Exception, match=r"(?i)unique"):
        world.store.vault.keep_grant(grant_of(world), [TOKEN])
    assert world.store.vault.grant("g1") is None


def test_a_token_may_end_by_itself(store: Store) -> None:
    token = Token("h9", "owner", "console", NOW, expires_at=NOW + 1)
    store.vault.keep_token(token)
    assert store.vault.token("h9") == token


PACKAGE = Package("p1", "app", NOW, NOW + 9)


def pack(world: World) -> list[Grant]:
    grants = [replace(grant_of(world, name), package_id="p1") for name in ("g1", "g2")]
    token = Token("h1", "mcp_package", "app", NOW, package_id="p1")
    world.store.vault.keep_package(PACKAGE, grants, [token])
    world.store.vault.keep_grant(grant_of(world, "g3"), [replace(TOKEN, hash="h3", grant_id="g3")])
    return grants


def test_a_package_comes_back_with_its_grants(world: World) -> None:
    grants = pack(world)
    assert world.store.vault.package("p1") == PACKAGE
    assert world.store.vault.package("nowhere") is None
    assert list(world.store.vault.package_grants("p1")) == grants
    assert list(world.store.vault.package_grants("nowhere")) == []


def test_revoking_a_package_revokes_its_grants_and_tokens_and_no_others(
    world: World, clock: Clock
) -> None:
    pack(world)
    clock.pass_by()
    assert revoke_package(world.store, "p1")
    assert world.store.vault.package("p1") == replace(PACKAGE, revoked_at=clock.now)
    assert {grant.id: grant.revoked_at for grant in world.store.vault.grants()} == {
        "g1": clock.now,
        "g2": clock.now,
        "g3": None,
    }
    times = [getattr(world.store.vault.token(name), "revoked_at", 0) for name in ("h1", "h3")]
    assert times == [clock.now, None]
    assert not revoke_package(world.store, "p1")
    assert not revoke_package(world.store, "nowhere")


def test_revoking_one_grant_of_a_package_leaves_the_others(world: World) -> None:
    pack(world)
    assert revoke_grant(world.store, "g1")
    left = [
        grant.id for grant in world.store.vault.package_grants("p1") if grant.revoked_at is None
    ]
    assert left == ["g2"]
    token = world.store.vault.token("h1")
    assert token is not None
    assert token.revoked_at is None
