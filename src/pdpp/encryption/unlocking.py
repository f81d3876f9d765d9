"""Unlocking: where the key of an encrypted store comes from.

A passphrase is never an argument of a command, where every user of the machine sees it. It is in
the first line of a file, in the environment, or typed; or the keyring of the machine has the key.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from pdpp.encryption import remembered_keys
from pdpp.encryption.data_key import DataKey
from pdpp.encryption.key_file import KeyFile
from pdpp.model.errors import StoreError

PASSPHRASE_VARIABLE = "PDPP_STORE_PASSPHRASE"  # noqa: S105 - a name
FILE_VARIABLE = "PDPP_STORE_PASSPHRASE_FILE"
_LONGEST_LINE = 4_096

Ask = Callable[[], str]


def given_passphrase(environment: Mapping[str, str]) -> str | None:
    """Return the passphrase that the environment names, None where it names none."""
    if place := environment.get(FILE_VARIABLE):
        try:
            with Path(place).open(encoding="utf-8") as file:
                return file.readline(_LONGEST_LINE).rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as problem:
            raise StoreError(f"cannot read the passphrase from {place}: {problem}") from None
    return environment.get(PASSPHRASE_VARIABLE) or None


def unlock(
    key_file: KeyFile, folder: Path, environment: Mapping[str, str], ask: Ask | None
) -> DataKey:
    """Return the key that a key file seals; ``ask`` has a person type the passphrase."""
    passphrase = given_passphrase(environment)
    if passphrase is None:
        remembered = remembered_keys.recall(key_file.id)
        if remembered is not None:
            return remembered
        if ask is None:
            raise StoreError(
                f"the store in {folder} is encrypted: run this in a terminal, or give its "
                f"passphrase in {PASSPHRASE_VARIABLE} or in a file that {FILE_VARIABLE} names"
            )
        passphrase = ask()
    return key_file.open(passphrase)
