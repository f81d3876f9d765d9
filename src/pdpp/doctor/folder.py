"""Approving beside the store: whoever may write to the data folder is its owner."""

from collections.abc import Iterator
from contextlib import contextmanager

from pdpp.authz.authority import Authority
from pdpp.authz.choice import Choice, Place, Term
from pdpp.authz.draft import from_choice
from pdpp.authz.token import TokenKind, mint
from pdpp.doctor.finding import Broken, Untried
from pdpp.model.errors import NotFound
from pdpp.model.instant import SECOND, Clock
from pdpp.store.catalogue import Catalogue
from pdpp.store.port import Store

_MINUTE = 60 * SECOND
_SHOWN = (
    "Approved by pdpp doctor on behalf of whoever owns the data folder, and revoked at its end."
)


class ByFolder:
    """Says yes through the store that the server serves."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._authority = Authority(store, clock)

    def approve(self, consent_url: str) -> str:
        """Approve one field of one stream for a day; return where the browser would be sent."""
        try:
            review = self._authority.review(consent_url.rpartition("/")[2])
        except NotFound:
            raise Broken(
                "the request is not in this data folder",
                "Give --data with the folder that the server at this address serves.",
            ) from None
        catalogue = self._store.catalogue()
        draft = from_choice(review, least(catalogue), catalogue)
        return self._authority.approve(review.id, draft, _SHOWN).location or ""

    @contextmanager
    def owner_token(self) -> Iterator[str]:
        """Hold a token of the owner's, which is revoked at once and ends within a minute anyway."""
        now = self._clock()
        secret, kept = mint(TokenKind.OWNER, "pdpp doctor", now, expires_at=now + _MINUTE)
        self._store.add_token(kept)
        try:
            yield secret
        finally:
            with self._store.vault.deciding() as ledger:
                ledger.revoke_token(kept.hash, self._clock())

    def revoke(self, client_id: str) -> None:
        """Take back everything that a client holds."""
        self._authority.revoke_client(client_id)


def least(catalogue: Catalogue) -> Choice:
    """Return the choice of one field of one stream."""
    for place, feed in sorted(catalogue.feeds.items()):
        name = next(iter([*feed.stream.primary_key, *feed.stream.fields]))
        chosen: dict[Place, frozenset[str]] = {place: frozenset({name})}
        return Choice(frozenset({place[0]}), frozenset({place}), chosen, term=Term.DAY)
    raise Untried("there is nothing to grant yet: add a connection first")
