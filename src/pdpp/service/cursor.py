"""Cursors: opaque, sealed, and bound to the grant and the request that made them.

A cursor holds more than its reader may see: the moment of a write, where only its day is shown. It
is laid out as a tag and a masked payload. The tag is a keyed hash of what the cursor is bound to
and of the payload, so that nobody can make one up; the mask follows from the tag under another
key, so that the same position always gives the same cursor and tells nothing else.
"""

import base64
import hmac
from collections.abc import Iterable, Sequence
from hashlib import blake2b, shake_256
from typing import Any

import orjson

from pdpp.model.errors import InvalidCursor

_TAG_BYTES = 16
_LONGEST = 4_096


def refused_cursor(param: str = "cursor") -> InvalidCursor:
    """Return the refusal of a cursor that does not go with its request."""
    return InvalidCursor(
        f"This {param} was not made for this request; start again without it.", param=param
    )


class Signer:
    """Seals positions into cursors and opens them again."""

    def __init__(self, secret: bytes) -> None:
        # Copied for each cursor: the key is hashed once, not once a cursor.
        tag_key = hmac.digest(secret, b"cursor tag", "sha256")
        self._keyed = blake2b(key=tag_key, digest_size=_TAG_BYTES)
        self._mask_key = hmac.digest(secret, b"cursor mask", "sha256")

    def seal(self, kind: str, binding: Sequence[str], position: Any) -> str:
        """Return the cursor of a position."""
        return self.seal_all(kind, binding, [position])[0]

    def seal_all(self, kind: str, binding: Sequence[str], positions: Iterable[Any]) -> list[str]:
        """Return the cursors of several positions of one request."""
        bound = self._bound(kind, binding)
        cursors = []
        for payload in map(orjson.dumps, positions):
            tag = _tag(bound, payload)
            cursors.append(_text(tag + self._masked(tag, payload)))
        return cursors

    def open(self, kind: str, binding: Sequence[str], cursor: str, param: str = "cursor") -> Any:
        """Return the position of a cursor made for the same grant, request and direction."""
        payload = self._payload(kind, binding, cursor)
        if payload is None:
            raise refused_cursor(param)
        return orjson.loads(payload)

    def is_of_kind(self, kind: str, binding: Sequence[str], cursor: str) -> bool:
        """Tell whether a cursor was made for such a request."""
        return self._payload(kind, binding, cursor) is not None

    def _payload(self, kind: str, binding: Sequence[str], cursor: str) -> bytes | None:
        if len(cursor) > _LONGEST or not cursor.isascii():
            return None
        padded = cursor + "=" * (-len(cursor) % 4)
        try:
            sealed = base64.b64decode(padded, altchars=b"-_", validate=True)
        except ValueError:
            return None
        tag = sealed[:_TAG_BYTES]
        payload = self._masked(tag, sealed[_TAG_BYTES:])
        # Unmasked before it is authenticated, as the construction demands; nothing reads the
        # payload until the tag is compared.
        genuine = hmac.compare_digest(tag, _tag(self._bound(kind, binding), payload))
        # The same bytes can be written in several ways; only one is ours.
        return payload if genuine and _text(sealed) == cursor else None

    def _masked(self, tag: bytes, text: bytes) -> bytes:
        """Return a text under the mask of a tag, or what a masked text was."""
        # The tag is the nonce (a synthetic one): equal positions give equal cursors, and different
        # positions never share a mask.
        mask = shake_256(self._mask_key + tag).digest(len(text))
        number = int.from_bytes(mask, "big") ^ int.from_bytes(text, "big")
        return number.to_bytes(len(text), "big")

    def _bound(self, kind: str, binding: Sequence[str]) -> blake2b:
        """Return the tag of what a cursor is bound to; its length keeps all else out of it."""
        bound, tag = orjson.dumps([kind, *binding]), self._keyed.copy()
        tag.update(len(bound).to_bytes(4, "big") + bound)
        return tag


def _tag(bound: blake2b, payload: bytes) -> bytes:
    tag = bound.copy()
    tag.update(payload)
    return tag.digest()


def _text(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
