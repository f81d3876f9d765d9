"""Cursors: opaque, signed, and bound to the grant and the request that made them."""

import base64
import hmac
from collections.abc import Sequence
from typing import Any

import orjson

from pdpp.model.errors import InvalidCursor

_TAG_BYTES = 16
_LONGEST = 4_096


class Signer:
    """Seals positions into cursors and opens them again."""

    def __init__(self, secret: bytes) -> None:
        self._keyed = hmac.new(secret, digestmod="sha256")

    def seal(self, kind: str, binding: Sequence[str], position: Any) -> str:
        """Return the cursor of a position."""
        payload = orjson.dumps(position)
        tag = self._tag(kind, binding, payload)
        return base64.urlsafe_b64encode(tag + payload).rstrip(b"=").decode()

    def open(self, kind: str, binding: Sequence[str], cursor: str, param: str = "cursor") -> Any:
        """Return the position of a cursor made for the same grant, request and direction."""
        refusal = InvalidCursor(
            f"This {param} was not made for this request; start again without it.", param=param
        )
        if len(cursor) > _LONGEST or not cursor.isascii():
            raise refusal
        padded = cursor + "=" * (-len(cursor) % 4)
        try:
            sealed = base64.b64decode(padded, altchars=b"-_", validate=True)
        except ValueError:
            raise refusal from None
        tag, payload = sealed[:_TAG_BYTES], sealed[_TAG_BYTES:]
        if not hmac.compare_digest(tag, self._tag(kind, binding, payload)):
            raise refusal
        canonical = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
        if canonical != cursor:
            raise refusal
        return orjson.loads(payload)

    def _tag(self, kind: str, binding: Sequence[str], payload: bytes) -> bytes:
        bound = orjson.dumps([kind, *binding])
        tag = self._keyed.copy()
        tag.update(len(bound).to_bytes(4, "big") + bound + payload)
        return tag.digest()[:_TAG_BYTES]
