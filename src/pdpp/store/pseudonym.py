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
from collections.abc import Sequence
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
        plain = struct.pack(f">{len(surrogates)}q", *surrogates)
        starts = range(0, len(plain), _SURROGATE_BYTES)
        # As ``_tag_of`` and ``_mask_of`` do it: for a page, calling them takes a third of the time.
        copied_tag, copied_mask = self._tag.copy, self._mask.copy
        tags, masks = [], []
        for at in starts:
            hashed = copied_tag()
            hashed.update(plain[at : at + _SURROGATE_BYTES])
            tag = hashed.digest()
            tags.append(tag)
            hashed = copied_mask()
            hashed.update(tag)
            masks.append(hashed.digest())
        masked, parts = _xor(b"".join(masks), plain), list[bytes]()
        for tag, at in zip(tags, starts, strict=True):
            # The zero byte fills the last group of base64, so that no padding stands between two.
            parts += (self._locator, tag, masked[at : at + _SURROGATE_BYTES], b"\0")
        text = b2a_base64(b"".join(parts), newline=False).translate(_URL_SAFE).decode()
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
        tag = self._tag.copy()
        tag.update(plain)
        return tag.digest()

    def _mask_of(self, tag: bytes) -> bytes:
        mask = self._mask.copy()
        mask.update(tag)
        return mask.digest()


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
