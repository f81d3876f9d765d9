"""The key file: the data key of a store, sealed with the owner's passphrase.

The passphrase goes through Argon2id with a salt that is new each time, and gives 64 bytes: the
first half covers the data key, the second authenticates the file. A salt is never used twice, so
covering by exclusive or is a one-time pad. Changing the passphrase rewrites this file alone.
"""

import hashlib
import hmac
import json
import os
import secrets
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pdpp.encryption.data_key import DataKey
from pdpp.model.errors import StoreError
from pdpp.private import write_file

KEY_FILE = "encryption.json"
LEAST_CHARS = 12
MOST_CHARS = 1_024
_FORMAT = 1
_MOST_MEMORY = 4 << 20
_SALT = 16
_SEALED = 32


@dataclass(frozen=True, slots=True)
class KdfCost:
    """What it takes to try one passphrase; the second choice of RFC 9106 unless given."""

    time: int = 3
    memory_kib: int = 65_536
    lanes: int = 4


@dataclass(frozen=True, slots=True)
class KeyFile:
    """What the file says; ``id`` names the key, for the keyring of the machine."""

    id: str
    salt: bytes
    cost: KdfCost
    sealed: bytes
    tag: bytes

    @classmethod
    def seal(cls, key: DataKey, passphrase: str, cost: KdfCost | None = None) -> "KeyFile":
        """Seal a data key with a passphrase that is long enough."""
        text = _checked(passphrase)
        id, salt, cost = secrets.token_hex(8), secrets.token_bytes(_SALT), cost or KdfCost()
        pad, authentication = _stretched(text, salt, cost)
        sealed = _xor(key.secret, pad)
        return cls(id, salt, cost, sealed, _tag(authentication, id, salt, cost, sealed))

    def open(self, passphrase: str) -> DataKey:
        """Return the data key; a wrong passphrase is refused."""
        pad, authentication = _stretched(_normal(passphrase), self.salt, self.cost)
        expected = _tag(authentication, self.id, self.salt, self.cost, self.sealed)
        # The tag covers the cost too: whoever can write the file cannot make later tries cheap.
        if not hmac.compare_digest(expected, self.tag):
            raise StoreError("this is not the passphrase of the store")
        return DataKey(_xor(self.sealed, pad))

    def write(self, folder: Path) -> None:
        """Put the file into a data folder, there to stay: without it nothing opens the store."""
        document = {
            "format": _FORMAT,
            "id": self.id,
            "cipher": "AEGIS-256 and AES-256-GCM",
            "kdf": {
                "name": "argon2id",
                "salt": self.salt.hex(),
                "time": self.cost.time,
                "memory_kib": self.cost.memory_kib,
                "lanes": self.cost.lanes,
            },
            "sealed": self.sealed.hex(),
            "tag": self.tag.hex(),
        }
        content = json.dumps(document, indent=1).encode() + b"\n"
        write_file(folder / KEY_FILE, content, durable=True)


def read_key_file(folder: Path) -> KeyFile | None:
    """Return the key file of a data folder, None where the store is not encrypted."""
    path = folder / KEY_FILE
    if not os.path.exists(path):
        return None
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, OSError):
        raise _damaged(path) from None
    try:
        return _parsed(document)
    except (KeyError, TypeError, ValueError):
        raise _damaged(path) from None


def _parsed(document: Any) -> KeyFile:
    if document["format"] != _FORMAT:
        raise ValueError("written by another version")
    kdf = document["kdf"]
    cost = KdfCost(int(kdf["time"]), int(kdf["memory_kib"]), int(kdf["lanes"]))
    # The file is read before it is authenticated, and Argon2 takes whatever memory it is told: a
    # damaged number must not take the machine down.
    if not (0 < cost.time < 1_000 and 0 < cost.memory_kib <= _MOST_MEMORY and 0 < cost.lanes < 256):
        raise ValueError("a cost that nobody chose")
    numbers = (bytes.fromhex(text) for text in (kdf["salt"], document["sealed"], document["tag"]))
    salt, sealed, tag = numbers
    # Argon2 needs at least eight blocks of 1 KiB for each lane.
    if (len(salt), len(sealed)) != (_SALT, _SEALED) or cost.memory_kib < 8 * cost.lanes:
        raise ValueError("numbers that Argon2 or the seal cannot have")
    return KeyFile(str(document["id"]), salt, cost, sealed, tag)


def _damaged(path: Path) -> StoreError:
    return StoreError(
        f"{path} cannot be read, and nothing else opens the store; restore it from a backup"
    )


def _checked(passphrase: str) -> str:
    text = _normal(passphrase)
    if not LEAST_CHARS <= len(text) <= MOST_CHARS:
        raise StoreError(
            f"choose a passphrase of {LEAST_CHARS} to {MOST_CHARS} characters; four or five words "
            "make a good one"
        )
    return text


def _normal(passphrase: str) -> str:
    """Return a passphrase as one sequence of characters, however a keyboard composed it."""
    return unicodedata.normalize("NFKC", passphrase)


def _stretched(text: str, salt: bytes, cost: KdfCost) -> tuple[bytes, bytes]:
    from argon2.low_level import Type, hash_secret_raw

    derived = hash_secret_raw(
        # A passphrase from an environment variable may hold bytes that are no text; they count as
        # they are.
        text.encode("utf-8", "surrogatepass"),
        salt,
        time_cost=cost.time,
        memory_cost=cost.memory_kib,
        parallelism=cost.lanes,
        hash_len=64,
        type=Type.ID,
    )
    return derived[:32], derived[32:]


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(left, right, strict=True))


def _tag(key: bytes, id: str, salt: bytes, cost: KdfCost, sealed: bytes) -> bytes:
    facts = (id, salt.hex(), cost.time, cost.memory_kib, cost.lanes, sealed.hex())
    return hmac.new(key, json.dumps(facts).encode(), hashlib.sha256).digest()
