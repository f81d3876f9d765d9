"""Proofs: the owner typed the passphrase a short while ago, in this very chain of forms.

A browser sends its cookies to every port of a host, so a program that listens on another port may
learn the cookie of a session. It cannot learn a proof: that stands only in answers to forms in
which the passphrase was typed or that carried a proof, and never in a page that is merely opened.
So whoever has nothing but the cookie can look, log out and refuse a request, and can neither
approve nor change anything.
"""

import hashlib
import hmac
import re

from pdpp.authz.lifetime import MINUTE

PROOF_LIFE = 10 * MINUTE
_PURPOSE = b"pdpp pages proof"
_PROOF = re.compile(r"(\d{1,18})\.([0-9a-f]{64})\Z", re.ASCII)


def proof_key(secret: bytes) -> bytes:
    """Return the key of proofs, which never leaves the server."""
    return hmac.digest(secret, _PURPOSE, "sha256")


def passkey_key(key: bytes) -> bytes:
    """Return the key that seals the challenges of passkeys."""
    return hmac.digest(key, b"passkey challenge", "sha256")


def upload_key(key: bytes, upload_id: str) -> str:
    """Return what each piece of an upload carries; only the answer to its beginning holds it."""
    return hmac.new(key, f"upload {upload_id}".encode(), hashlib.sha256).hexdigest()


def make_proof(key: bytes, session: str, typed_at: int) -> str:
    """Return the proof that a session's passphrase was typed at a moment."""
    return f"{typed_at}.{_seal(key, session, typed_at)}"


def read_proof(key: bytes, session: str, text: str, now: int) -> int | None:
    """Return when the passphrase was typed; None where this is no proof, or an old one."""
    match = _PROOF.match(text)
    if match is None:
        return None
    typed_at = int(match[1])
    if not hmac.compare_digest(_seal(key, session, typed_at), match[2]):
        return None
    return typed_at if now - PROOF_LIFE <= typed_at <= now else None


def _seal(key: bytes, session: str, typed_at: int) -> str:
    return hmac.new(key, f"{typed_at}:{session}".encode(), hashlib.sha256).hexdigest()
