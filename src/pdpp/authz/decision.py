"""Decisions: the owner's yes or no to a review, with everything that follows, at once."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from pdpp.authz.approval import by_connection, new_grant, new_package
from pdpp.authz.draft import Draft
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.review import Outcome, Review
from pdpp.authz.slip import SlipKind, draw
from pdpp.model.errors import InvalidRequest, NotFound
from pdpp.model.grant import AccessMode, Allowance, Grant, Package
from pdpp.store.vault import Client, Consent, Ledger


@dataclass(frozen=True, slots=True)
class Decision:
    """Decides about one review inside one transaction, at one moment."""

    ledger: Ledger
    lifetimes: Lifetimes
    now: int

    def approve(self, review: Review, draft: Draft, shown: str) -> Outcome:
        """Make what the owner approved, with its evidence and the way for the client to get it."""
        if draft.client_id != review.client_id:
            raise InvalidRequest("This draft is another client's.")
        if not draft.allowances:
            raise InvalidRequest("This draft opens nothing.")
        if draft.expires_at is not None and draft.expires_at <= self.now:
            raise InvalidRequest("What was approved has ended before it began; choose again.")
        consent = self._keep_approval(draft, shown)
        self._mark_approved(review.client_id)
        approval = {
            "family": f"fam_{secrets.token_hex(12)}",
            "scope": review.scope,
            "grant_id": consent.grant_id,
            "package_id": consent.package_id,
            "audience": review.resource,
            "single_use": draft.access_mode is AccessMode.SINGLE_USE,
            "detailed": bool(review.details),
        }
        if review.device is not None:
            return self._answer_device(review, {**approval, "approved": True})
        code, slip = draw(
            SlipKind.CODE,
            {
                **approval,
                "redirect_uri": review.redirect_uri,
                "code_challenge": review.code_challenge,
            },
            self.now,
            self.lifetimes.code,
            client_id=review.client_id,
        )
        self.ledger.add_slip(slip)
        return _outcome(review, code=code)

    def deny(self, review: Review, error: str = "access_denied") -> Outcome:
        """Tell the client no."""
        if review.device is not None:
            return self._answer_device(review, {"approved": False})
        return _outcome(review, error=error)

    def _answer_device(self, review: Review, answer: dict[str, object]) -> Outcome:
        """Let a device find its answer; only one answer is ever given."""
        slip = self.ledger.slip(SlipKind.DEVICE.value, str(review.device))
        if slip is None or slip.expires_at <= self.now or slip.body["approved"] is not None:
            raise NotFound("The device no longer waits for an answer; start again there.")
        self.ledger.change_slip(replace(slip, body={**slip.body, **answer}))
        return Outcome(None)

    def _keep_approval(self, draft: Draft, shown: str) -> Consent:
        package = None
        parts: Iterable[tuple[Allowance, ...]] = (draft.allowances,)
        if draft.package:
            package = new_package(draft.client_id, self.now, self._end(draft))
            parts = by_connection(draft.allowances)
            self.ledger.add_package(package)
        grants = [self._grant(draft, own, package) for own in parts]
        for grant in grants:
            self.ledger.add_grant(grant)
        consent = Consent(
            id=f"con_{secrets.token_hex(8)}",
            client_id=draft.client_id,
            decided_at=self.now,
            digest=draft.digest,
            shown=shown,
            revisions=tuple(sorted({allowance.revision for allowance in draft.allowances})),
            grant_id=None if package is not None else grants[0].id,
            package_id=None if package is None else package.id,
        )
        self.ledger.add_consent(consent)
        return consent

    def _grant(self, draft: Draft, own: tuple[Allowance, ...], package: Package | None) -> Grant:
        return new_grant(
            own,
            client_id=draft.client_id,
            purpose=draft.purpose,
            now=self.now,
            expires_at=self._end(draft),
            access_mode=draft.access_mode,
            package=package,
        )

    def _end(self, draft: Draft) -> int | None:
        """Return when an approval ends; the token of a single use will end it sooner."""
        if draft.access_mode is not AccessMode.SINGLE_USE:
            return draft.expires_at
        longest = self.now + self.lifetimes.device + self.lifetimes.access
        return longest if draft.expires_at is None else min(longest, draft.expires_at)

    def _mark_approved(self, client_id: str) -> None:
        client = self.ledger.client(client_id) or Client(client_id, client_id, (), self.now)
        if client.approved_at is None:
            self.ledger.keep_client(replace(client, approved_at=self.now))


def _outcome(review: Review, **answer: str) -> Outcome:
    uri = str(review.redirect_uri)
    return Outcome(answer_location(uri, review.state, review.issuer, **answer))


def answer_location(uri: str, state: str | None, issuer: str, **answer: str) -> str:
    """Return a redirect URI with an answer, the state it belongs to and who gives it."""
    if state is not None:
        answer["state"] = state
    answer["iss"] = issuer
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(answer, quote_via=quote)}"
