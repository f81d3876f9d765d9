"""Pseudonyms: what a grant sees as the ids of records whose keys it does not see.

A record has a random number, its *surrogate*, that never changes. A pseudonym is this number
sealed under a key of the grant: the same for ever under one grant, useless under another, and
found again without a table. It is laid out as

    locator (4 bytes) | tag (8 bytes) | masked surrogate (8 bytes)

in URL-safe base64, 27 characters. The locator names the grant to the owner alone. The tag is a
keyed hash of the feed and the surrogate, so that nobody can make up an id; the mask is a keyed
hash of the tag, so that the same surrogate always gives the same id and tells nothing else.
"""

import base64
import hmac
import struct
from binascii import b2a_base64
from collections.abc import Iterable, Sequence
from hashlib import blake2b

LENGTH = 27
_LOCATOR_BYTES = 4
_TAG_BYTES = 8
_SURROGATE_BYTES = 8
_URL_SAFE = bytes.maketrans(b"+/", b"-_")


class GrantKeys:
    """The keys of one grant; those of the owner are under no grant's id."""

    __slots__ = ("locator", "mask_key", "tag_key")

    def __init__(self, secret: bytes, grant_id: str | None) -> None:
        name = b"owner" if grant_id is None else b"grant:" + grant_id.encode()
        key = blake2b(name, key=secret, person=b"pdpp-record-ids").digest()
        self.tag_key, self.mask_key = key[:32], key[32:]
        self.locator = locator_of(secret, grant_id)


class FeedSeal:
    """Seals the surrogates of one feed for one grant."""

    __slots__ = ("_locator", "_mask", "_tag")

    def __init__(self, keys: GrantKeys, connection_id: str, stream: str) -> None:
        self._locator = keys.locator
        self._mask = blake2b(key=keys.mask_key, digest_size=_SURROGATE_BYTES)
        self._tag = blake2b(key=keys.tag_key, digest_size=_TAG_BYTES)
        # Neither name holds a zero byte, so that no two feeds are hashed alike.
        self._tag.update(connection_id.encode() + b"\0" + stream.encode() + b"\0")

    def seal(self, surrogate: int) -> str:
        """Return the pseudonym of a record."""
        return self.seal_all((surrogate,))[0]

    def seal_all(self, surrogates: Sequence[int]) -> list[str]:
        """Return the pseudonyms of some records; of a page at once, each takes half as long."""
        count = len(surrogates)
        plain, apart = struct.pack(f">{count}q", *surrogates), struct.Struct("8s" * count)
        tags = _hashed(self._tag, apart.unpack(plain))
        masked = apart.unpack(_xor(b"".join(_hashed(self._mask, tags)), plain))
        # The zero byte fills the last group of base64, so that no padding stands between two.
        pairs = zip(tags, masked, strict=True)
        sealed = b"".join([self._locator + tag + hidden + b"\0" for tag, hidden in pairs])
        text = b2a_base64(sealed, newline=False).translate(_URL_SAFE).decode()
        return [text[at : at + LENGTH] for at in range(0, len(text), LENGTH + 1)]

    def open(self, pseudonym: str) -> int | None:
        """Return the surrogate of a record, None for anything not sealed here."""
        sealed = _bytes_of(pseudonym)
        # The locator is no secret; the tag decides, and it is compared in constant time.
        if sealed is None or sealed[:_LOCATOR_BYTES] != self._locator:
            return None
        tag = sealed[_LOCATOR_BYTES : _LOCATOR_BYTES + _TAG_BYTES]
        plain = _xor(self._mask_of(tag), sealed[_LOCATOR_BYTES + _TAG_BYTES :])
        if not hmac.compare_digest(tag, self._tag_of(plain)):
            return None
        return int.from_bytes(plain, "big", signed=True)

    def _tag_of(self, plain: bytes) -> bytes:
        return _hashed(self._tag, (plain,))[0]

    def _mask_of(self, tag: bytes) -> bytes:
        return _hashed(self._mask, (tag,))[0]


def _hashed(keyed: blake2b, texts: Iterable[bytes]) -> list[bytes]:
    """Return the keyed hashes of some texts."""
    copied, hashes = keyed.copy, []
    for text in texts:
        hashed = copied()
        hashed.update(text)
        hashes.append(hashed.digest())
    return hashes


def _xor(mask: bytes, text: bytes) -> bytes:
    number = int.from_bytes(mask, "big") ^ int.from_bytes(text, "big")
    return number.to_bytes(len(text), "big")


def locator_of(secret: bytes, grant_id: str | None) -> bytes:
    """Return what the pseudonyms of a grant begin with."""
    name = b"owner" if grant_id is None else b"grant:" + grant_id.encode()
    return blake2b(name, key=secret, digest_size=_LOCATOR_BYTES, person=b"pdpp-id-locator").digest()


def located(pseudonym: str) -> bytes | None:
    """Return the locator of a pseudonym, None where the text cannot be one."""
    sealed = _bytes_of(pseudonym)
    return None if sealed is None else sealed[:_LOCATOR_BYTES]


def _bytes_of(pseudonym: str) -> bytes | None:
    if len(pseudonym) != LENGTH:
        return None
    try:
        sealed = base64.b64decode(pseudonym + "=", altchars=b"-_", validate=True)
    except ValueError:
        return None
    # Another spelling of the same bytes is not the id that was shown.
    return sealed if base64.urlsafe_b64encode(sealed)[:LENGTH].decode() == pseudonym else None
