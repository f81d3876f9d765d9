"""Renewal: a token that has ended is exchanged once, under a lock that all programs share."""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping

from pdpp.credentials import Cache, Credential, CredentialError, is_owners, is_token
from pdpp.wire.channel import Unreachable
from pdpp.wire.post import post_form, told

_OK = 200


class Renewal:
    """Keeps a bearer good by what the cache holds; safe from any thread."""

    def __init__(
        self, cache: Cache, credential: Credential, clock: Callable[[], float] = time.time
    ) -> None:
        self._cache = cache
        self._credential = credential
        self._clock = clock
        self._turn = threading.Lock()

    @property
    def token(self) -> str:
        """Return the bearer as it is now."""
        return self._credential.token

    def is_due(self) -> bool:
        """Tell whether the token has ended or is about to."""
        return self._credential.expired(self._clock())

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
        reply = post_form(address, form)
    except Unreachable:
        return {}
    return told(reply) if reply.status == _OK else {}
