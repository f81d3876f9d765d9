"""Principals: who a bearer token stands for, and what it reaches, decided anew on every request."""

from dataclasses import dataclass

from pdpp.authz.token import TokenKind, hash_token
from pdpp.model.errors import (
    AuthenticationError,
    GrantExpired,
    GrantInvalid,
    GrantRevoked,
    PdppError,
)
from pdpp.model.grant import Grant
from pdpp.model.instant import Clock
from pdpp.store.port import Store, Token
from pdpp.store.scope import Reach, grant_reaches, owner_reaches

_LONGEST = 512
_MOST_REMEMBERED = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Principal:
    """A caller: the owner, or a client under a grant."""

    token: Token
    grant: Grant | None
    reaches: tuple[Reach, ...]

    @property
    def is_owner(self) -> bool:
        """Tell whether the caller is the owner."""
        return self.grant is None

    @property
    def binding(self) -> str:
        """Return what cursors are bound to."""
        return self.token.hash if self.grant is None else self.grant.id


class Gate:
    """Turns bearer tokens into principals; remembers nothing past the next write to the store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._state: object = None
        self._known: dict[str, Principal] = {}

    def admit(self, authorization: str | None) -> Principal:
        """Return the principal of an ``Authorization`` header, or refuse."""
        secret = _bearer(authorization)
        state = self._store.state()
        if state != self._state or len(self._known) > _MOST_REMEMBERED:
            self._state = state
            self._known.clear()
        principal = self._known.get(secret)
        if principal is None:
            principal = self._look_up(secret)
            self._known[secret] = principal
        self._check_times(principal)
        return principal

    def _look_up(self, secret: str) -> Principal:
        token = self._store.token(hash_token(secret))
        if token is None:
            raise AuthenticationError("The bearer token is not valid.")
        catalogue = self._store.catalogue()
        if token.kind == TokenKind.OWNER:
            return Principal(token, None, owner_reaches(catalogue))
        grant = self._store.grant(token.grant_id) if token.grant_id is not None else None
        if grant is None:
            raise GrantInvalid("The token's grant does not exist.")
        return Principal(token, grant, grant_reaches(grant, catalogue))

    def _check_times(self, principal: Principal) -> None:
        problem = _problem(principal, self._clock())
        if problem is not None:
            raise problem


def _problem(principal: Principal, now: int) -> PdppError | None:
    grant, token = principal.grant, principal.token
    if grant is not None and grant.revoked_at is not None:
        return GrantRevoked("The owner has revoked this grant; ask for a new one.")
    if token.revoked_at is not None:
        return AuthenticationError("The bearer token has been revoked.")
    if grant is not None and grant.expires_at is not None and grant.expires_at <= now:
        return GrantExpired("This grant has expired; ask the owner for a new one.")
    if token.expires_at is not None and token.expires_at <= now:
        return AuthenticationError("The bearer token has expired.")
    return None


def _bearer(authorization: str | None) -> str:
    if not authorization:
        raise AuthenticationError("Send a bearer token in the Authorization header.")
    scheme, _, secret = authorization.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret or len(secret) > _LONGEST:
        raise AuthenticationError("The Authorization header must be: Bearer <token>.")
    return secret
