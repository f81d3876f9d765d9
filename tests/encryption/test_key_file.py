"""The key file: only the passphrase opens it, and nothing in it can be changed."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from pdpp.encryption.data_key import DataKey
from pdpp.encryption.key_file import KEY_FILE, KdfCost, KeyFile, read_key_file
from pdpp.model.errors import StoreError

CHEAP = KdfCost(1, 64, 1)
GOOD = "four or five words"


def test_the_passphrase_opens_what_it_sealed(tmp_path: Path) -> None:
    key = DataKey.new()
    KeyFile.seal(key, GOOD, CHEAP).write(tmp_path)
    kept = read_key_file(tmp_path)
    assert kept is not None
    assert kept.open(GOOD).secret == key.secret
    content = (tmp_path / KEY_FILE).read_bytes()
    assert key.secret.hex().encode() not in content
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o077 == 0


def test_however_a_keyboard_composes_it() -> None:
    key = DataKey.new()
    assert KeyFile.seal(key, "café au lait noir", CHEAP).open("café au lait noir")


def test_another_passphrase_is_refused_in_one_sentence() -> None:
    with pytest.raises(StoreError, match=r"^this is not the passphrase of the store$"):
        KeyFile.seal(DataKey.new(), GOOD, CHEAP).open(GOOD + ".")


@pytest.mark.parametrize("short", ["", "eleven char", "x" * 1_025])
def test_a_passphrase_too_short_or_too_long_is_not_taken(short: str) -> None:
    with pytest.raises(StoreError, match="12 to 1024 characters"):
        KeyFile.seal(DataKey.new(), short, CHEAP)


def test_two_files_of_one_key_and_passphrase_have_nothing_in_common() -> None:
    key = DataKey.new()
    one, other = (KeyFile.seal(key, GOOD, CHEAP) for _ in range(2))
    assert (one.id, one.salt, one.sealed, one.tag) != (
        other.id,
        other.salt,
        other.sealed,
        other.tag,
    )
    assert one.sealed != other.sealed


def _changed(document: dict[str, Any], name: str) -> None:
    if name in document["kdf"]:
        value = document["kdf"][name]
        document["kdf"][name] = value + 1 if isinstance(value, int) else _flipped(value)
    else:
        document[name] = _flipped(document[name])


def _flipped(text: str) -> str:
    return ("0" if text[0] != "0" else "1") + text[1:]


@pytest.mark.parametrize("name", ["id", "sealed", "tag", "salt", "time", "memory_kib"])
def test_a_file_that_was_changed_does_not_open(tmp_path: Path, name: str) -> None:
    KeyFile.seal(DataKey.new(), GOOD, CHEAP).write(tmp_path)
    document = json.loads((tmp_path / KEY_FILE).read_text())
    _changed(document, name)
    (tmp_path / KEY_FILE).write_text(json.dumps(document))
    kept = read_key_file(tmp_path)
    assert kept is not None
    with pytest.raises(StoreError, match="not the passphrase"):
        kept.open(GOOD)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": 2}', "\xff"])
def test_a_file_that_says_nothing_is_refused_and_not_taken_for_a_plain_store(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / KEY_FILE).write_bytes(content.encode("latin-1"))
    with pytest.raises(StoreError, match="cannot be read"):
        read_key_file(tmp_path)


def test_a_cost_that_would_take_all_memory_is_refused(tmp_path: Path) -> None:
    KeyFile.seal(DataKey.new(), GOOD, CHEAP).write(tmp_path)
    document = json.loads((tmp_path / KEY_FILE).read_text())
    document["kdf"]["memory_kib"] = 1 << 40
    (tmp_path / KEY_FILE).write_text(json.dumps(document))
    with pytest.raises(StoreError, match="cannot be read"):
        read_key_file(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"), [("salt", "00"), ("salt", ""), ("memory_kib", 1), ("lanes", 200)]
)
def test_numbers_that_nothing_can_be_computed_with_are_refused(
    tmp_path: Path, name: str, value: str | int
) -> None:
    KeyFile.seal(DataKey.new(), GOOD, CHEAP).write(tmp_path)
    document = json.loads((tmp_path / KEY_FILE).read_text())
    document["kdf"][name] = value
    (tmp_path / KEY_FILE).write_text(json.dumps(document))
    with pytest.raises(StoreError, match="cannot be read"):
        read_key_file(tmp_path)


def test_it_is_on_the_disk_before_it_takes_the_place_of_the_former_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[tuple[str, int]] = []
    replace, fsync = os.replace, os.fsync

    def replacing(source: str, target: Path) -> None:
        happened.append(("replace", os.stat(source).st_ino))
        replace(source, target)

    def syncing(descriptor: int) -> None:
        happened.append(("sync", os.fstat(descriptor).st_ino))
        fsync(descriptor)

    monkeypatch.setattr(os, "replace", replacing)
    monkeypatch.setattr(os, "fsync", syncing)
    KeyFile.seal(DataKey.new(), GOOD, CHEAP).write(tmp_path)
    file, folder = (tmp_path / KEY_FILE).stat().st_ino, tmp_path.stat().st_ino
    assert happened == [("sync", file), ("replace", file), ("sync", folder)]


def test_a_key_goes_to_a_worker_and_is_never_printed() -> None:
    key = DataKey.new()
    assert pickle.loads(pickle.dumps(key)).secret == key.secret  # noqa: S301 - our own
    assert key.secret.hex() not in repr(key) + str(key)
    assert key.derived(b"files") != key.derived(b"databases")
    with pytest.raises(ValueError, match="32 bytes"):
        DataKey(b"short")
