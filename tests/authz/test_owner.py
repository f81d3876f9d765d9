import re
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from tests.authz.authenticator import Authenticator, es256
from tests.engine import open_store
from tests.serving import SetClock

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.owner import (
    LEAST_CHARS,
    MOST_CHARS,
    Owner,
    begin_setup,
    form_token,
    has_passphrase,
    hash_passphrase,
    keep_passphrase,
)
from pdpp.authz.passkey import read_passkeys
from pdpp.authz.throttle import ADDRESS, Throttle
from pdpp.authz.token import hash_token
from pdpp.authz.webauthn import PasskeyContext
from pdpp.model.errors import AuthenticationError, Conflict, InvalidRequest, RateLimitExceeded
from pdpp.model.instant import SECOND
from pdpp.store.port import Store

HERE = "127.0.0.1"
GOOD = "four plain words here"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def store(tmp_path: Path, clock: SetClock) -> Iterator[Store]:
    made = open_store(tmp_path, clock)
    yield made
    made.close()


@pytest.fixture
def owner(store: Store, clock: SetClock) -> Owner:
    return Owner(store.vault, clock, Lifetimes(), Throttle(clock))


hashed = cache(hash_passphrase)


def choose(owner: Owner, passphrase: str = GOOD) -> None:
    with owner.vault.transaction() as transaction:
        keep_passphrase(transaction, hashed(passphrase))


# The passphrase


@pytest.mark.parametrize("passphrase", ["", "short", "x" * (LEAST_CHARS - 1)])
def test_a_short_passphrase_is_refused_with_advice(passphrase: str) -> None:
    with pytest.raises(InvalidRequest, match=f"at least {LEAST_CHARS} characters") as refused:
        hash_passphrase(passphrase)
    assert refused.value.param == "passphrase"


def test_an_endless_passphrase_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="at most"):
        hash_passphrase("x" * (MOST_CHARS + 1))


def test_only_a_slow_hash_is_kept(
    owner: Owner,
    store: Store,
    slow_hasher: Callable[[], PasswordHasher],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pdpp.authz.owner._hasher", slow_hasher)
    hashed.cache_clear()
    choose(owner)
    hashed.cache_clear()
    held = store.vault.setting("passphrase") or b""
    assert held.startswith(b"$argon2id$v=19$m=65536,t=3,p=4$")
    assert GOOD.encode() not in held
    assert hash_passphrase(GOOD) != hash_passphrase(GOOD)


def test_there_is_no_passphrase_until_one_is_chosen(owner: Owner, store: Store) -> None:
    settled = [owner.settled]
    with pytest.raises(AuthenticationError):
        owner.log_in("", HERE)
    choose(owner)
    settled.append(owner.settled)
    assert settled == [False, True]
    assert has_passphrase(store.vault)


# Logging in


def test_the_right_passphrase_begins_a_session(owner: Owner) -> None:
    choose(owner)
    secret = owner.log_in(GOOD, HERE)
    assert owner.knows(secret)
    assert secret != owner.log_in(GOOD, HERE)


def test_a_passphrase_is_the_same_however_a_keyboard_composes_it(owner: Owner) -> None:
    choose(owner, "la cigüeña de Zoë")
    assert owner.log_in("la cigu\u0308en\u0303a de Zoe\u0308", HERE)


@pytest.mark.parametrize(
    "wrong", ["", GOOD[:-1], GOOD + " ", GOOD.upper(), GOOD + "\x00", "x" * (MOST_CHARS + 9)]
)
def test_a_wrong_passphrase_is_refused(owner: Owner, wrong: str) -> None:
    choose(owner)
    with pytest.raises(AuthenticationError, match="not the passphrase"):
        owner.log_in(wrong, HERE)


def test_guessing_is_slowed_down_even_for_the_right_guess(owner: Owner, clock: SetClock) -> None:
    choose(owner)
    for _ in range(ADDRESS.free):
        with pytest.raises(AuthenticationError):
            owner.log_in("wrong", HERE)
    with pytest.raises(RateLimitExceeded):
        owner.log_in(GOOD, HERE)
    clock.advance(1)
    assert owner.log_in(GOOD, HERE)
    for _ in range(ADDRESS.free):
        with pytest.raises(AuthenticationError):
            owner.log_in("wrong", HERE)


def test_many_guesses_at_once_are_counted_before_they_are_checked(owner: Owner) -> None:
    choose(owner)
    seen: list[str] = []

    def guess() -> None:
        try:
            owner.log_in("wrong", HERE)
        except (AuthenticationError, RateLimitExceeded) as refused:
            seen.append(refused.code)

    threads = [threading.Thread(target=guess) for _ in range(ADDRESS.free + 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == ["authentication_error"] * ADDRESS.free + ["rate_limit_exceeded"] * 4


# Sessions


@pytest.mark.embedded("its file is looked into")
def test_only_the_hash_of_a_session_is_kept(owner: Owner, tmp_path: Path) -> None:
    choose(owner)
    secret = owner.log_in(GOOD, HERE)
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert hash_token(secret).encode() in kept
    assert secret.encode() not in kept
    assert secret.rpartition("_")[2].encode() not in kept


@pytest.mark.parametrize("secret", [None, "", "ses_made-up", "x" * 10_000])
def test_what_was_never_handed_out_is_no_session(owner: Owner, secret: str | None) -> None:
    assert not owner.knows(secret)


def test_a_session_ends_by_itself(owner: Owner, clock: SetClock) -> None:
    choose(owner)
    secret = owner.log_in(GOOD, HERE)
    clock.advance(owner.lifetimes.session / SECOND - 1)
    assert owner.knows(secret)
    clock.advance(1)
    assert not owner.knows(secret)


def test_logging_out_ends_one_session(owner: Owner) -> None:
    choose(owner)
    one, other = owner.log_in(GOOD, HERE), owner.log_in(GOOD, HERE)
    owner.log_out(one)
    owner.log_out("ses_unknown")
    assert not owner.knows(one)
    assert owner.knows(other)


def test_another_passphrase_ends_every_session(owner: Owner) -> None:
    choose(owner)
    secret = owner.log_in(GOOD, HERE)
    choose(owner, "another good passphrase")
    assert not owner.knows(secret)
    with pytest.raises(AuthenticationError):
        owner.log_in(GOOD, HERE)


def test_a_login_that_overlaps_a_new_passphrase_is_refused(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(owner)
    other = hashed("another good passphrase")
    forgive = Throttle.forgive

    def change_meanwhile(throttle: Throttle, guesser: str, *, known: bool = False) -> None:
        forgive(throttle, guesser, known=known)
        with owner.vault.transaction() as transaction:
            keep_passphrase(transaction, other)

    monkeypatch.setattr(Throttle, "forgive", change_meanwhile)
    with pytest.raises(AuthenticationError, match="just been changed"):
        owner.log_in(GOOD, HERE)


def test_a_reset_that_overlaps_a_new_passkey_or_passphrase_wins(owner: Owner, store: Store) -> None:
    """Who knows the old passphrase and tries all the time keeps no way in over a reset."""
    choose(owner)
    stored = owner.check_passphrase(GOOD, "192.0.2.1")
    here = PasskeyContext("http://localhost:8100", "ses_theirs", b"k" * 32)
    answer = Authenticator(*es256()).create(here, here.new_challenge(owner.clock()))
    choose(owner, "a new passphrase after a theft")
    with pytest.raises(AuthenticationError, match="just been changed"):
        owner.add_passkey(answer, "theirs", here, stored)
    with pytest.raises(AuthenticationError, match="just been changed"):
        owner.change_passphrase("chosen by the thief", stored)
    assert read_passkeys(store.vault) == ()


# The first set-up


def test_a_setup_code_is_easy_to_type_and_only_its_hash_is_kept(
    owner: Owner, tmp_path: Path
) -> None:
    awaited = [owner.awaited]
    code = begin_setup(owner.vault) or ""
    awaited.append(owner.awaited)
    assert awaited == [False, True]
    assert re.fullmatch(r"[A-HJKMNP-Z2-9]{4}(-[A-HJKMNP-Z2-9]{4}){2}", code)
    for path in tmp_path.iterdir():
        if path.is_file():
            assert code.encode() not in path.read_bytes()
            assert code.replace("-", "").encode() not in path.read_bytes()


@pytest.mark.parametrize("typed", [str, str.lower, lambda code: f" {code.replace('-', ' ')}."])
def test_the_code_lets_the_owner_choose_a_passphrase_once(owner: Owner, typed: object) -> None:
    code = begin_setup(owner.vault) or ""
    assert callable(typed)
    secret = owner.set_up(typed(code), GOOD, HERE)
    assert owner.knows(secret)
    assert owner.log_in(GOOD, HERE)
    assert not owner.awaited
    with pytest.raises(AuthenticationError):
        owner.set_up(code, "another good passphrase", HERE)


@pytest.mark.parametrize("code", ["", "AAAA-BBBB-CCCC", "----"])
def test_a_wrong_code_is_refused(owner: Owner, code: str) -> None:
    begin_setup(owner.vault)
    with pytest.raises(AuthenticationError, match="set-up code"):
        owner.set_up(code, GOOD, HERE)
    assert not owner.settled


def test_without_a_code_nobody_can_set_up(owner: Owner) -> None:
    with pytest.raises(AuthenticationError):
        owner.set_up("", GOOD, HERE)
    assert not owner.settled


def test_guessing_the_code_is_slowed_down(owner: Owner) -> None:
    code = begin_setup(owner.vault) or ""
    for _ in range(ADDRESS.free):
        with pytest.raises(AuthenticationError):
            owner.set_up("AAAA-BBBB-CCCC", GOOD, HERE)
    with pytest.raises(RateLimitExceeded):
        owner.set_up(code, GOOD, HERE)


def test_a_weak_passphrase_does_not_use_the_code_up(owner: Owner) -> None:
    code = begin_setup(owner.vault) or ""
    for _ in range(ADDRESS.free + 1):
        with pytest.raises(InvalidRequest):
            owner.set_up(code, "short", HERE)
    assert owner.set_up(code, GOOD, HERE)


def test_a_new_start_prints_a_new_code(owner: Owner) -> None:
    before, after = begin_setup(owner.vault), begin_setup(owner.vault)
    assert before != after
    with pytest.raises(AuthenticationError):
        owner.set_up(before or "", GOOD, HERE)
    assert owner.set_up(after or "", GOOD, HERE)
    assert begin_setup(owner.vault) is None


def test_two_set_ups_at_once_have_one_winner(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    code = begin_setup(owner.vault) or ""
    forgive = Throttle.forgive

    def be_overtaken(throttle: Throttle, address: str) -> None:
        monkeypatch.setattr(Throttle, "forgive", forgive)
        owner.set_up(code, GOOD, HERE)

    monkeypatch.setattr(Throttle, "forgive", be_overtaken)
    with pytest.raises(Conflict):
        owner.set_up(code, "another good passphrase", HERE)
    assert owner.log_in(GOOD, HERE)


# Forms


def test_a_form_is_bound_to_its_session() -> None:
    assert form_token("a") == form_token("a") != form_token("b")
    assert "a-secret" not in form_token("a-secret")
