"""Bearers: the token that requests carry, renewed when it has ended.

A token that has ended is exchanged once, under a lock that all programs of this user share, and
the request that was refused with a 401 is sent once more. A 401 that is not about the token renews
nothing, and where a new token was refused as the old one was, no other is asked for until some time
has passed: each exchange uses a refresh token up. The library and the adapter both send through
here.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from pdpp.credentials import Cache, Credential, CredentialError, is_owners, is_token, token_end
from pdpp.wire.answer import ServerError, error_of, is_about_token
from pdpp.wire.http import FORM_LIMITS, Download, HttpClient, HttpReply, Unreachable

_OK, _UNAUTHORIZED = 200, 401
_REFUSED = (400, 401)
_PAUSE_SECONDS = 300.0
"""How long no token is asked for after one that did not help: the 401 has another reason."""

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
        self._not_before = 0.0
        self._refused: str | None = None
        """The refresh token that the provider takes no more."""
        self._spent: str | None = None
        """The refresh token that was exchanged for the one in memory."""

    def send(self, request: Callable[[str], Sent]) -> Sent:
        """Send a request; renew before where the token has ended, or else after a 401, once."""
        credential = self._credential  # Read once: another thread may renew it meanwhile.
        renewed = credential.expired(self._clock())
        if renewed:
            self.renew(credential.token)
        used = self._credential.token
        reply = request(used)
        if renewed or not self._asks_for_another(reply) or not self.renew(used):
            return reply
        reply.close()
        again = request(self._credential.token)
        if again.status == _UNAUTHORIZED:
            self._not_before = self._clock() + _PAUSE_SECONDS
        return again

    def _asks_for_another(self, reply: HttpReply | Download) -> bool:
        """Tell whether an answer may be a refusal of the token."""
        if reply.status != _UNAUTHORIZED:
            return False
        if isinstance(reply, Download):  # It is not read here; a second 401 shows what it means.
            return True
        error = error_of(reply, "")
        return not isinstance(error, ServerError) or is_about_token(error)

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
                # The new one could not be stored: who sends a spent one again loses the grant.
                if self._spent is not None and cached.refresh_token == self._spent:
                    cached = self._credential
                good = cached.token != used and not cached.expired(self._clock())
                return cached if good else self._renewed(cached)
        except (CredentialError, OSError):
            return self._credential

    def _renewed(self, cached: Credential) -> Credential:
        now = self._clock()
        paused = now < self._not_before and not cached.expired(now)
        if paused or cached.refresh_token == self._refused:
            return cached
        reply = _ask_for_another(cached)
        if reply is None or reply.status != _OK:
            if reply is not None and reply.status in _REFUSED:
                self._refused = cached.refresh_token
            return cached
        renewed = _with_answer(cached, reply.document, now)
        if renewed is None:
            return cached
        self._spent = None
        if renewed.refresh_token != cached.refresh_token:
            self._spent = cached.refresh_token
        with contextlib.suppress(OSError):
            self._cache.store(renewed)
        return renewed


def _ask_for_another(credential: Credential) -> HttpReply | None:
    """Send the refresh token; None where there is none, or no answer."""
    if credential.refresh_token is None or credential.token_endpoint is None:
        return None
    form = {"grant_type": "refresh_token", "refresh_token": credential.refresh_token}
    if credential.client_id is not None:
        form["client_id"] = credential.client_id
    try:
        return HttpClient(FORM_LIMITS).post_form(credential.token_endpoint, form)
    except Unreachable:
        return None


def _with_answer(
    credential: Credential, answer: Mapping[str, object], now: float
) -> Credential | None:
    """Return a credential with the tokens of an answer; None where it has no good one."""
    token = answer.get("access_token")
    if not isinstance(token, str) or not is_token(token) or is_owners(token):
        return None
    lifetime, rotated = answer.get("expires_in"), answer.get("refresh_token")
    return credential._replace(
        token=token,
        refresh_token=rotated if rotated and isinstance(rotated, str) else credential.refresh_token,
        expires_at=token_end(now, lifetime),
    )
