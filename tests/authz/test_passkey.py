"""Passkeys checked with keys of a software authenticator, and what an attacker would send."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from tests.authz.authenticator import USED, Authenticator, eddsa, es256, rs256
from tests.engine import open_store

from pdpp.authz.owner import keep_passphrase
from pdpp.authz.passkey import (
    MOST_PASSKEYS,
    add_passkey,
    creation_options,
    read_passkeys,
    remove_passkey,
    request_options,
    use_passkey,
)
from pdpp.authz.webauthn import CHALLENGE_LIFE, PasskeyContext, encode
from pdpp.model.errors import AuthenticationError, InvalidRequest
from pdpp.store.port import Store

HOME = PasskeyContext("http://pdpp-0a1b.localhost:8100", "ses_mine", b"k" * 32)
NOW = 1_790_000_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "store")
    yield opened
    opened.close()


def registered(store: Store, device: Authenticator, context: PasskeyContext = HOME) -> str:
    answer = device.create(context, context.new_challenge(NOW))
    return add(store, answer, "  My \n phone ", context)


def add(store: Store, answer: str, name: str = "x", context: PasskeyContext = HOME) -> str:
    with store.vault.transaction() as transaction:
        return add_passkey(transaction, answer, name, context, NOW).id


def log_in(store: Store, answer: str, context: PasskeyContext = HOME, now: int = NOW) -> None:
    with store.vault.transaction() as transaction:
        use_passkey(transaction, answer, context, now)


@pytest.mark.parametrize("make", [es256, eddsa, rs256])
def test_a_passkey_of_each_algorithm_logs_in(
    store: Store, make: Callable[[], tuple[Any, Callable[[bytes], bytes]]]
) -> None:
    device = Authenticator(*make())
    registered(store, device)
    log_in(store, device.use(HOME, HOME.new_challenge(NOW)))
    (key,) = read_passkeys(store.vault)
    assert (key.name, key.rp_id, key.used_at) == ("My phone", "pdpp-0a1b.localhost", NOW)


def test_an_answer_is_good_once(store: Store) -> None:
    device = Authenticator(*es256())
    registered(store, device)
    answer = device.use(HOME, HOME.new_challenge(NOW))
    log_in(store, answer)
    with pytest.raises(AuthenticationError, match="already used"):
        log_in(store, answer)
    made = replace(device, credential=b"credential-2").create(HOME, HOME.new_challenge(NOW))
    add(store, made)
    with pytest.raises(AuthenticationError, match="already used"):
        add(store, made)


OTHERS = {
    "another browser": replace(HOME, holder="mark of somebody else"),
    "another port": replace(HOME, origin="http://pdpp-0a1b.localhost:8101"),
    "another name": replace(HOME, origin="http://localhost:8100"),
    "a name that looks like ours": replace(HOME, origin="https://pdpp-0a1b.localhost.example"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_a_passkey_used_elsewhere_does_not_log_in_here(store: Store, other: PasskeyContext) -> None:
    device = Authenticator(*es256())
    registered(store, device)
    with pytest.raises(AuthenticationError):
        log_in(store, device.use(other, other.new_challenge(NOW)))
    if other.origin != HOME.origin:
        with pytest.raises(AuthenticationError, match="address"):
            log_in(store, device.use(other, HOME.new_challenge(NOW)))


@pytest.mark.parametrize("origin", ["http://localhost:8101", "https://localhost:8100"])
def test_a_passkey_logs_in_at_the_very_address_where_it_was_made(store: Store, origin: str) -> None:
    made_at = replace(HOME, origin="http://localhost:8100")
    other = replace(HOME, origin=origin)
    device = Authenticator(*es256())
    registered(store, device, made_at)
    assert request_options(store.vault, made_at, NOW) is not None
    assert request_options(store.vault, other, NOW) is None
    with pytest.raises(AuthenticationError, match="does not know"):
        log_in(store, device.use(other, other.new_challenge(NOW)), other)


@pytest.mark.parametrize("flags", [0x00, 0x01, 0x04])
def test_the_user_must_be_there_and_verified(store: Store, flags: int) -> None:
    device = Authenticator(*es256())
    made = device.create(HOME, HOME.new_challenge(NOW), flags | 0x40)
    with pytest.raises(AuthenticationError, match="that it is you"):
        add(store, made)
    registered(store, device)
    with pytest.raises(AuthenticationError, match="that it is you"):
        log_in(store, device.use(HOME, HOME.new_challenge(NOW), flags))


def test_a_copied_key_is_seen_by_its_counter(store: Store) -> None:
    device = Authenticator(*es256(), counter=7)
    registered(store, device)
    device.counter = 9
    log_in(store, device.use(HOME, HOME.new_challenge(NOW)))
    for counter in (9, 8, 0):
        device.counter = counter
        with pytest.raises(AuthenticationError, match="copied"):
            log_in(store, device.use(HOME, HOME.new_challenge(NOW)))
    device.counter = 10
    log_in(store, device.use(HOME, HOME.new_challenge(NOW)))


def test_a_challenge_is_ours_and_fresh(store: Store) -> None:
    device = Authenticator(*es256())
    registered(store, device)
    late = device.use(HOME, HOME.new_challenge(NOW))
    with pytest.raises(AuthenticationError, match="too long"):
        log_in(store, late, now=NOW + CHALLENGE_LIFE + 1)
    with pytest.raises(AuthenticationError, match="too long"):
        log_in(store, device.use(HOME, HOME.new_challenge(NOW + 1)), now=NOW)
    for forged in ("", "AAAA", encode(bytes(56)), "%%%", 7):
        device.changes = {"challenge": forged}
        with pytest.raises(AuthenticationError):
            log_in(store, device.use(HOME, ""))


@pytest.mark.parametrize(
    "changes", [{"crossOrigin": True}, {"type": "webauthn.create"}, {"origin": None}]
)
def test_an_answer_to_another_question_is_refused(store: Store, changes: dict[str, Any]) -> None:
    device = Authenticator(*es256())
    registered(store, device)
    device.changes = changes
    with pytest.raises(AuthenticationError):
        log_in(store, device.use(HOME, HOME.new_challenge(NOW)))


def test_another_key_or_a_changed_byte_is_refused(store: Store) -> None:
    device = Authenticator(*es256())
    registered(store, device)
    thief = Authenticator(*es256())
    with pytest.raises(AuthenticationError, match="not the passkey"):
        log_in(store, thief.use(HOME, HOME.new_challenge(NOW)))
    answer = json.loads(device.use(HOME, HOME.new_challenge(NOW)))
    answer["authenticator"] = encode(device.data(HOME, USED | 0x08))
    with pytest.raises(AuthenticationError, match="not the passkey"):
        log_in(store, json.dumps(answer))
    for wrong in ("", "[]", "{}", "null", '{"id": 1}', '{"client": "e30"}', "{" * 10_000):
        with pytest.raises(AuthenticationError):
            log_in(store, wrong)
        with pytest.raises(AuthenticationError):
            add(store, wrong)


def test_a_key_that_cannot_be_checked_is_not_kept(store: Store) -> None:
    weak = rsa.generate_private_key(65_537, 1_024)  # noqa: S505 - it is to be refused
    other_curve = ec.generate_private_key(ec.SECP384R1())
    for key in (weak, other_curve, ed448.Ed448PrivateKey.generate()):
        device = Authenticator(key, lambda message: message)
        with pytest.raises(AuthenticationError, match="kind of passkey"):
            registered(store, device)
    device = Authenticator(*es256())
    answer = json.loads(device.create(HOME, HOME.new_challenge(NOW)))
    for change in ({"key": "AAAA"}, {"id": encode(b"other")}):
        with pytest.raises(AuthenticationError):
            add(store, json.dumps(answer | change))
    assert read_passkeys(store.vault) == ()


def test_a_removed_passkey_does_not_log_in(store: Store) -> None:
    device = Authenticator(*es256())
    key = registered(store, device)
    remove_passkey(store.vault, key)
    with pytest.raises(AuthenticationError, match="does not know"):
        log_in(store, device.use(HOME, HOME.new_challenge(NOW)))
    with pytest.raises(InvalidRequest):
        remove_passkey(store.vault, key)


def test_passkeys_are_bounded_and_each_is_kept_once(store: Store) -> None:
    device = Authenticator(*es256())
    for number in range(MOST_PASSKEYS):
        registered(store, replace(device, credential=b"credential-%d" % number))
    with pytest.raises(InvalidRequest, match="already"):
        registered(store, device)
    with pytest.raises(InvalidRequest, match="remove one"):
        registered(store, replace(device, credential=b"one more"))


def test_a_reset_passphrase_forgets_passkeys_and_a_changed_one_does_not(store: Store) -> None:
    registered(store, Authenticator(*es256()))
    for stays, left in ((True, 1), (False, 0)):
        with store.vault.transaction() as transaction:
            keep_passphrase(transaction, b"hash", passkeys_stay=stays)
        assert len(read_passkeys(store.vault)) == left


@pytest.mark.parametrize(
    ("origin", "rp_id"),
    [
        ("http://pdpp-0a1b.localhost:8100", "pdpp-0a1b.localhost"),
        ("http://localhost:8100", "localhost"),
        ("https://data.example", "data.example"),
        ("http://data.example", None),
        ("http://127.0.0.1:8100", None),
        ("https://[::1]:8100", None),
        ("https://192.0.2.7", None),
    ],
)
def test_passkeys_are_offered_where_browsers_allow_them(
    store: Store, origin: str, rp_id: str | None
) -> None:
    context = replace(HOME, origin=origin)
    assert context.rp_id == rp_id
    assert (creation_options(store.vault, context, NOW) is None) == (rp_id is None)
    assert request_options(store.vault, context, NOW) is None
    if rp_id is None:
        with pytest.raises(InvalidRequest):
            registered(store, Authenticator(*es256()), context)
        return
    registered(store, Authenticator(*es256()), context)
    assert "credential" not in json.dumps(request_options(store.vault, context, NOW))
    known = creation_options(store.vault, context, NOW) or {}
    assert [key["id"] for key in known["excludeCredentials"]] == [encode(b"credential-1")]
