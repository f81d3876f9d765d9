"""A software authenticator: makes a passkey and uses it, as honestly as a test wants."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pdpp.authz.webauthn import PasskeyContext, encode

USED = 0x05
MADE = 0x45


def es256() -> tuple[Any, Callable[[bytes], bytes]]:
    key = ec.generate_private_key(ec.SECP256R1())
    return key, lambda message: key.sign(message, ec.ECDSA(hashes.SHA256()))


def eddsa() -> tuple[Any, Callable[[bytes], bytes]]:
    key = ed25519.Ed25519PrivateKey.generate()
    return key, key.sign


def rs256() -> tuple[Any, Callable[[bytes], bytes]]:
    key = rsa.generate_private_key(65_537, 2_048)
    return key, lambda message: key.sign(message, padding.PKCS1v15(), hashes.SHA256())


@dataclass
class Authenticator:
    """A device that makes one passkey and uses it, as honestly as a test wants."""

    key: Any
    sign: Callable[[bytes], bytes]
    credential: bytes = b"credential-1"
    counter: int = 0
    changes: dict[str, Any] = field(default_factory=dict)

    def client(self, kind: str, context: PasskeyContext, challenge: str) -> bytes:
        said = {"type": kind, "origin": context.origin, "challenge": challenge}
        return json.dumps(said | self.changes).encode()

    def data(self, context: PasskeyContext, flags: int) -> bytes:
        head = hashlib.sha256(str(context.rp_id).encode()).digest() + bytes([flags])
        made = b""
        if flags & 0x40:
            made = bytes(16) + len(self.credential).to_bytes(2, "big") + self.credential + b"\xa0"
        return head + self.counter.to_bytes(4, "big") + made

    def create(self, context: PasskeyContext, challenge: str, flags: int = MADE) -> str:
        der = self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return json.dumps(
            {
                "id": encode(self.credential),
                "client": encode(self.client("webauthn.create", context, challenge)),
                "authenticator": encode(self.data(context, flags)),
                "key": encode(der),
            }
        )

    def use(
        self,
        context: PasskeyContext,
        challenge: str,
        flags: int = USED,
        kind: str = "webauthn.get",
    ) -> str:
        client, data = self.client(kind, context, challenge), self.data(context, flags)
        return json.dumps(
            {
                "id": encode(self.credential),
                "client": encode(client),
                "authenticator": encode(data),
                "signature": encode(self.sign(data + hashlib.sha256(client).digest())),
            }
        )
