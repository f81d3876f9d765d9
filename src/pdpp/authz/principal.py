"""Principals: who a bearer token stands for, and what it reaches, decided anew on every request."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from pdpp.authz.token import TokenKind, hash_token
from pdpp.model.errors import (
    AuthenticationError,
    GrantExpired,
    GrantInvalid,
    GrantRevoked,
    PdppError,
)
from pdpp.model.grant import Grant, Package
from pdpp.model.instant import Clock
from pdpp.store.catalogue import Catalogue
from pdpp.store.port import Store
from pdpp.store.scope import Reach, grant_reaches, in_order, owner_reaches
from pdpp.store.vault import Token

_LONGEST = 512
_MOST_REMEMBERED = 4_096
_MOST_REACHES = 100_000
"""How many reaches all remembered principals may have: each takes about a kilobyte."""

_LONG_APPROVAL_BYTES = 1 << 16
_MANY_STREAMS = 500
"""From here on it takes some ten milliseconds to work out what a caller reaches."""

_T = TypeVar("_T")
_ReachesByStream = Mapping[tuple[str, str | None], tuple[Reach, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Principal:
    """A caller: the owner, a client under a grant, or a client under a package of grants."""

    token: Token
    reaches: tuple[Reach, ...]
    grant: Grant | None = None
    package: Package | None = None
    children: tuple["Principal", ...] = ()
    problems: tuple[PdppError | None, ...] = ()
    """Why each of its children may not be read, where it reads through those that may."""
    weight: int = field(init=False, repr=False)
    """How many reaches it holds, also those of its grants."""
    _derived: dict[Callable[["Principal"], Any], Any] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        weight = len(self.reaches) + sum([len(child.reaches) for child in self.children])
        object.__setattr__(self, "weight", weight)

    def once(self, make: Callable[["Principal"], _T]) -> _T:
        """Return what a function makes of the caller; it is called once for as long as it lives."""
        if make not in self._derived:
            self._derived[make] = make(self)
        value: _T = self._derived[make]
        return value

    def reaches_of(self, stream: str, connection_id: str | None = None) -> tuple[Reach, ...]:
        """Return what the caller reaches of a stream, in one connection or in all."""
        return self.once(_by_stream).get((stream, connection_id), ())

    @property
    def is_owner(self) -> bool:
        """Tell whether the caller is the owner."""
        return self.token.kind == TokenKind.OWNER

    @property
    def binding(self) -> str:
        """Return what cursors are bound to."""
        if self.grant is not None:
            return self.grant.id
        return self.token.hash if self.package is None else self.package.id

    @property
    def approval_id(self) -> str:
        """Return what requests are counted by: all tokens of one approval share it."""
        return self.binding if self.package is None else self.package.id

    def problem(self, now: int) -> PdppError | None:
        """Say why the caller may not read now, or nothing."""
        # The approval before the token: a client whose grant was revoked should ask for a new one,
        # and not renew its token again and again.
        for approval in (self.package, self.grant):
            if approval is not None and approval.revoked_at is not None:
                return GrantRevoked("The owner has revoked this grant; ask for a new one.")
            if approval is not None and _over(approval.expires_at, now):
                return GrantExpired("This grant has expired; ask the owner for a new one.")
        if self.token.revoked_at is not None:
            return AuthenticationError("The bearer token has been revoked.")
        if _over(self.token.expires_at, now):
            return AuthenticationError("The bearer token has expired.")
        return None


def _by_stream(principal: Principal) -> _ReachesByStream:
    reaches: dict[tuple[str, str | None], list[Reach]] = {}
    for reach in principal.reaches:
        name = reach.stream.name
        for scope in ((name, None), (name, reach.connection_id)):
            reaches.setdefault(scope, []).append(reach)
    return {scope: tuple(found) for scope, found in reaches.items()}


def owner_principal(catalogue: Catalogue) -> Principal:
    """Return the owner as a session on the pages stands for: everything, and no token.

    Whoever asks for it has checked the session.
    """
    session = Token(hash="session", kind=TokenKind.OWNER, label="session", created_at=0)
    return Principal(session, owner_reaches(catalogue))


def grant_principal(grant: Grant, catalogue: Catalogue) -> Principal:
    """Return the client of a grant as a page stands for it: what the grant shows, and no token."""
    token = Token(hash="page", kind=TokenKind.CLIENT, label=grant.client_id, created_at=0)
    return Principal(token, grant_reaches(grant, catalogue), grant)


def package_principal(package: Package, grants: Sequence[Grant], catalogue: Catalogue) -> Principal:
    """Return the client of a package as a page stands for it, reading through these grants."""
    token = Token(hash="page", kind=TokenKind.PACKAGE, label=package.client_id, created_at=0)
    children = tuple(
        Principal(token, grant_reaches(grant, catalogue), grant, package) for grant in grants
    )
    reaches = in_order(reach for child in children for reach in child.reaches)
    return Principal(token, reaches, None, package, children)


def _over(moment: int | None, now: int) -> bool:
    return moment is not None and moment <= now


class _Basis(NamedTuple):
    """Everything that a principal is made from; the same basis makes the same principal."""

    token: Token
    catalogue: Catalogue
    package: Package | None
    grants: tuple[Grant, ...]

    def principal(self) -> Principal:
        """Return the caller whom this stands for."""
        token, catalogue, package, grants = self
        if token.kind == TokenKind.OWNER:
            return Principal(token, owner_reaches(catalogue))
        children = [
            Principal(token, grant_reaches(grant, catalogue), grant, package) for grant in grants
        ]
        return (
            children[0] if package is None else Principal(token, (), None, package, tuple(children))
        )


class _Union(NamedTuple):
    """A package through those of its grants that were good at a moment, until one of them ends."""

    principal: Principal
    since: int
    until: int | None

    def holds_at(self, now: int) -> bool:
        """Tell whether the same grants are good at another moment."""
        return now >= self.since and not _over(self.until, now)


def _union_at(package: Principal, now: int) -> _Union:
    problems = tuple(child.problem(now) for child in package.children)
    pairs = zip(package.children, problems, strict=True)
    good = [child for child, problem in pairs if problem is None]
    reaches = in_order(reach for child in good for reach in child.reaches)
    union = Principal(package.token, reaches, None, package.package, package.children, problems)
    grants = [child.grant for child in good if child.grant is not None]
    ends = [grant.expires_at for grant in grants if grant.expires_at is not None]
    return _Union(union, now, min(ends, default=None))


class Gate:
    """Turns bearer tokens into principals; trusts nothing past the next write to the store.

    After a write it reads again what a principal was made from. Where that is as it was the
    principal stays the one it was, and so does all that was worked out for it: most writes are of
    records, and a server that takes them would otherwise do little else than unfold grants.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._state: object = None
        self._known: dict[str, Principal] = {}
        self._made: dict[str, tuple[_Basis, Principal]] = {}
        self._unions: dict[Principal, _Union] = {}
        self._weight = 0

    def admit(
        self,
        authorization: str | None,
        grant_id: str | None = None,
        *,
        resources: Collection[str] | None = None,
        assuming: bool = False,
    ) -> Principal:
        """Return the principal of an ``Authorization`` header, or refuse.

        ``grant_id`` chooses one grant of a package; otherwise a package reads through all of
        its grants that are good. ``resources`` are the names of what is asked: a token that was
        issued for another is not good here. With ``assuming`` a principal may be of the last state
        that was asked for: whoever admits so lets the read check ``state``, and believes no refusal
        before that.
        """
        secret = bearer(authorization)
        principal = self._assumed(secret) if assuming else None
        if principal is None:
            principal = self._find(secret)
        audience = principal.token.audience
        # A token stolen from another service that trusts this server must not open this one (RFC
        # 8707).
        if audience is not None and resources is not None and audience not in resources:
            raise AuthenticationError("The bearer token was issued for another resource.")
        now = self._clock()
        problem = principal.problem(now)
        if problem is not None:
            raise problem
        if grant_id is not None:
            return _child(principal, grant_id, now)
        if principal.package is None:
            return principal
        return self._through_good_children(principal, now)

    def takes_long(self, authorization: str | None) -> bool:
        """Tell whether a bearer is to be looked up and reaches so much that others would wait.

        Whoever serves an event loop then lets another thread ``learn`` it.
        """
        try:
            secret = bearer(authorization)
        except AuthenticationError:
            return False
        made = self._made.get(secret)
        if made is not None:
            return made[1].weight > _MANY_STREAMS and not self._is_current(secret)
        token = self._store.vault.token(hash_token(secret))
        if token is None:
            return False
        if token.kind == TokenKind.OWNER:
            return len(self._store.catalogue().feeds) > _MANY_STREAMS
        size = self._store.vault.approval_bytes(token.grant_id, token.package_id)
        return size > _LONG_APPROVAL_BYTES

    def _is_current(self, secret: str) -> bool:
        """Tell whether nothing was written since a bearer was looked up."""
        if self._assumed(secret) is not None:
            return True
        return secret in self._known and not self.is_over(self._state)

    def learn(self, authorization: str | None) -> Principal | None:
        """Return what a bearer reaches, worked out, if it is good; for any thread."""
        with suppress(AuthenticationError, GrantInvalid):
            principal = self._look_up(bearer(authorization))
            package = principal.package is not None
            union = self._through_good_children(principal, self._clock()) if package else principal
            union.once(_by_stream)
            return principal
        return None

    def keep(self, authorization: str | None, learnt: Principal, state: object) -> None:
        """Take what another thread learnt, if the store is still in the state it was before."""
        if not self.is_over(state):
            self._enter(state)
            self._known[bearer(authorization)] = learnt

    def _through_good_children(self, principal: Principal, now: int) -> Principal:
        """Return a package as it reads through those of its grants that are good now."""
        union = self._unions.get(principal)
        # A grant may expire without any write.
        if union is None or not union.holds_at(now):
            union = self._unions[principal] = _union_at(principal, now)
        return union.principal

    def good_grants(self, principal: Principal) -> list[Grant]:
        """Return the grants of a package that it reads through now."""
        now = self._clock()
        return [
            child.grant
            for child in principal.children
            if child.grant is not None and child.problem(now) is None
        ]

    def forget(self) -> None:
        """Forget every principal and all that was made for it."""
        self._known.clear()
        self._made.clear()
        self._unions.clear()
        self._weight = 0

    @property
    def state(self) -> object:
        """Return the state of the store that principals were made in."""
        return self._state

    def is_over(self, state: object) -> bool:
        """Tell whether the store is in another state by now."""
        return self._store.state() != state

    def _assumed(self, secret: str) -> Principal | None:
        principal = self._known.get(secret)
        return principal if principal and self._store.is_assumable(self._state) else None

    def _find(self, secret: str) -> Principal:
        # Forgetting all at once is simpler than an order of use, and costs some 60 µs for each
        # bearer that comes back.
        if len(self._made) > _MOST_REMEMBERED:
            self.forget()
        self._enter(self._store.state())
        principal = self._known.get(secret)
        if principal is None:
            principal = self._known[secret] = self._look_up(secret)
        return principal

    def _enter(self, state: object) -> None:
        """Forget who was known in another state of the store."""
        if state != self._state:
            self._state = state
            self._known.clear()

    def _look_up(self, secret: str) -> Principal:
        """Return the principal of a secret as the store knows it now."""
        # Equal values, not the same objects: the vault reads them anew after every write. The same
        # principal keeps what was computed for its reaches (compiled predicates, projections).
        basis, kept = self._basis(secret), self._made.get(secret)
        if kept is not None and kept[0] == basis:
            return kept[1]
        if kept is not None:
            self._unions.pop(kept[1], None)
        principal = basis.principal()
        # A grant of thousands of streams may have many tokens, a new one every hour.
        if self._weight + principal.weight > _MOST_REACHES:
            self.forget()
        self._weight += principal.weight
        self._made[secret] = basis, principal
        return principal

    def _basis(self, secret: str) -> _Basis:
        token = self._store.vault.token(hash_token(secret))
        if token is None:
            raise AuthenticationError("The bearer token is not valid.")
        package: Package | None = None
        grants: tuple[Grant, ...] = ()
        if token.kind == TokenKind.PACKAGE:
            package, grants = self._package(token.package_id or "")
        elif token.kind != TokenKind.OWNER:
            grants = (self._grant(token.grant_id or ""),)
        return _Basis(token, self._store.catalogue(), package, grants)

    def _grant(self, grant_id: str) -> Grant:
        grant = self._store.vault.grant(grant_id)
        if grant is None:
            raise GrantInvalid("The token's grant does not exist.")
        return grant

    def _package(self, package_id: str) -> tuple[Package, tuple[Grant, ...]]:
        package = self._store.vault.package(package_id)
        if package is None:
            raise GrantInvalid("The token's package does not exist.")
        return package, tuple(self._store.vault.package_grants(package_id))


def _child(principal: Principal, grant_id: str, now: int) -> Principal:
    """Return the grant of a package that a caller chose; a single grant may name itself."""
    if principal.grant is not None and principal.grant.id == grant_id:
        return principal
    for child in principal.children:
        if child.grant is not None and child.grant.id == grant_id:
            problem = child.problem(now)
            if problem is not None:
                raise problem
            return child
    raise GrantInvalid("This token has no such grant.")


def bearer(authorization: str | None) -> str:
    """Return the token of an ``Authorization`` header, or refuse."""
    if not authorization:
        raise AuthenticationError("Send a bearer token in the Authorization header.")
    scheme, _, secret = authorization.partition(" ")
    # The length is bounded before anything is hashed: the header comes from a stranger.
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret or len(secret) > _LONGEST:
        raise AuthenticationError("The Authorization header must be: Bearer <token>.")
    return secret
