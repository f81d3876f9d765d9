"""The data key: 32 random bytes under which everything in an encrypted store is written."""

import secrets
from hashlib import blake2b

_SIZE = 32


class DataKey:
    """The key of a store. Nothing prints it; each use gets a key of its own derived from it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != _SIZE:
            raise ValueError(f"a data key has {_SIZE} bytes")
        self._secret = secret

    @classmethod
    def new(cls) -> "DataKey":
        """Return a key that nobody had before."""
        return cls(secrets.token_bytes(_SIZE))

    @property
    def secret(self) -> bytes:
        """Return the bytes themselves, for whoever seals or keeps them."""
        return self._secret

    def derived(self, purpose: bytes) -> bytes:
        """Return the key for one purpose, from which no other can be computed."""
        return blake2b(purpose, key=self._secret, digest_size=_SIZE).digest()

    def __repr__(self) -> str:
        return "DataKey(...)"
