"""The authority: decides what lets a client read, each time in one transaction.

What is refused may still have changed something: a code that comes twice ends what it gave. So a
refusal is raised after its transaction was kept, and only a failure takes everything back.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from pdpp.authz.client import DEVICE_CODE, Description, new_client
from pdpp.authz.decision import Decision
from pdpp.authz.draft import Draft
from pdpp.authz.issuance import Issuer
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.request import Parameters, Place, check_request, check_target, check_wishes
from pdpp.authz.review import Outcome, Review
from pdpp.authz.slip import SlipKind, draw, find
from pdpp.authz.token import hash_token
from pdpp.model.errors import NotFound, OAuthError
from pdpp.model.instant import Clock
from pdpp.store.port import Store
from pdpp.store.vault import Client, Ledger, Slip

T = TypeVar("T")

_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_MOST_CLIENTS = 1_000


@dataclass(frozen=True, slots=True)
class Waiting:
    """A device that waits: the secret it asks with, and the code its owner types."""

    device_code: str
    user_code: str


class Authority:
    """Decides about requests, codes, tokens and clients."""

    def __init__(self, store: Store, clock: Clock, lifetimes: Lifetimes | None = None) -> None:
        self.lifetimes = lifetimes or Lifetimes()
        self._store = store
        self._vault = store.vault
        self._clock = clock

    def decide(self, work: Callable[[Ledger, int], T]) -> T:
        """Do something in one transaction; a refusal is raised when what it changed is kept."""
        with self._vault.deciding() as ledger:
            try:
                return work(ledger, self._clock())
            except OAuthError as error:
                refusal = error
        raise refusal

    # Clients

    def client(self, client_id: str) -> Client | None:
        """Return a client."""
        return self._vault.client(client_id)

    def clients(self) -> Iterator[Client]:
        """Yield every client the owner approved once."""
        return self._vault.clients()

    def register(self, described: Description) -> Client:
        """Keep a new client; when too many never got an approval, the oldest of them go."""
        client = new_client(described, self._clock())
        with self._vault.deciding() as ledger:
            ledger.keep_client(client)
            ledger.trim_clients(_MOST_CLIENTS)
        return client

    def keep_document(self, client_id: str, described: Description) -> Client:
        """Keep what a client's own document says of it now."""
        now = self._clock()
        with self._vault.deciding() as ledger:
            known = ledger.client(client_id)
            client = Client(
                id=client_id,
                name=described.name,
                redirect_uris=described.redirect_uris,
                created_at=now if known is None else known.created_at,
                grant_types=described.grant_types,
                about=described.about,
                fresh_until=now + self.lifetimes.document,
                approved_at=None if known is None else known.approved_at,
            )
            ledger.keep_client(client)
            ledger.trim_clients(_MOST_CLIENTS)
        return client

    def is_fresh(self, client: Client) -> bool:
        """Tell whether a client need not be asked for its document again."""
        return client.fresh_until is None or client.fresh_until > self._clock()

    def revoke_client(self, client_id: str) -> None:
        """End everything a client holds; it may ask again, and the owner decides again."""
        with self._vault.deciding() as ledger:
            ledger.revoke_client(client_id, self._clock())

    # Requests

    def begin(self, parameters: Parameters, client: Client, place: Place) -> str:
        """Return the id of a new review, for a request that was sent in the address."""
        check_target(parameters, client)
        review = check_request(parameters, client, place, self._clock())
        return self.decide(lambda ledger, now: self._add_review(ledger, review, now))

    def push(self, parameters: Parameters, client: Client, place: Place) -> str:
        """Return the request URI under which a checked request can be begun once."""
        check_target(parameters, client)
        review = check_request(parameters, client, place, self._clock())
        return self.decide(
            lambda ledger, now: _add(ledger, SlipKind.PUSHED, review, now, self.lifetimes.pushed)
        )

    def begin_pushed(self, request_uri: str, client_id: str) -> str:
        """Return the id of a new review, for a request that was pushed before."""

        def work(ledger: Ledger, now: int) -> str:
            slip = find(ledger, SlipKind.PUSHED, request_uri, now)
            if slip is None or slip.client_id != client_id:
                raise OAuthError(
                    "The request_uri is unknown, used or expired.", error="invalid_request"
                )
            ledger.use_slip(slip, now)
            return self._add_review(ledger, _review("", slip), now)

        return self.decide(work)

    def begin_device(self, parameters: Parameters, client: Client, place: Place) -> Waiting:
        """Return the two codes of a device that asks."""
        if DEVICE_CODE not in client.grant_types:
            raise OAuthError(
                "This client registered for no device codes.", error="unauthorized_client"
            )
        review = check_wishes(parameters, client, place, self._clock())
        asked = {
            **review.as_json(),
            "approved": None,
            "asked_at": None,
            "pause": self.lifetimes.poll,
        }
        user_code = "".join(secrets.choice(_LETTERS) for _ in range(8))

        def work(ledger: Ledger, now: int) -> str:
            life = self.lifetimes.device
            code, slip = draw(SlipKind.DEVICE, asked, now, life, client_id=client.id)
            ledger.add_slip(slip)
            body = {"device": slip.hash}
            _, typed = draw(
                SlipKind.USER_CODE, body, now, life, client_id=client.id, secret=user_code
            )
            ledger.add_slip(typed)
            return code

        return Waiting(self.decide(work), f"{user_code[:4]}-{user_code[4:]}")

    # Reviews

    def review(self, review_id: str) -> Review:
        """Return what waits for the owner; ``NotFound`` when it is unknown, used or too old."""
        return _review(
            review_id, _waiting(find(self._vault, SlipKind.REVIEW, review_id, self._clock()))
        )

    def device_review(self, user_code: str, issuer: str) -> Review:
        """Return a review for a user code the owner typed; ``NotFound`` when it is not good."""
        typed = "".join(letter for letter in user_code.upper() if letter in _LETTERS)

        def work(ledger: Ledger, now: int) -> Review:
            slip = _waiting(find(ledger, SlipKind.USER_CODE, typed, now))
            device = _waiting(ledger.slip(SlipKind.DEVICE.value, slip.body["device"]))
            if device.body["approved"] is not None:
                raise _nothing_waits()
            asked = replace(_review("", device), device=device.hash, issuer=issuer)
            review_id = self._add_review(ledger, asked, now)
            return _review(review_id, _waiting(find(ledger, SlipKind.REVIEW, review_id, now)))

        return self.decide(work)

    def approve(self, review_id: str, draft: Draft, shown: str) -> Outcome:
        """Make what the owner approved, with its evidence, and use the review up."""
        return self._conclude(
            review_id, lambda decision, review: decision.approve(review, draft, shown)
        )

    def deny(self, review_id: str, error: str = "access_denied") -> Outcome:
        """Use the review up with a no, which the client learns as an error."""
        return self._conclude(review_id, lambda decision, review: decision.deny(review, error))

    def _conclude(self, review_id: str, conclude: Callable[[Decision, Review], Outcome]) -> Outcome:
        with self._vault.deciding() as ledger:
            now = self._clock()
            slip = _waiting(find(ledger, SlipKind.REVIEW, review_id, now))
            ledger.use_slip(slip, now)
            return conclude(Decision(ledger, self.lifetimes, now), _review(review_id, slip))

    def _add_review(self, ledger: Ledger, review: Review, now: int) -> str:
        return _add(ledger, SlipKind.REVIEW, review, now, self.lifetimes.review)

    # Tokens

    def issuer(self, ledger: Ledger, now: int) -> Issuer:
        """Return what issues tokens in a transaction."""
        return Issuer(ledger, self.lifetimes, now)

    def revoke(self, secret: str, client: Client) -> None:
        """Revoke a token of a client's own: a refresh token with its family, any other alone."""

        def work(ledger: Ledger, now: int) -> None:
            refresh = ledger.refresh(hash_token(secret))
            if refresh is not None and refresh.client_id == client.id:
                ledger.revoke_family(refresh.family, now)
            token = ledger.token(hash_token(secret))
            if token is not None and token.family is not None and token.label == client.id:
                ledger.revoke_token(token.hash, now)

        self.decide(work)

    def sweep(self) -> int:
        """Forget a bounded part of what has ended; return how much that was."""
        return self.decide(lambda ledger, now: ledger.sweep(now, self.lifetimes.idle_client))


def _add(ledger: Ledger, kind: SlipKind, review: Review, now: int, life: int) -> str:
    secret, slip = draw(kind, review.as_json(), now, life, client_id=review.client_id)
    ledger.add_slip(slip)
    return secret


def _review(review_id: str, slip: Slip) -> Review:
    return Review.from_json(review_id, slip.body, slip.created_at, slip.expires_at)


def _waiting(slip: Slip | None) -> Slip:
    if slip is None:
        raise _nothing_waits()
    return slip


def _nothing_waits() -> NotFound:
    return NotFound("Nothing waits for a decision here; it was decided or is too old. Start again.")
