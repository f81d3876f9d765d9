"""The owner: a passphrase that only its hash is kept of, and sessions in a browser."""

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.passkey import add_passkey, check_passkey, forget_passkeys, use_passkey
from pdpp.authz.short_lived import SecretKind, find_secret, new_secret
from pdpp.authz.throttle import Throttle
from pdpp.authz.token import hash_token
from pdpp.authz.webauthn import PasskeyContext
from pdpp.model.errors import AuthenticationError, Conflict, InvalidRequest
from pdpp.model.instant import Clock
from pdpp.store.vault import ShortLivedSecret, Vault, VaultReader, VaultTransaction

if TYPE_CHECKING:
    from argon2 import PasswordHasher

_MOST_SESSIONS = 200
LEAST_CHARS = 12
MOST_CHARS = 1_024

_SETTING = "passphrase"
_SETUP = "setup_code"
_PRIVATE_NAME = "private_name"
_BOUND = "bound"
# Without I, L, O, 0 and 1, which look alike. Twelve of 31 letters are 59 bits.
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
        code = _new_code()
        transaction.keep_setting(_SETUP, _code_hash(code))
        return code


def new_login_code(vault: Vault, now: int, lifetimes: Lifetimes) -> str:
    """Return a code that logs in once, for whoever can run commands beside the data.

    Nobody guesses it, so tries with it are not slowed down: strangers cannot lock the owner out.
    """
    code = _new_code()
    with vault.transaction() as transaction:
        transaction.drop_secrets(SecretKind.LOGIN_CODE.value)
        _, kept = new_secret(SecretKind.LOGIN_CODE, {}, now, lifetimes.login_code, text=_bare(code))
        transaction.add_secret(kept)
    return code


def private_host(vault: Vault) -> str:
    """Return the owner's own name for this server, made once: random, and under ``.localhost``.

    Browsers lead every such name to this machine, and keep its cookies apart from those of
    ``localhost`` and ``127.0.0.1``, which every port of the machine gets.
    """
    known = known_private_host(vault)
    if known is not None:
        return known
    with vault.transaction() as transaction:
        if transaction.setting(_PRIVATE_NAME) is None:
            name = f"pdpp-{secrets.token_hex(8)}"
            transaction.keep_setting(_PRIVATE_NAME, name.encode())
    return private_host(vault)


def known_private_host(vault: VaultReader) -> str | None:
    """Return the owner's own name for this server, None where no server has run yet."""
    kept = vault.setting(_PRIVATE_NAME)
    return None if kept is None else f"{kept.decode()}.localhost"


def has_passphrase(vault: VaultReader) -> bool:
    """Tell whether the owner has chosen a passphrase."""
    return vault.setting(_SETTING) is not None


def keep_passphrase(
    transaction: VaultTransaction, hashed: bytes, *, passkeys_stay: bool = False
) -> None:
    """Make a passphrase, hashed, the owner's own; end every session and forget the passkeys."""
    if not passkeys_stay:
        forget_passkeys(transaction)
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

    def set_up(self, code: str, passphrase: str, address: str, *, bound: bool = True) -> str:
        """Choose the first passphrase with the code that the server printed; begin a session."""
        # Counted before the code is compared: tries that run at the same time must not share one
        # count.
        self.throttle.take(address)
        expected = self.vault.setting(_SETUP)
        if expected is None or not hmac.compare_digest(expected, _code_hash(code)):
            raise AuthenticationError("That is not the set-up code that the server printed.")
        self.throttle.forgive(address)
        # Outside the transaction: it takes an eighth of a second, and writers wait for each other.
        hashed = hash_passphrase(passphrase)
        with self.vault.transaction() as transaction:
            if transaction.setting(_SETUP) != expected:
                raise Conflict("A passphrase was chosen already; log in with it.")
            keep_passphrase(transaction, hashed)
            return self._begin(transaction, bound=bound)

    def log_in(
        self, passphrase: str, address: str, browser: str | None = None, *, bound: bool = True
    ) -> str:
        """Begin a session and return its secret; a wrong passphrase is refused."""
        stored = self.check_passphrase(passphrase, address, browser)
        with self.vault.transaction() as transaction:
            _require_unchanged(transaction, stored)
            return self._begin(transaction, bound=bound)

    def check_passphrase(self, passphrase: str, address: str, browser: str | None = None) -> bytes:
        """Refuse a wrong passphrase, and slow down who guesses; return the stored hash.

        ``browser`` is what a browser brings that logged in before.
        """
        # A browser that logged in before has a pace of its own, so that strangers who guess cannot
        # lock the owner out.
        known = self._knows_browser(browser)
        guesser = hash_token(str(browser)) if known else address
        self.throttle.take(guesser, known=known)
        stored = self.vault.setting(_SETTING)
        if stored is None or not _matches(stored, passphrase):
            raise AuthenticationError("That is not the passphrase.")
        self.throttle.forgive(guesser, known=known)
        return stored

    def check_code(self, code: str, vault: VaultReader | None = None) -> ShortLivedSecret:
        """Return a login code that is good now; refuse any other without waiting to write."""
        kept = find_secret(vault or self.vault, SecretKind.LOGIN_CODE, _bare(code), self.clock())
        if kept is None:
            raise AuthenticationError(
                "This code is wrong or has expired; pdpp owner code prints a new one."
            )
        return kept

    def log_in_with_code(self, code: str, *, bound: bool = True) -> str:
        """Begin a session with a code that ``pdpp owner code`` printed, which is used up."""
        with self.vault.transaction() as transaction:
            transaction.drop_secret(self.check_code(code, transaction))
            return self._begin(transaction, bound=bound)

    def check_passkey(self, answer: str, context: PasskeyContext) -> None:
        """Refuse an answer that no passkey of the owner's gave, without waiting to write."""
        check_passkey(self.vault, answer, context, self.clock())

    def log_in_with_passkey(
        self, answer: str, context: PasskeyContext, *, bound: bool = True
    ) -> str:
        """Begin a session with the answer of a passkey, which is good once.

        Nobody guesses a signature, so tries are not slowed down.
        """
        with self.vault.transaction() as transaction:
            use_passkey(transaction, answer, context, self.clock())
            return self._begin(transaction, bound=bound)

    def add_passkey(self, answer: str, name: str, context: PasskeyContext, stored: bytes) -> None:
        """Keep a new passkey; ``stored`` is the hash that the passphrase was checked against."""
        with self.vault.transaction() as transaction:
            _require_unchanged(transaction, stored)
            add_passkey(transaction, answer, name, context, self.clock())

    def new_browser(self) -> str:
        """Return what a browser brings from now on, to be known again."""
        text, kept = new_secret(SecretKind.BROWSER, {}, self.clock(), self.lifetimes.browser)
        with self.vault.transaction() as transaction:
            transaction.add_secret(kept)
        return text

    def _knows_browser(self, browser: str | None) -> bool:
        if not browser:
            return False
        return find_secret(self.vault, SecretKind.BROWSER, browser, self.clock()) is not None

    def knows(self, secret: str | None, *, bound: bool = True) -> bool:
        """Tell whether a secret is that of a session that goes on, at the kind of address of it.

        A cookie that every port of the machine gets must not become one that proves more.
        """
        if not secret:
            return False
        session = find_secret(self.vault, SecretKind.SESSION, secret, self.clock())
        return session is not None and session.body.get(_BOUND) == bound

    def log_out(self, secret: str) -> None:
        """End a session."""
        with self.vault.transaction() as transaction:
            session = find_secret(transaction, SecretKind.SESSION, secret, self.clock())
            if session is not None:
                transaction.use_secret(session, self.clock())

    def sessions(self) -> Sequence[ShortLivedSecret]:
        """Return the sessions that go on, the newest first."""
        return self.vault.secrets(SecretKind.SESSION.value, self.clock(), _MOST_SESSIONS)

    def end_sessions(self, hashes: Collection[str]) -> None:
        """End sessions by their hashes."""
        with self.vault.transaction() as transaction:
            for session in transaction.secrets(
                SecretKind.SESSION.value, self.clock(), _MOST_SESSIONS
            ):
                if session.hash in hashes:
                    transaction.drop_secret(session)

    def change_passphrase(self, passphrase: str, stored: bytes, *, bound: bool = True) -> str:
        """Choose another passphrase, which ends every session; return the secret of a new one.

        ``stored`` is the hash that the passphrase which held before was checked against.
        """
        hashed = hash_passphrase(passphrase)
        with self.vault.transaction() as transaction:
            _require_unchanged(transaction, stored)
            keep_passphrase(transaction, hashed, passkeys_stay=True)
            return self._begin(transaction, bound=bound)

    def _begin(self, transaction: VaultTransaction, *, bound: bool) -> str:
        """Begin a session: a short one where cookies are not bound to this server alone."""
        life = self.lifetimes.session if bound else self.lifetimes.shared_session
        text, session = new_secret(SecretKind.SESSION, {_BOUND: bound}, self.clock(), life)
        transaction.add_secret(session)
        return text


def form_token(secret: str) -> str:
    """Return what a form carries to show that it came from a page of this session."""
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def _require_unchanged(transaction: VaultTransaction, stored: bytes) -> None:
    """Refuse what was allowed under a passphrase that holds no more.

    Hashing takes a noticeable moment. Without this check somebody who knows the old passphrase and
    tries all the time would keep a way in over ``pdpp owner init --reset``.
    """
    if transaction.setting(_SETTING) != stored:
        raise AuthenticationError("The passphrase has just been changed.")


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()


def _matches(stored: bytes, passphrase: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        # Cut to one character over the bound, so that a text of megabytes is not hashed, and one
        # that is only longer than the passphrase is still wrong.
        return _hasher().verify(stored.decode(), _normal(passphrase)[: MOST_CHARS + 1])
    except (VerificationError, InvalidHashError):
        return False


def _normal(passphrase: str) -> str:
    """Return a passphrase as every keyboard types it."""
    return unicodedata.normalize("NFC", passphrase)


def _new_code() -> str:
    groups = (secrets.SystemRandom().choices(_ALPHABET, k=_GROUP_CHARS) for _ in range(_GROUPS))
    return "-".join("".join(group) for group in groups)


def _bare(code: str) -> str:
    """Return a code as it is compared, however it was typed."""
    return "".join(char for char in code.upper() if char in _ALPHABET)


def _code_hash(code: str) -> bytes:
    return hashlib.sha256(_bare(code).encode()).digest()
