"""Renewal: a transport whose bearer is exchanged where it has ended, and the request sent again."""

import time
from collections.abc import Callable, Mapping

from pdpp.credentials import Cache, Credential
from pdpp.mcp.reading.transport import Reply, Transport
from pdpp.wire.renewal import Renewal

_UNAUTHORIZED = 401


class RenewingTransport:
    """A transport that keeps its bearer good by what the cache holds."""

    def __init__(
        self,
        inner: Transport,
        cache: Cache,
        credential: Credential,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.origin = inner.origin
        self._inner = inner
        self._renewal = Renewal(cache, credential, clock)

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> Reply:
        """Send a request; renew first where the token has ended, and once more on a 401."""
        if self._renewal.is_due():
            self._renewal.renew(self._renewal.token)
        used = self._renewal.token
        reply = await self._inner.send(method, target, _bearing(headers, used))
        if reply.status != _UNAUTHORIZED or not self._renewal.renew(used):
            return reply
        return await self._inner.send(method, target, _bearing(headers, self._renewal.token))


def _bearing(headers: Mapping[str, str], token: str) -> dict[str, str]:
    return {**headers, "Authorization": f"Bearer {token}"}
