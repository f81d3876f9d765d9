"""Remembered keys: the keyring of the machine has the key of a store for the user who is logged in.

It is there where the package ``keyring`` is installed (``pip install 'pdpp-server[keyring]'``) and
the system has one: Keychain, Credential Locker, Secret Service or KWallet.
"""

from importlib import import_module
from typing import Protocol, cast

from pdpp.encryption.data_key import DataKey
from pdpp.model.errors import StoreError

_SERVICE = "pdpp store"


class _SecretService(Protocol):
    """What is used of the package."""

    def get_password(self, service_name: str, username: str) -> str | None: ...
    def set_password(self, service_name: str, username: str, password: str) -> None: ...
    def delete_password(self, service_name: str, username: str) -> None: ...


def _service() -> _SecretService | None:
    try:
        return cast(_SecretService, import_module("keyring"))
    except ImportError:
        return None


def recall(id: str) -> DataKey | None:
    """Return the key that the keyring has under an id; a keyring that fails has none."""
    ring = _service()
    try:
        text = None if ring is None else ring.get_password(_SERVICE, id)
        return None if text is None else DataKey(bytes.fromhex(text))
    except Exception:  # noqa: BLE001 - whatever a system's keyring raises, a passphrase still opens
        return None


def remember(id: str, key: DataKey) -> None:
    """Let the keyring open a store from now on."""
    ring = _service()
    if ring is None:
        raise StoreError("no keyring is installed; run: pip install 'pdpp-server[keyring]'")
    try:
        ring.set_password(_SERVICE, id, key.secret.hex())
    except Exception as problem:  # noqa: BLE001 - each system's keyring fails in its own way
        raise StoreError(f"the keyring of this machine refuses: {type(problem).__name__}") from None


def forget(id: str) -> bool:
    """Take a key out of the keyring; tell whether it had one."""
    ring = _service()
    if ring is None or recall(id) is None:
        return False
    try:
        ring.delete_password(_SERVICE, id)
    except Exception as problem:  # noqa: BLE001 - each system's keyring fails in its own way
        raise StoreError(f"the keyring of this machine refuses: {type(problem).__name__}") from None
    return True
