"""Approving beside the store: whoever may write to the data folder is its owner."""

from collections.abc import Iterator
from contextlib import contextmanager

from pdpp.authz.authority import Authority
from pdpp.authz.choice import ConsentChoice, FeedKey, Term
from pdpp.authz.grant_draft import from_choice
from pdpp.authz.token import TokenKind, mint
from pdpp.doctor.finding import StepBroken, StepUntried
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
            raise StepBroken(
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
        self._store.vault.keep_token(kept)
        try:
            yield secret
        finally:
            self._authority.revoke_token(kept.hash)

    def revoke(self, client_id: str) -> None:
        """Take back everything that a client holds."""
        self._authority.revoke_client(client_id)


def least(catalogue: Catalogue) -> ConsentChoice:
    """Return the choice of one field of one stream."""
    for place, feed in sorted(catalogue.feeds.items()):
        name = next(iter([*feed.stream.primary_key, *feed.stream.fields]))
        chosen: dict[FeedKey, frozenset[str]] = {place: frozenset({name})}
        return ConsentChoice(frozenset({place[0]}), frozenset({place}), chosen, term=Term.DAY)
    raise StepUntried("there is nothing to grant yet: add a connection first")
