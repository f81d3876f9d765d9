"""The authority: decides what lets a client read, each time in one transaction.

What is refused may still have changed something: a code that comes twice ends what it gave. So a
refusal is raised after its transaction was kept, and only a failure takes everything back.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from pdpp.authz.client_metadata import DEVICE_CODE, Description, new_client
from pdpp.authz.decision import Decision
from pdpp.authz.grant_draft import GrantDraft
from pdpp.authz.issuance import Issuer
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.outstanding import RequestBounds, make_room
from pdpp.authz.request import Parameters, ServerOrigins, check_details, check_request, check_target
from pdpp.authz.review import DecisionOutcome, Review
from pdpp.authz.short_lived import REOPENED, SecretKind, find_review, find_secret, new_secret
from pdpp.authz.token import hash_token
from pdpp.model.errors import NotFound, OAuthError
from pdpp.model.instant import Clock
from pdpp.store.port import Store
from pdpp.store.vault import RegisteredClient, ShortLivedSecret, VaultTransaction

T = TypeVar("T")

# Consonants only, as RFC 8628 (6.1) suggests: no word can appear by chance, and nothing is confused
# with a digit. Eight of twenty letters are 34 bits; guesses are throttled.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
# Anybody may register, so the list of clients that were never approved is bounded.
_MOST_CLIENTS = 500


@dataclass(frozen=True, slots=True)
class DeviceCodes:
    """A device that waits: the secret it asks with, and the code its owner types."""

    device_code: str
    user_code: str


class Authority:
    """Decides about requests, codes, tokens and clients."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        lifetimes: Lifetimes | None = None,
        bounds: RequestBounds | None = None,
    ) -> None:
        self.lifetimes = lifetimes or Lifetimes()
        self.bounds = bounds or RequestBounds()
        self._store = store
        self._vault = store.vault
        self._clock = clock

    def decide(self, work: Callable[[VaultTransaction, int], T]) -> T:
        """Do something in one transaction; a refusal is raised when what it changed is kept."""
        with self._vault.transaction() as transaction:
            try:
                return work(transaction, self._clock())
            except OAuthError as error:
                refusal = error
        raise refusal

    # Clients

    def client(self, client_id: str) -> RegisteredClient | None:
        """Return a client."""
        return self._vault.client(client_id)

    def clients(self) -> Iterator[RegisteredClient]:
        """Yield every client the owner approved once."""
        return self._vault.clients()

    def register(self, described: Description) -> RegisteredClient:
        """Keep a new client; when too many never got an approval, the oldest of them go."""
        client = new_client(described, self._clock())
        with self._vault.transaction() as transaction:
            transaction.keep_client(client)
            transaction.trim_clients(_MOST_CLIENTS)
        return client

    def keep_document(self, client_id: str, described: Description) -> RegisteredClient:
        """Keep what a client's own document says of it now."""
        now = self._clock()
        with self._vault.transaction() as transaction:
            known = transaction.client(client_id)
            client = RegisteredClient(
                id=client_id,
                name=described.name,
                redirect_uris=described.redirect_uris,
                created_at=now if known is None else known.created_at,
                grant_types=described.grant_types,
                about=described.about,
                fresh_until=now + self.lifetimes.document,
                approved_at=None if known is None else known.approved_at,
            )
            transaction.keep_client(client)
            transaction.trim_clients(_MOST_CLIENTS)
        return client

    def is_fresh(self, client: RegisteredClient) -> bool:
        """Tell whether a client need not be asked for its document again."""
        return client.fresh_until is None or client.fresh_until > self._clock()

    def revoke_client(self, client_id: str) -> None:
        """End everything a client holds; it may ask again, and the owner decides again."""
        with self._vault.transaction() as transaction:
            transaction.revoke_client(client_id, self._clock())

    def revoke_grant(self, grant_id: str) -> bool:
        """End a grant and its tokens; tell whether there was one to end."""
        with self._vault.transaction() as transaction:
            return transaction.revoke_grant(grant_id, self._clock())

    def revoke_package(self, package_id: str) -> bool:
        """End a package with its grants and tokens; tell whether there was one to end."""
        with self._vault.transaction() as transaction:
            return transaction.revoke_package(package_id, self._clock())

    def revoke_token(self, token_hash: str) -> bool:
        """End one token, by its hash; tell whether there was one to end."""
        with self._vault.transaction() as transaction:
            return transaction.revoke_token(token_hash, self._clock())

    # Requests

    def begin(
        self,
        parameters: Parameters,
        client: RegisteredClient,
        origins: ServerOrigins,
        address: str | None = None,
    ) -> str:
        """Return the id of a new review, for a request that was sent in the address."""
        review = self._checked(parameters, client, origins)
        return self.decide(
            lambda transaction, now: self._add_review(transaction, review, now, address)
        )

    def push(
        self,
        parameters: Parameters,
        client: RegisteredClient,
        origins: ServerOrigins,
        address: str | None = None,
    ) -> str:
        """Return the request URI under which a checked request can be begun once."""
        review = self._checked(parameters, client, origins)
        return self.decide(
            lambda transaction, now: self._add(transaction, SecretKind.PUSHED, review, now, address)
        )

    def begin_pushed(self, request_uri: str, client_id: str, address: str | None = None) -> str:
        """Return the id of a new review, for a request that was pushed before."""

        def work(transaction: VaultTransaction, now: int) -> str:
            secret = find_secret(transaction, SecretKind.PUSHED, request_uri, now)
            if secret is None or secret.client_id != client_id:
                raise OAuthError(
                    "The request_uri is unknown, used or expired.", error="invalid_request"
                )
            # A request URI opens one review: a link that was forwarded or logged opens no second.
            transaction.drop_secret(secret)
            return self._add_review(transaction, _review("", secret), now, address)

        return self.decide(work)

    def begin_device(
        self,
        parameters: Parameters,
        client: RegisteredClient,
        origins: ServerOrigins,
        address: str | None = None,
    ) -> DeviceCodes:
        """Return the two codes of a device that asks."""
        if DEVICE_CODE not in client.grant_types:
            raise OAuthError(
                "This client did not register for device codes.", error="unauthorized_client"
            )
        review = check_details(parameters, client, origins, self._clock())
        asked = {
            **review.as_json(),
            "approved": None,
            "asked_at": None,
            "pause": self.lifetimes.poll,
        }
        user_code = "".join(secrets.choice(_LETTERS) for _ in range(8))

        def work(transaction: VaultTransaction, now: int) -> str:
            make_room(transaction, self.bounds, address, now)
            life = self.lifetimes.device
            code, secret = new_secret(
                SecretKind.DEVICE, asked, now, life, client_id=client.id, address=address
            )
            transaction.add_secret(secret)
            body = {"device": secret.hash}
            _, typed = new_secret(
                SecretKind.USER_CODE, body, now, life, client_id=client.id, text=user_code
            )
            transaction.add_secret(typed)
            return code

        return DeviceCodes(self.decide(work), f"{user_code[:4]}-{user_code[4:]}")

    # Reviews

    def review(self, review_id: str) -> Review:
        """Return what waits for the owner; ``NotFound`` when it is unknown, used or too old."""
        return _review(review_id, _waiting(find_review(self._vault, review_id, self._clock())))

    def waiting(self, most: int) -> list[Review]:
        """Return the newest requests that wait, each under a name that opens it for the owner."""
        secrets = self._vault.secrets(SecretKind.REVIEW.value, self._clock(), most)
        return [_review(REOPENED + secret.hash, secret) for secret in secrets]

    def device_review(self, user_code: str, issuer: str) -> Review:
        """Return a review for a user code the owner typed; ``NotFound`` when it is not good."""
        typed = "".join(letter for letter in user_code.upper() if letter in _LETTERS)

        def work(transaction: VaultTransaction, now: int) -> Review:
            secret = _waiting(find_secret(transaction, SecretKind.USER_CODE, typed, now))
            device = _waiting(transaction.secret(SecretKind.DEVICE.value, secret.body["device"]))
            if device.body["approved"] is not None:
                raise _nothing_waits()
            asked = replace(_review("", device), device=device.hash, issuer=issuer)
            review_id = self._add_review(transaction, asked, now)
            return _review(
                review_id, _waiting(find_secret(transaction, SecretKind.REVIEW, review_id, now))
            )

        return self.decide(work)

    def approve(self, review_id: str, draft: GrantDraft, text: str) -> DecisionOutcome:
        """Make what the owner approved, with its evidence, and use the review up."""
        return self._conclude(
            review_id, lambda decision, review: decision.approve(review, draft, text)
        )

    def deny(self, review_id: str, error: str = "access_denied") -> DecisionOutcome:
        """Use the review up with a no, which the client learns as an error."""
        return self._conclude(review_id, lambda decision, review: decision.deny(review, error))

    def _conclude(
        self, review_id: str, conclude: Callable[[Decision, Review], DecisionOutcome]
    ) -> DecisionOutcome:
        with self._vault.transaction() as transaction:
            now = self._clock()
            secret = _waiting(find_review(transaction, review_id, now))
            transaction.drop_secret(secret)
            return conclude(Decision(transaction, self.lifetimes, now), _review(review_id, secret))

    def _checked(
        self, parameters: Parameters, client: RegisteredClient, origins: ServerOrigins
    ) -> Review:
        # The target first: until the address to return to is known as the client's own, no error
        # may be sent there.
        check_target(parameters, client)
        return check_request(parameters, client, origins, self._clock())

    def _add_review(
        self, transaction: VaultTransaction, review: Review, now: int, address: str | None = None
    ) -> str:
        return self._add(transaction, SecretKind.REVIEW, review, now, address)

    def _add(
        self,
        transaction: VaultTransaction,
        kind: SecretKind,
        review: Review,
        now: int,
        address: str | None,
    ) -> str:
        """Keep a request that waits; one without an address is the owner's own doing."""
        make_room(transaction, self.bounds, address, now)
        life = self.lifetimes.pushed if kind is SecretKind.PUSHED else self.lifetimes.review
        text, secret = new_secret(
            kind, review.as_json(), now, life, client_id=review.client_id, address=address
        )
        transaction.add_secret(secret)
        return text

    # Tokens

    def issuer(self, transaction: VaultTransaction, now: int) -> Issuer:
        """Return what issues tokens in a transaction."""
        return Issuer(transaction, self.lifetimes, now)

    def revoke(self, secret: str, client: RegisteredClient) -> None:
        """Revoke a token of a client's own: a refresh token with its family, any other alone."""

        def work(transaction: VaultTransaction, now: int) -> None:
            refresh = transaction.refresh(hash_token(secret))
            if refresh is not None and refresh.client_id == client.id:
                transaction.revoke_family(refresh.family, now)
            token = transaction.token(hash_token(secret))
            if token is not None and token.family is not None and token.label == client.id:
                transaction.revoke_token(token.hash, now)

        self.decide(work)

    def sweep(self) -> int:
        """Forget a bounded part of what has ended; return how much that was."""
        return self.decide(
            lambda transaction, now: transaction.sweep(now, self.lifetimes.idle_client)
        )


def _review(review_id: str, secret: ShortLivedSecret) -> Review:
    return Review.from_json(review_id, secret.body, secret.created_at, secret.expires_at)


def _waiting(secret: ShortLivedSecret | None) -> ShortLivedSecret:
    if secret is None:
        raise _nothing_waits()
    return secret


def _nothing_waits() -> NotFound:
    return NotFound(
        "This request was already decided, or it is too old. Start again in the program that asked."
    )
