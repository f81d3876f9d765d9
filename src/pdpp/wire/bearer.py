"""Bearers: the token that requests carry, renewed when it has ended.

A token that has ended is exchanged once, under a lock that all programs of this user share, and
the request that was refused with a 401 is sent once more. The library and the adapter both send
through here.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from pdpp.credentials import Cache, Credential, CredentialError, is_owners, is_token
from pdpp.wire.http import FORM_LIMITS, Download, HttpClient, HttpReply, Unreachable

_OK, _UNAUTHORIZED = 200, 401
Sent = TypeVar("Sent", HttpReply, Download)


class Bearer(Protocol):
    """The token that requests carry."""

    def send(self, request: Callable[[str], Sent]) -> Sent:
        """Send a request that takes the token; return its answer."""
        ...


class FixedBearer(NamedTuple):
    """A token that cannot be renewed."""

    token: str

    def send(self, request: Callable[[str], Sent]) -> Sent:
        """Send a request with the token."""
        return request(self.token)


class RenewedBearer:
    """The token in the cache, renewed when it ends; safe from any thread."""

    def __init__(
        self, cache: Cache, credential: Credential, clock: Callable[[], float] = time.time
    ) -> None:
        self._cache = cache
        self._credential = credential
        self._clock = clock
        self._turn = threading.Lock()

    def send(self, request: Callable[[str], Sent]) -> Sent:
        """Send a request; renew before where the token has ended, and send again after a 401."""
        if self._credential.expired(self._clock()):
            self.renew(self._credential.token)
        used = self._credential.token
        reply = request(used)
        if reply.status != _UNAUTHORIZED or not self.renew(used):
            return reply
        reply.close()
        return request(self._credential.token)

    def renew(self, used: str) -> bool:
        """Get another token than the one that was used; tell whether there is one."""
        with self._turn:
            if self._credential.token == used:
                self._credential = self._exchange(used)
            return self._credential.token != used

    def _exchange(self, used: str) -> Credential:
        """Return what the cache holds by now, renewed where nobody else has done it."""
        try:
            with self._cache.locked(self._credential.provider_url):
                cached = self._cache.load(self._credential.provider_url)
                return cached if cached.token != used else self._renewed(cached)
        except (CredentialError, OSError):
            return self._credential

    def _renewed(self, cached: Credential) -> Credential:
        renewed = refresh(cached, self._clock())
        if renewed is None:
            return cached
        with contextlib.suppress(OSError):
            self._cache.store(renewed)
        return renewed


def refresh(credential: Credential, now: float) -> Credential | None:
    """Exchange a refresh token; None where there is none or the provider refuses."""
    if credential.refresh_token is None or credential.token_endpoint is None:
        return None
    form = {"grant_type": "refresh_token", "refresh_token": credential.refresh_token}
    if credential.client_id is not None:
        form["client_id"] = credential.client_id
    answer = _post(credential.token_endpoint, form)
    token = answer.get("access_token")
    if not isinstance(token, str) or not is_token(token) or is_owners(token):
        return None
    lifetime, rotated = answer.get("expires_in"), answer.get("refresh_token")
    return credential._replace(
        token=token,
        refresh_token=rotated if isinstance(rotated, str) else credential.refresh_token,
        expires_at=now + lifetime if isinstance(lifetime, int | float) else None,
    )


def _post(address: str, form: Mapping[str, str]) -> Mapping[str, object]:
    try:
        reply = HttpClient(FORM_LIMITS).post_form(address, form)
    except Unreachable:
        return {}
    return reply.document if reply.status == _OK else {}
