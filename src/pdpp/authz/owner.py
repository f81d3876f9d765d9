"""The owner: a passphrase that only its hash is kept of, and sessions in a browser."""

import hashlib
import hmac
import secrets
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.short_lived import SecretKind, find_secret, new_secret
from pdpp.authz.throttle import Throttle
from pdpp.model.errors import AuthenticationError, Conflict, InvalidRequest
from pdpp.model.instant import Clock
from pdpp.store.vault import Vault, VaultReader, VaultTransaction

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LEAST_CHARS = 12
MOST_CHARS = 1_024

_SETTING = "passphrase"
_SETUP = "setup_code"
_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
_GROUPS, _GROUP_CHARS = 3, 4


def begin_setup(vault: Vault) -> str | None:
    """Return a new code for choosing the first passphrase in a browser; None where there is one.

    Whoever started the server reads the code there; another user of the machine, or a page that
    reaches this server through a browser, does not.
    """
    with vault.transaction() as transaction:
        if has_passphrase(transaction):
            return None
        groups = (secrets.SystemRandom().choices(_ALPHABET, k=_GROUP_CHARS) for _ in range(_GROUPS))
        code = "-".join("".join(group) for group in groups)
        transaction.keep_setting(_SETUP, _code_hash(code))
        return code


def has_passphrase(vault: VaultReader) -> bool:
    """Tell whether the owner has chosen a passphrase."""
    return vault.setting(_SETTING) is not None


def keep_passphrase(transaction: VaultTransaction, hashed: bytes) -> None:
    """Make a passphrase, hashed, the owner's own, and end every session."""
    transaction.keep_setting(_SETTING, hashed)
    transaction.keep_setting(_SETUP, None)
    transaction.drop_secrets(SecretKind.SESSION.value)


def hash_passphrase(passphrase: str) -> bytes:
    """Return the hash of a passphrase that is long enough; this takes a noticeable moment."""
    text = _normal(passphrase)
    if len(text) < LEAST_CHARS:
        raise InvalidRequest(
            f"Choose a passphrase of at least {LEAST_CHARS} characters; four or five words make "
            "a good one.",
            param="passphrase",
        )
    if len(text) > MOST_CHARS:
        raise InvalidRequest(
            f"A passphrase has at most {MOST_CHARS} characters.", param="passphrase"
        )
    return _hasher().hash(text).encode()


@dataclass(frozen=True, slots=True)
class Owner:
    """Lets the owner in, and knows who was let in."""

    vault: Vault
    clock: Clock
    lifetimes: Lifetimes
    throttle: Throttle

    @property
    def settled(self) -> bool:
        """Tell whether there is a passphrase."""
        return has_passphrase(self.vault)

    @property
    def awaited(self) -> bool:
        """Tell whether there is a code with which the first passphrase may be chosen here."""
        return self.vault.setting(_SETUP) is not None

    def set_up(self, code: str, passphrase: str, address: str) -> str:
        """Choose the first passphrase with the code that the server printed; begin a session."""
        self.throttle.take(address)
        held = self.vault.setting(_SETUP)
        if held is None or not hmac.compare_digest(held, _code_hash(code)):
            raise AuthenticationError("That is not the set-up code that the server printed.")
        self.throttle.forgive(address)
        hashed = hash_passphrase(passphrase)
        with self.vault.transaction() as transaction:
            if transaction.setting(_SETUP) != held:
                raise Conflict("A passphrase was chosen already; log in with it.")
            keep_passphrase(transaction, hashed)
            return self._begin(transaction)

    def log_in(self, passphrase: str, address: str) -> str:
        """Begin a session and return its secret; a wrong passphrase is refused."""
        self.throttle.take(address)
        held = self.vault.setting(_SETTING)
        if held is None or not _matches(held, passphrase):
            raise AuthenticationError("That is not the passphrase.")
        self.throttle.forgive(address)
        with self.vault.transaction() as transaction:
            if transaction.setting(_SETTING) != held:
                raise AuthenticationError("The passphrase has just been changed.")
            return self._begin(transaction)

    def knows(self, secret: str | None) -> bool:
        """Tell whether a secret is that of a session that goes on."""
        if not secret:
            return False
        return find_secret(self.vault, SecretKind.SESSION, secret, self.clock()) is not None

    def log_out(self, secret: str) -> None:
        """End a session."""
        with self.vault.transaction() as transaction:
            session = find_secret(transaction, SecretKind.SESSION, secret, self.clock())
            if session is not None:
                transaction.use_secret(session, self.clock())

    def _begin(self, transaction: VaultTransaction) -> str:
        text, session = new_secret(SecretKind.SESSION, {}, self.clock(), self.lifetimes.session)
        transaction.add_secret(session)
        return text


def form_token(secret: str) -> str:
    """Return what a form carries to show that it came from a page of this session."""
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()


def _matches(held: bytes, passphrase: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return _hasher().verify(held.decode(), _normal(passphrase)[: MOST_CHARS + 1])
    except (VerificationError, InvalidHashError):
        return False


def _normal(passphrase: str) -> str:
    """Return a passphrase as every keyboard types it."""
    return unicodedata.normalize("NFC", passphrase)


def _code_hash(code: str) -> bytes:
    """Return the hash of a set-up code, however it was typed."""
    bare = "".join(char for char in code.upper() if char in _ALPHABET)
    return hashlib.sha256(bare.encode()).digest()
