"""Unlocking: a file, the environment, the keyring of the machine, or a person."""

from collections.abc import Iterator
from pathlib import Path

import keyring as package
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from pdpp.encryption import remembered_keys
from pdpp.encryption.data_key import DataKey
from pdpp.encryption.key_file import KdfCost, KeyFile
from pdpp.encryption.unlocking import (
    FILE_VARIABLE,
    PASSPHRASE_VARIABLE,
    given_passphrase,
    unlock,
)
from pdpp.model.errors import StoreError

GOOD = "four or five words"
KEY = DataKey(bytes(range(32)))
HERE = Path("here")


class MemoryKeyring(KeyringBackend):
    """The keyring of a system, for as long as a test takes."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise RuntimeError("the person said no")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise RuntimeError("the person said no")
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.kept:
            raise PasswordDeleteError
        del self.kept[service, username]


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    former, made = package.get_keyring(), MemoryKeyring()
    package.set_keyring(made)
    yield made
    package.set_keyring(former)


@pytest.fixture(scope="module")
def key_file() -> KeyFile:
    return KeyFile.seal(KEY, GOOD, KdfCost(1, 64, 1))


def never() -> str:
    raise AssertionError("nobody is asked")


def test_the_environment_or_a_file_gives_the_passphrase(
    key_file: KeyFile, ring: MemoryKeyring, tmp_path: Path
) -> None:
    given = {PASSPHRASE_VARIABLE: GOOD}
    assert unlock(key_file, HERE, given, never).secret == KEY.secret
    place = tmp_path / "passphrase"
    place.write_text(f"{GOOD}\nand a second line\n")
    named = {PASSPHRASE_VARIABLE: "another one that is long", FILE_VARIABLE: str(place)}
    assert unlock(key_file, HERE, named, never).secret == KEY.secret
    with pytest.raises(StoreError, match="cannot read the passphrase"):
        unlock(key_file, HERE, {FILE_VARIABLE: str(tmp_path / "none")}, never)


def test_a_wrong_one_is_refused_even_if_the_keyring_knows_the_key(
    key_file: KeyFile, ring: MemoryKeyring
) -> None:
    remembered_keys.remember(key_file.id, KEY)
    with pytest.raises(StoreError, match="not the passphrase"):
        unlock(key_file, HERE, {PASSPHRASE_VARIABLE: "something else again"}, never)


def test_the_keyring_opens_it_and_nobody_is_asked(key_file: KeyFile, ring: MemoryKeyring) -> None:
    remembered_keys.remember(key_file.id, KEY)
    assert unlock(key_file, HERE, {}, never).secret == KEY.secret
    assert remembered_keys.forget(key_file.id)
    assert not remembered_keys.forget(key_file.id)
    assert unlock(key_file, HERE, {}, lambda: GOOD).secret == KEY.secret


def test_a_keyring_that_fails_or_holds_nonsense_is_passed_over(
    key_file: KeyFile, ring: MemoryKeyring
) -> None:
    ring.kept["pdpp store", key_file.id] = "no key at all"
    assert unlock(key_file, HERE, {}, lambda: GOOD).secret == KEY.secret
    ring.locked = True
    assert unlock(key_file, HERE, {}, lambda: GOOD).secret == KEY.secret
    with pytest.raises(StoreError, match=r"refuses: RuntimeError$"):
        remembered_keys.remember(key_file.id, KEY)


def test_without_the_package_there_is_no_keyring(
    key_file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "keyring", None)
    assert remembered_keys.recall(key_file.id) is None
    assert not remembered_keys.forget(key_file.id)
    with pytest.raises(StoreError, match="no keyring is installed; run: pip install"):
        remembered_keys.remember(key_file.id, KEY)


def test_an_empty_variable_gives_none() -> None:
    assert given_passphrase({PASSPHRASE_VARIABLE: "", FILE_VARIABLE: ""}) is None


def test_without_a_person_it_says_where_a_passphrase_can_be(
    key_file: KeyFile, ring: MemoryKeyring
) -> None:
    with pytest.raises(StoreError, match="run this in a terminal, or give its passphrase in PDPP_"):
        unlock(key_file, HERE, {}, None)
