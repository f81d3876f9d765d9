"""Renewal: a token that has ended is exchanged once, under a lock, and the request sent again."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlencode, urlsplit

from pdpp.credentials import Cache, Credential, CredentialError, is_owners, is_token
from pdpp.mcp.transport import Reply, Transport

_TIMEOUT = 30.0
_UNAUTHORIZED = 401


class Renewing:
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
        self._cache = cache
        self._credential = credential
        self._clock = clock
        self._turn = threading.Lock()

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> Reply:
        """Send a request; renew first where the token has ended, and once more on a 401."""
        if self._credential.expired(self._clock()):
            self._renew(self._credential.token)
        used = self._credential.token
        reply = await self._inner.send(method, target, _bearing(headers, used))
        if reply.status != _UNAUTHORIZED or not self._renew(used):
            return reply
        return await self._inner.send(method, target, _bearing(headers, self._credential.token))

    def _renew(self, used: str) -> bool:
        """Get another token than the one that was used; tell whether there is one."""
        with self._turn:
            if self._credential.token == used:
                self._credential = self._exchange(used)
            return self._credential.token != used

    def _exchange(self, used: str) -> Credential:
        """Return what the cache holds by now, renewed where nobody else has done it."""
        try:
            with self._cache.locked(self._credential.provider_url):
                held = self._cache.load(self._credential.provider_url)
                return held if held.token != used else self._renewed(held)
        except (CredentialError, OSError):
            return self._credential

    def _renewed(self, held: Credential) -> Credential:
        renewed = refresh(held, self._clock())
        if renewed is None:
            return held
        with contextlib.suppress(OSError):
            self._cache.store(renewed)
        return renewed


def _bearing(headers: Mapping[str, str], token: str) -> dict[str, str]:
    return {**headers, "Authorization": f"Bearer {token}"}


def refresh(credential: Credential, now: float) -> Credential | None:
    """Exchange a refresh token; None where there is none or the provider refuses."""
    if credential.refresh_token is None or credential.token_endpoint is None:
        return None
    form = {"grant_type": "refresh_token", "refresh_token": credential.refresh_token}
    if credential.client_id is not None:
        form["client_id"] = credential.client_id
    told = _post(credential.token_endpoint, form)
    token = told.get("access_token")
    if not isinstance(token, str) or not is_token(token) or is_owners(token):
        return None
    lifetime, rotated = told.get("expires_in"), told.get("refresh_token")
    return credential._replace(
        token=token,
        refresh_token=rotated if isinstance(rotated, str) else credential.refresh_token,
        expires_at=now + lifetime if isinstance(lifetime, int | float) else None,
    )


def _post(address: str, form: Mapping[str, str]) -> Mapping[str, object]:
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    try:
        connection.request("POST", parts.path or "/", urlencode(form), headers)
        response = connection.getresponse()
        body = response.read(1 << 20)
        found = json.loads(body) if response.status == 200 else {}
    except (OSError, HTTPException, ValueError):
        return {}
    finally:
        connection.close()
    return found if isinstance(found, dict) else {}
