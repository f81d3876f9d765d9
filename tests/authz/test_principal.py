from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine import revoke_grant, revoke_package
from tests.store.world import ENGINES, NOW, Clock, World, declare, stream

from pdpp.authz import principal
from pdpp.authz.principal import Gate, Principal
from pdpp.authz.selection import Selection, make_grant, make_package, resolve
from pdpp.authz.token import TokenKind, mint
from pdpp.model import instant
from pdpp.model.errors import AuthenticationError, GrantExpired, GrantInvalid, GrantRevoked
from pdpp.model.grant import Grant
from pdpp.store.vault import Token


@pytest.fixture(params=ENGINES)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A store with one connection."""
    clock = Clock()
    store = ENGINES[request.param](tmp_path, clock)
    yield World(store, clock).settle()
    store.close()


@pytest.fixture
def gate(world: World) -> Gate:
    """The gate of that store."""
    return Gate(world.store, world.clock)


def give(world: World, selection: Selection | None = None, expires_at: int | None = None) -> str:
    """Make a grant; return the header that uses it."""
    allowances = resolve(selection or Selection(), world.store.catalogue())
    grant, secret, token = make_grant(
        allowances, client_id="app", purpose="p", now=world.clock.now, expires_at=expires_at
    )
    world.store.vault.keep_grant(grant, [token])
    return f"Bearer {secret}"


def pack(world: World) -> tuple[str, tuple[Grant, ...]]:
    """Make a package over the connections ``c1`` and ``c2``; return its header and grants."""
    world.settle(declare(), "c2")
    allowances = resolve(Selection(), world.store.catalogue())
    package, grants, secret, token = make_package(
        allowances, client_id="app", purpose="p", now=NOW, expires_at=NOW + 1_000_000
    )
    world.store.vault.keep_package(package, grants, [token])
    return f"Bearer {secret}", grants


def connections(found: Principal) -> list[str]:
    return [reach.connection_id for reach in found.reaches]


def add(world: World, kind: TokenKind, **members: int | str) -> str:
    secret, token = mint(kind, "x", NOW)
    world.store.vault.keep_token(replace(token, **members))  # type: ignore[arg-type]
    return f"Bearer {secret}"


def test_the_owner_reaches_everything(world: World, gate: Gate) -> None:
    header = add(world, TokenKind.OWNER)
    owner = gate.admit(header)
    assert owner.is_owner
    assert owner.binding == owner.token.hash
    assert [reach.fields for reach in owner.reaches] == [None]


def test_a_client_reaches_what_its_grant_opens(world: World, gate: Gate) -> None:
    client = gate.admit(give(world, Selection(fields=("subject",))))
    assert not client.is_owner
    assert client.grant is not None
    assert client.binding == client.grant.id
    assert [reach.names() for reach in client.reaches] == [["subject"]]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_the_scheme_may_be_written_in_any_case(world: World, gate: Gate, scheme: str) -> None:
    secret = give(world).partition(" ")[2]
    assert gate.admit(f"{scheme} {secret}").grant is not None


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer nobody",
        "Basic dTpw",
        "pdpp_owner_x",
        "Bearer " + "x" * 513,
        "Bearer \ud800",
    ],
)
def test_a_header_without_a_known_token_is_refused(gate: Gate, header: str | None) -> None:
    with pytest.raises(AuthenticationError):
        gate.admit(header)


def test_a_token_of_a_grant_that_does_not_exist_is_refused(world: World, gate: Gate) -> None:
    for members in ({"grant_id": "nowhere"}, {}):
        with pytest.raises(GrantInvalid):
            gate.admit(add(world, TokenKind.CLIENT, **members))


def test_a_revoked_grant_is_refused_at_once(world: World, gate: Gate) -> None:
    header = give(world)
    admitted = gate.admit(header).grant
    assert admitted is not None
    revoke_grant(world.store, admitted.id)
    with pytest.raises(GrantRevoked):
        gate.admit(header)


def test_a_revoked_token_is_refused(world: World, gate: Gate) -> None:
    with pytest.raises(AuthenticationError, match="revoked"):
        gate.admit(add(world, TokenKind.OWNER, revoked_at=NOW))


def test_a_grant_ends_at_its_moment_without_any_write(world: World, gate: Gate) -> None:
    header = give(world, expires_at=NOW + 1_000_000)
    gate.admit(header)
    world.clock.now = NOW + 999_999
    gate.admit(header)
    world.clock.now = NOW + 1_000_000
    with pytest.raises(GrantExpired):
        gate.admit(header)


def test_a_token_ends_at_its_moment(world: World, gate: Gate) -> None:
    header = add(world, TokenKind.OWNER, expires_at=NOW + 1)
    gate.admit(header)
    world.clock.pass_by()
    with pytest.raises(AuthenticationError, match="expired"):
        gate.admit(header)


def test_a_write_of_records_leaves_every_caller_as_it_was(world: World, gate: Gate) -> None:
    package, _ = pack(world)
    headers = (add(world, TokenKind.OWNER), give(world), package)
    before = [gate.admit(header) for header in headers]
    world.put({"a": {}})
    assert [gate.admit(header) for header in headers] == before


@pytest.mark.parametrize("ended", ["grant", "package"])
def test_a_caller_is_made_anew_when_what_it_stands_on_was_written(
    world: World, gate: Gate, ended: str
) -> None:
    package, grants = pack(world)
    other = give(world)
    before = {header: gate.admit(header) for header in (package, other)}
    if ended == "grant":
        revoke_grant(world.store, grants[0].id)
    else:
        revoke_package(world.store, before[package].package.id)  # type: ignore[union-attr]
    world.put({"a": {}})
    with pytest.raises(GrantRevoked):
        gate.admit(package, grants[0].id)
    assert gate.admit(other) is before[other]


def test_a_caller_whose_token_is_gone_is_not_remembered(
    world: World, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = give(world)
    gate.admit(header)
    monkeypatch.setattr(world.store.vault, "token", lambda _: None)
    world.put({"a": {}})
    for _ in range(2):
        with pytest.raises(AuthenticationError):
            gate.admit(header)


def test_a_new_connection_is_seen_at_the_next_request(world: World, gate: Gate) -> None:
    header = add(world, TokenKind.OWNER)
    assert len(gate.admit(header).reaches) == 1
    world.settle(declare(stream("notes"), key="notes"), "c2")
    assert len(gate.admit(header).reaches) == 2


def test_the_gate_remembers_a_bounded_number(
    world: World, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(principal, "_MOST_REMEMBERED", 2)
    headers = [add(world, TokenKind.OWNER) for _ in range(5)]
    for header in headers:
        gate.admit(header)
    first = gate.admit(headers[0])
    for header in headers:
        gate.admit(header)
    assert gate.admit(headers[0]) is not first


def test_the_gate_remembers_a_bounded_number_of_reaches(
    world: World, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(principal, "_MOST_REACHES", 3)
    headers = [give(world) for _ in range(10)]
    for header in headers:
        gate.admit(header)
        assert sum(known.weight for _, known in gate._made.values()) <= 3
        assert gate.admit(header) is gate.admit(header)
    packed, grants = pack(world)
    assert gate.admit(packed).package is not None
    assert gate.admit(packed, grants[0].id) is gate.admit(packed, grants[0].id)


def test_a_caller_who_was_learnt_is_still_refused_when_its_grant_is_revoked(
    world: World, gate: Gate
) -> None:
    header = give(world)
    gate.learn(header)
    found = gate.admit(header)
    assert found.grant is not None
    revoke_grant(world.store, found.grant.id)
    gate.learn(header)
    with pytest.raises(GrantRevoked):
        gate.admit(header)
    for unknown in (None, "Bearer nobody", "Basic x"):
        assert not gate.takes_long(unknown)
        gate.learn(unknown)


def test_a_grant_made_before_a_declaration_changed_keeps_its_fields(
    world: World, gate: Gate
) -> None:
    header = give(world)
    before = gate.admit(header).reaches[0].names()
    properties = {**stream()["schema"]["properties"], "later": {"type": "string"}}
    world.settle(declare(stream(properties=properties), version="2"))
    assert gate.admit(header).reaches[0].names() == before
    assert "later" in gate.admit(add(world, TokenKind.OWNER)).reaches[0].names()


def test_a_token_of_an_unknown_kind_never_stands_for_the_owner(world: World, gate: Gate) -> None:
    secret, token = mint(TokenKind.OWNER, "x", NOW)
    world.store.vault.keep_token(Token(token.hash, "Owner", "x", NOW))
    with pytest.raises(GrantInvalid):
        gate.admit(f"Bearer {secret}")


def test_a_package_reads_through_its_grants_or_through_one_that_is_named(
    world: World, gate: Gate
) -> None:
    header, grants = pack(world)
    whole = gate.admit(header)
    assert connections(whole) == ["c1", "c2"]
    assert [reach.grant_id for reach in whole.reaches] == [grant.id for grant in grants]
    assert not whole.is_owner
    assert whole.package is not None
    assert whole.binding == whole.package.id
    child = gate.admit(header, grants[1].id)
    assert connections(child) == ["c2"]
    assert child.binding == grants[1].id


def test_a_token_opens_only_the_grants_it_stands_for(world: World, gate: Gate) -> None:
    header, grants = pack(world)
    single = give(world)
    own = gate.admit(single).grant
    assert own is not None
    assert gate.admit(single, own.id).grant == own
    for known, other in ((single, grants[0].id), (header, own.id), (header, "nowhere")):
        with pytest.raises(GrantInvalid):
            gate.admit(known, other)
    with pytest.raises(GrantInvalid):
        gate.admit(add(world, TokenKind.OWNER), own.id)


def test_a_package_goes_on_without_a_revoked_grant(world: World, gate: Gate) -> None:
    header, grants = pack(world)
    revoke_grant(world.store, grants[0].id)
    assert connections(gate.admit(header)) == ["c2"]
    with pytest.raises(GrantRevoked):
        gate.admit(header, grants[0].id)
    assert connections(gate.admit(header, grants[1].id)) == ["c2"]


def test_a_revoked_package_is_refused_whole(world: World, gate: Gate) -> None:
    header, grants = pack(world)
    package = gate.admit(header).package
    assert package is not None
    revoke_package(world.store, package.id)
    for grant_id in (None, grants[0].id):
        with pytest.raises(GrantRevoked):
            gate.admit(header, grant_id)


def test_a_package_ends_at_its_moment(world: World, gate: Gate) -> None:
    header, _ = pack(world)
    gate.admit(header)
    world.clock.pass_by()
    with pytest.raises(GrantExpired):
        gate.admit(header)


def test_a_token_of_a_package_that_does_not_exist_is_refused(world: World, gate: Gate) -> None:
    for members in ({"package_id": "nowhere"}, {}):
        with pytest.raises(GrantInvalid):
            gate.admit(add(world, TokenKind.PACKAGE, **members))


def test_a_package_reads_no_further_through_a_grant_that_expires_meanwhile(
    world: World, gate: Gate
) -> None:
    world.store.connect("c2", "mail", "Second")
    allowances = resolve(Selection(), world.store.catalogue())
    package, grants, secret, token = make_package(
        allowances, client_id="app", purpose="p", now=world.clock.now
    )
    short = replace(grants[0], expires_at=world.clock.now + 10 * instant.SECOND)
    world.store.vault.keep_package(package, (short, grants[1]), [token])
    both = gate.admit(f"Bearer {secret}")
    assert {reach.connection_id for reach in both.reaches} == {"c1", "c2"}
    assert gate.admit(f"Bearer {secret}") is both
    world.clock.pass_by(11)
    left = gate.admit(f"Bearer {secret}")
    assert {reach.connection_id for reach in left.reaches} == {"c2"}
    assert len(left.children) == 2
