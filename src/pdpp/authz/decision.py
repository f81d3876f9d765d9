"""Decisions: the owner's yes or no to a review, with everything that follows, at once."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from pdpp.authz.approval import by_connection, new_grant, new_package
from pdpp.authz.grant_draft import GrantDraft
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.review import DecisionOutcome, Review
from pdpp.authz.short_lived import SecretKind, new_secret
from pdpp.model.errors import InvalidRequest, NotFound
from pdpp.model.grant import AccessMode, Allowance, Grant, Package
from pdpp.store.vault import Consent, RegisteredClient, VaultTransaction


@dataclass(frozen=True, slots=True)
class Decision:
    """Decides about one review inside one transaction, at one moment."""

    transaction: VaultTransaction
    lifetimes: Lifetimes
    now: int

    def approve(self, review: Review, draft: GrantDraft, text: str) -> DecisionOutcome:
        """Make what the owner approved, with its evidence and the way for the client to get it."""
        if draft.client_id != review.client_id:
            raise InvalidRequest("These choices belong to another client. Start again.")
        if not draft.allowances:
            raise InvalidRequest("These choices open nothing. Choose at least one account.")
        if draft.expires_at is not None and draft.expires_at <= self.now:
            raise InvalidRequest("The time you chose ends before it begins. Choose again.")
        consent = self._keep_approval(draft, text)
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
        code, secret = new_secret(
            SecretKind.CODE,
            {
                **approval,
                "redirect_uri": review.redirect_uri,
                "code_challenge": review.code_challenge,
            },
            self.now,
            self.lifetimes.code,
            client_id=review.client_id,
        )
        self.transaction.add_secret(secret)
        return _outcome(review, code=code)

    def deny(self, review: Review, error: str = "access_denied") -> DecisionOutcome:
        """Tell the client no."""
        if review.device is not None:
            return self._answer_device(review, {"approved": False})
        return _outcome(review, error=error)

    def _answer_device(self, review: Review, answer: dict[str, object]) -> DecisionOutcome:
        """Let a device find its answer; only one answer is ever given."""
        secret = self.transaction.secret(SecretKind.DEVICE.value, str(review.device))
        if secret is None or secret.expires_at <= self.now or secret.body["approved"] is not None:
            raise NotFound("The device no longer waits for an answer; start again there.")
        self.transaction.change_secret(replace(secret, body={**secret.body, **answer}))
        return DecisionOutcome(None)

    def _keep_approval(self, draft: GrantDraft, text: str) -> Consent:
        package = None
        parts: Iterable[tuple[Allowance, ...]] = (draft.allowances,)
        if draft.package:
            package = new_package(draft.client_id, self.now, self._end(draft))
            parts = by_connection(draft.allowances)
            self.transaction.add_package(package)
        grants = [self._grant(draft, own, package) for own in parts]
        for grant in grants:
            self.transaction.add_grant(grant)
        consent = Consent(
            id=f"con_{secrets.token_hex(8)}",
            client_id=draft.client_id,
            decided_at=self.now,
            digest=draft.digest,
            text=text,
            revisions=tuple(sorted({allowance.revision for allowance in draft.allowances})),
            grant_id=None if package is not None else grants[0].id,
            package_id=None if package is None else package.id,
        )
        self.transaction.add_consent(consent)
        return consent

    def _grant(
        self, draft: GrantDraft, own: tuple[Allowance, ...], package: Package | None
    ) -> Grant:
        return new_grant(
            own,
            client_id=draft.client_id,
            purpose=draft.purpose,
            now=self.now,
            expires_at=self._end(draft),
            access_mode=draft.access_mode,
            package=package,
        )

    def _end(self, draft: GrantDraft) -> int | None:
        """Return when an approval ends; the token of a single use will end it sooner."""
        if draft.access_mode is not AccessMode.SINGLE_USE:
            return draft.expires_at
        longest = self.now + self.lifetimes.device + self.lifetimes.access
        return longest if draft.expires_at is None else min(longest, draft.expires_at)

    def _mark_approved(self, client_id: str) -> None:
        client = self.transaction.client(client_id) or RegisteredClient(
            client_id, client_id, (), self.now
        )
        if client.approved_at is None:
            self.transaction.keep_client(replace(client, approved_at=self.now))


def _outcome(review: Review, **answer: str) -> DecisionOutcome:
    uri = str(review.redirect_uri)
    return DecisionOutcome(answer_location(uri, review.state, review.issuer, **answer))


def answer_location(uri: str, state: str | None, issuer: str, **answer: str) -> str:
    """Return a redirect URI with an answer, the state it belongs to and who gives it."""
    if state is not None:
        answer["state"] = state
    answer["iss"] = issuer
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(answer, quote_via=quote)}"
