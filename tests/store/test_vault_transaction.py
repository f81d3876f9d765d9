"""What the authorization server keeps, and how it changes in one transaction."""

from dataclasses import replace

import pytest
from tests.store.test_vault import grant_of
from tests.store.world import NOW, World

from pdpp.model.grant import Package
from pdpp.model.instant import DAY
from pdpp.store.port import Store
from pdpp.store.vault import Consent, RefreshToken, RegisteredClient, ShortLivedSecret, Token

CLIENT = RegisteredClient(
    "cli_1",
    "App",
    ("https://a.example/cb", "http://localhost/cb"),
    NOW,
    ("authorization_code",),
    {"client_uri": "https://a.example/"},
    NOW + 5,
    None,
)
SECRET = ShortLivedSecret("h1", "code", {"family": "f1", "n": [1, None]}, NOW, NOW + 60, "cli_1")
REFRESH = RefreshToken(
    "r1", "f1", "cli_1", "pdpp:read", NOW, NOW + 60, package_id="p1", audience="a"
)
TOKEN = Token("t1", "mcp_package", "cli_1", NOW, package_id="p1", expires_at=NOW + 9, family="f1")
CONSENT = Consent("con_1", "cli_1", NOW, "digest", "text\nshown", ("r1", "r2"), package_id="p1")


def test_what_is_kept_comes_back_as_it_was(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.keep_client(CLIENT)
        transaction.add_secret(SECRET)
        transaction.add_refresh_token(REFRESH)
        transaction.add_token(TOKEN)
        transaction.add_consent(CONSENT)
        transaction.keep_setting("name", b"value")
        assert transaction.client("cli_1") == CLIENT
    vault = store.vault
    assert vault.client("cli_1") == CLIENT
    assert vault.secret("code", "h1") == SECRET
    assert vault.refresh("r1") == REFRESH
    assert vault.token("t1") == TOKEN == store.vault.token("t1")
    assert list(vault.consents()) == [CONSENT]
    assert vault.setting("name") == b"value"


def test_what_is_not_there_is_not_found(store: Store) -> None:
    vault = store.vault
    for found in (
        vault.client("x"),
        vault.secret("code", "x"),
        vault.refresh("x"),
        vault.token("x"),
        vault.grant("x"),
        vault.package("x"),
        vault.setting("x"),
    ):
        assert found is None
    assert list(vault.consents()) == []
    assert list(vault.clients()) == []


def test_a_slip_is_one_of_its_kind(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.add_secret(SECRET)
        transaction.add_secret(replace(SECRET, kind="session", client_id=None))
    assert store.vault.secret("review", "h1") is None
    assert store.vault.secret("session", "h1") is not None


def test_a_decision_that_fails_changes_nothing(store: Store) -> None:
    def fail() -> None:
        with store.vault.transaction() as transaction:
            transaction.keep_client(CLIENT)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert store.vault.client("cli_1") is None


def test_a_slip_is_used_once(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.add_secret(SECRET)
        assert transaction.use_secret(SECRET, NOW + 1)
        assert not transaction.use_secret(SECRET, NOW + 2)
    found = store.vault.secret("code", "h1")
    assert found is not None
    assert found.used_at == NOW + 1


def test_a_slip_may_get_another_body_and_end(store: Store) -> None:
    changed = replace(SECRET, body={"other": 1}, expires_at=NOW + 99)
    with store.vault.transaction() as transaction:
        transaction.add_secret(SECRET)
        transaction.change_secret(changed)
    assert store.vault.secret("code", "h1") == changed


def test_the_slips_of_a_kind_are_dropped_for_one_client_or_for_all(store: Store) -> None:
    with store.vault.transaction() as transaction:
        for name, client_id in (("a", "cli_1"), ("b", "cli_2"), ("c", None)):
            transaction.add_secret(replace(SECRET, hash=name, client_id=client_id))
        transaction.add_secret(replace(SECRET, kind="device"))
        transaction.drop_secrets("code", "cli_1")
        assert [transaction.secret("code", name) is None for name in "abc"] == [True, False, False]
        transaction.drop_secrets("code")
        assert [transaction.secret("code", name) is None for name in "abc"] == [True] * 3
        assert transaction.secret("device", "h1") is not None


def test_clients_are_listed_once_the_owner_approved_them(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.keep_client(CLIENT)
        transaction.keep_client(replace(CLIENT, id="cli_3", approved_at=NOW + 1))
        transaction.keep_client(replace(CLIENT, id="cli_2", approved_at=NOW + 2))
    assert [client.id for client in store.vault.clients()] == ["cli_3", "cli_2"]


def test_a_family_is_revoked_whole_and_alone(store: Store) -> None:
    with store.vault.transaction() as transaction:
        for name, family in (("1", "f1"), ("2", "f1"), ("3", "f2")):
            transaction.add_refresh_token(replace(REFRESH, hash=f"r{name}", family=family))
            transaction.add_token(replace(TOKEN, hash=f"t{name}", family=family))
        transaction.revoke_family("f1", NOW + 7)
        transaction.revoke_family("f1", NOW + 8)
    for name, when in (("1", NOW + 7), ("2", NOW + 7), ("3", None)):
        refresh, token = store.vault.refresh(f"r{name}"), store.vault.token(f"t{name}")
        assert refresh is not None
        assert token is not None
        assert (refresh.revoked_at, token.revoked_at) == (when, when)


def test_a_used_refresh_token_remembers_its_first_use_and_its_last_successor(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.add_refresh_token(REFRESH)
        transaction.use_refresh_token("r1", "r2", NOW + 1)
        transaction.use_refresh_token("r1", "r3", NOW + 2)
    assert store.vault.refresh("r1") == replace(REFRESH, used_at=NOW + 1, successor="r3")


def test_what_was_given_for_a_refresh_token_is_withdrawn(store: Store) -> None:
    used = replace(REFRESH, used_at=NOW + 5, successor="r2")
    with store.vault.transaction() as transaction:
        transaction.add_refresh_token(used)
        transaction.add_refresh_token(replace(REFRESH, hash="r2"))
        transaction.add_token(TOKEN)
        transaction.add_token(replace(TOKEN, hash="t2", created_at=NOW + 5))
        transaction.add_token(replace(TOKEN, hash="t3", created_at=NOW + 5, family="f2"))
        transaction.withdraw(used, NOW + 9)
    alive = [getattr(store.vault.token(name), "revoked_at", 0) for name in ("t1", "t2", "t3")]
    assert alive == [None, NOW + 9, None]
    assert getattr(store.vault.refresh("r2"), "revoked_at", 0) == NOW + 9
    assert getattr(store.vault.refresh("r1"), "revoked_at", 0) is None


def test_one_token_is_revoked_alone(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.add_token(TOKEN)
        transaction.add_token(replace(TOKEN, hash="t2"))
        transaction.revoke_token("t1", NOW + 1)
    times = [getattr(store.vault.token(name), "revoked_at", 0) for name in ("t1", "t2")]
    assert times == [NOW + 1, None]


def test_what_is_held_is_revoked_and_not_swept(store: Store) -> None:
    held = replace(REFRESH, revoked_at=NOW, expires_at=NOW + 3 * DAY)
    with store.vault.transaction() as transaction:
        transaction.keep_setting("held_at", b"[%d]" % NOW)
        transaction.add_package(Package("p1", "cli_1", NOW, revoked_at=NOW))
        transaction.add_refresh_token(held)
        transaction.add_token(replace(TOKEN, revoked_at=NOW))
        transaction.sweep(NOW + 2 * DAY, DAY)
        assert getattr(transaction.package("p1"), "revoked_at", 0) == NOW
        assert transaction.revoke_package("p1", NOW + 1)
        assert not transaction.revoke_package("p1", NOW + 2)
    assert getattr(store.vault.package("p1"), "revoked_at", 0) == NOW + 1


def test_a_client_is_revoked_with_all_it_holds_and_nothing_else(world: World) -> None:
    store = world.store
    package = Package("p1", "cli_1", NOW)
    with store.vault.transaction() as transaction:
        transaction.keep_client(CLIENT)
        transaction.add_package(package)
        transaction.add_package(replace(package, id="p2", client_id="cli_2"))
        for name, client_id, inside in (
            ("g1", "cli_1", "p1"),
            ("g2", "cli_1", None),
            ("g3", "cli_2", "p2"),
            ("g4", "cli_2", None),
        ):
            grant = replace(grant_of(world, name), client_id=client_id, package_id=inside)
            transaction.add_grant(grant)
        transaction.add_token(Token("mine0", "mcp_package", "cli_1", NOW, package_id="p1"))
        transaction.add_token(Token("mine1", "client", "cli_1", NOW, grant_id="g2"))
        transaction.add_token(Token("theirs0", "mcp_package", "cli_2", NOW, package_id="p2"))
        transaction.add_token(Token("theirs1", "client", "cli_2", NOW, grant_id="g4"))
        for client_id in ("cli_1", "cli_2"):
            transaction.add_refresh_token(replace(REFRESH, hash=client_id, client_id=client_id))
            transaction.add_secret(replace(SECRET, hash=client_id, client_id=client_id))
        transaction.revoke_client("cli_1", NOW + 3)
    vault = store.vault
    ended = {grant.id for grant in store.vault.grants() if grant.revoked_at == NOW + 3}
    assert ended == {"g1", "g2"}
    assert getattr(vault.package("p1"), "revoked_at", 0) == NOW + 3
    assert getattr(vault.package("p2"), "revoked_at", 0) is None
    for number in (0, 1):
        assert getattr(vault.token(f"mine{number}"), "revoked_at", 0) == NOW + 3
        assert getattr(vault.token(f"theirs{number}"), "revoked_at", 0) is None
    assert getattr(vault.refresh("cli_1"), "revoked_at", 0) == NOW + 3
    assert getattr(vault.refresh("cli_2"), "revoked_at", 0) is None
    assert vault.secret("code", "cli_1") is None
    assert vault.secret("code", "cli_2") is not None
    assert vault.client("cli_1") == CLIENT


@pytest.mark.parametrize("inside", [True, False])
def test_an_approval_may_end_sooner_than_it_said(world: World, inside: bool) -> None:
    store = world.store
    with store.vault.transaction() as transaction:
        transaction.add_package(Package("p1", "cli_1", NOW))
        grant = replace(grant_of(world), package_id="p1" if inside else None)
        transaction.add_grant(grant)
        transaction.add_grant(replace(grant, id="g2", package_id=None))
        transaction.end_approval(None if inside else "g1", "p1" if inside else None, NOW + 4)
    ends = {grant.id: grant.expires_at for grant in store.vault.grants()}
    assert ends == {"g1": NOW + 4, "g2": None}
    package = store.vault.package("p1")
    assert package is not None
    assert package.expires_at == (NOW + 4 if inside else None)


def test_a_setting_is_replaced_and_forgotten(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.keep_setting("name", b"one")
        transaction.keep_setting("name", b"two")
        assert transaction.setting("name") == b"two"
        transaction.keep_setting("name", None)
    assert store.vault.setting("name") is None


def test_consents_are_told_newest_first(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.add_consent(CONSENT)
        transaction.add_consent(replace(CONSENT, id="con_2", decided_at=NOW + 1))
        transaction.add_consent(replace(CONSENT, id="con_3", client_id="cli_2"))
    assert [consent.id for consent in store.vault.consents("cli_1")] == ["con_2", "con_1"]


def test_what_has_ended_is_swept_away_a_day_later(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.add_secret(SECRET)
        transaction.add_secret(replace(SECRET, kind="review"))
        transaction.add_refresh_token(REFRESH)
        transaction.add_token(replace(TOKEN, expires_at=NOW + 60))
        transaction.add_token(Token("by hand", "client", "x", NOW, expires_at=NOW + 60))
        transaction.add_token(replace(TOKEN, hash="t2", expires_at=None))
        assert transaction.sweep(NOW + 60, DAY) == 0
        assert transaction.sweep(NOW + 61, DAY) == 2
        assert transaction.secret("review", "h1") is None
        assert transaction.sweep(NOW + 60 + DAY, DAY) == 0
        assert transaction.sweep(NOW + 61 + DAY, DAY) == 2
        assert transaction.sweep(NOW + 61 + DAY, DAY) == 0
        for name, there in (("t1", False), ("t2", True), ("by hand", True)):
            assert (transaction.token(name) is not None) is there


def test_clients_that_came_to_nothing_are_swept_away(store: Store) -> None:
    with store.vault.transaction() as transaction:
        transaction.keep_client(CLIENT)
        transaction.keep_client(replace(CLIENT, id="cli_2", approved_at=NOW))
        assert transaction.sweep(NOW + DAY, DAY) == 0
        assert transaction.sweep(NOW + DAY + 1, DAY) == 1
    assert store.vault.client("cli_1") is None
    assert store.vault.client("cli_2") is not None
