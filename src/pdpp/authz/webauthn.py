"""WebAuthn: check what a browser and an authenticator say when a passkey is made or used.

No attestation is asked for: which maker built an authenticator decides nothing here. So nothing is
signed while a passkey is made, and the public key may come as the browser exports it (the DER form
that ``getPublicKey`` returns) in place of the CBOR form inside the authenticator data.
"""

import base64
import binascii
import hashlib
import hmac
import ipaddress
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from pdpp.authz.lifetime import MINUTE
from pdpp.model.errors import AuthenticationError

CHALLENGE_LIFE = 10 * MINUTE
ALGORITHMS = (-7, -8, -257)
"""ES256, EdDSA and RS256 by their COSE numbers, in the order in which we like them."""
_PRESENT, _VERIFIED, _ATTESTED = 0x01, 0x04, 0x40
_HEAD_BYTES, _AAGUID_BYTES = 37, 16
_LEAST_RSA_BITS = 2_048
_TIME_BYTES, _NONCE_BYTES, _SEAL_BYTES = 8, 16, 32
_MOST_CHARS = 16_384
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class PasskeyContext:
    """Where a passkey is made or used: the address in the browser, and the browser itself.

    ``holder`` is the session, or the mark of a browser without one: a challenge is good for the
    browser that got it and for no other.
    """

    origin: str
    holder: str
    key: bytes

    @property
    def rp_id(self) -> str | None:
        """Return the name that passkeys here are bound to; None where browsers allow none.

        Browsers make no passkeys for numbers, nor without https, except under ``localhost``.
        """
        parts = urlsplit(self.origin)
        name = (parts.hostname or "").lower()
        try:
            ipaddress.ip_address(name)
        except ValueError:
            local = name == "localhost" or name.endswith(".localhost")
            return name if name and (local or parts.scheme == "https") else None
        return None

    @property
    def user_id(self) -> str:
        """Return the name under which authenticators keep this owner; it tells nothing."""
        return encode(hmac.digest(self.key, b"user", "sha256"))

    def new_challenge(self, now: int) -> str:
        """Return a challenge that this server knows again without keeping anything.

        A stranger who opens the login page again and again therefore writes nothing.
        """
        body = now.to_bytes(_TIME_BYTES, "big") + secrets.token_bytes(_NONCE_BYTES)
        return encode(body + self._seal(body))

    def check_challenge(self, text: str, now: int) -> None:
        """Refuse a challenge that was made elsewhere, for another browser, or too long ago."""
        challenge = decode(text)
        body, seal = challenge[:-_SEAL_BYTES], challenge[-_SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(body)):
            raise AuthenticationError("This passkey was asked for elsewhere; try again.")
        if not 0 <= now - int.from_bytes(body[:_TIME_BYTES], "big") <= CHALLENGE_LIFE:
            raise AuthenticationError("That took too long; try the passkey again.")

    def _seal(self, body: bytes) -> bytes:
        message = b"\0".join((self.holder.encode(), str(self.rp_id).encode(), body))
        return hmac.digest(self.key, message, "sha256")


@dataclass(frozen=True, slots=True)
class AuthenticatorData:
    """What an authenticator says of itself and of its user."""

    rp_hash: bytes
    flags: int
    counter: int
    credential_id: bytes
    """The new credential; empty while one is used."""

    @classmethod
    def parse(cls, raw: bytes) -> "AuthenticatorData":
        """Read the head, which has a fixed layout: hash of the name, flags, counter."""
        if len(raw) < _HEAD_BYTES:
            raise AuthenticationError("The passkey's answer is incomplete.")
        flags, credential_id = raw[32], b""
        if flags & _ATTESTED:
            begin = _HEAD_BYTES + _AAGUID_BYTES + 2
            length = int.from_bytes(raw[begin - 2 : begin], "big")
            credential_id = raw[begin : begin + length]
        return cls(raw[:32], flags, int.from_bytes(raw[33:37], "big"), credential_id)


def check_client_data(raw: bytes, kind: str, context: PasskeyContext, now: int) -> str:
    """Check what the browser says it was asked; return the challenge.

    The browser writes the address itself, so another port of this machine, or a page that looks
    like ours, cannot use a passkey here.
    """
    try:
        data: dict[str, Any] = orjson.loads(raw)
        said = (data["type"], data["origin"], data["challenge"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as problem:
        raise AuthenticationError("The passkey's answer cannot be read.") from problem
    if not all(isinstance(part, str) for part in said) or said[0] != kind:
        raise AuthenticationError("The passkey answered a different request. Try again.")
    if data.get("crossOrigin") or not is_same_origin(said[1], context.origin):
        raise AuthenticationError("The passkey was used at another address.")
    context.check_challenge(said[2], now)
    return str(said[2])


def check_authenticator(data: AuthenticatorData, rp_id: str) -> None:
    """Refuse another server's passkey, and one whose user was not verified."""
    if not hmac.compare_digest(data.rp_hash, hashlib.sha256(rp_id.encode()).digest()):
        raise AuthenticationError("The passkey belongs to another address.")
    if data.flags & (_PRESENT | _VERIFIED) != _PRESENT | _VERIFIED:
        raise AuthenticationError("The passkey did not check that it is you: use its PIN or touch.")


def check_public_key(der: bytes) -> None:
    """Refuse a public key that we cannot check signatures with."""
    _public_key(der)


def check_signature(der: bytes, signature: bytes, authenticator: bytes, client: bytes) -> None:
    """Refuse what the passkey did not sign."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding

    key, message = _public_key(der), authenticator + hashlib.sha256(client).digest()
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
        elif isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, message)
        else:
            key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature as problem:
        raise AuthenticationError("That is not the passkey.") from problem


def _public_key(der: bytes) -> Any:
    """Return a key of one of the three algorithms; anything else is refused."""
    # Loaded with the first passkey: 30 ms and 6 MB that a server without one does not spend.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        key = load_der_public_key(der)
    except (ValueError, UnsupportedAlgorithm) as problem:
        raise AuthenticationError("The passkey's key cannot be read.") from problem
    good = (
        (isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1))
        or isinstance(key, ed25519.Ed25519PublicKey)
        or (isinstance(key, rsa.RSAPublicKey) and key.key_size >= _LEAST_RSA_BITS)
    )
    if not good:
        raise AuthenticationError("This server does not know this kind of passkey.")
    return key


def encode(raw: bytes) -> str:
    """Return bytes as WebAuthn writes them: base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(text: object) -> bytes:
    """Return the bytes of base64url text."""
    if not isinstance(text, str) or len(text) > _MOST_CHARS:
        raise AuthenticationError("The passkey's answer cannot be read.")
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as problem:
        raise AuthenticationError("The passkey's answer cannot be read.") from problem


def is_same_origin(one: str, other: str) -> bool:
    """Tell whether two addresses are one: scheme, host and port."""
    return _origin(one) == _origin(other)


def _origin(text: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(text)
        return parts.scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", "", None
