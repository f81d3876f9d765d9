"""Credentials from tokens: what a token endpoint answered, as it is kept in the cache."""

from collections.abc import Mapping
from typing import Any

from pdpp.credentials import Credential, is_owners, is_token, token_end
from pdpp.enrolment.provider import EnrolmentError, Provider, reaching
from pdpp.wire.http import FORM_LIMITS, HttpClient, HttpReply


def ask_token(provider: Provider, form: Mapping[str, str]) -> HttpReply:
    """Send a form to the token endpoint."""
    with reaching():
        return HttpClient(FORM_LIMITS).post_form(provider.token_endpoint, form)


def make_credential(
    provider: Provider, client_id: str, answer: Mapping[str, Any], now: float
) -> Credential:
    """Return the credential that a token endpoint's answer gives."""
    token = answer.get("access_token")
    if not isinstance(token, str) or not is_token(token) or is_owners(token):
        raise EnrolmentError(f"{provider.issuer} answered without a usable token")
    lifetime, refresh = answer.get("expires_in"), answer.get("refresh_token")
    return Credential(
        provider.url,
        token,
        "client",
        refresh_token=refresh if isinstance(refresh, str) else None,
        expires_at=token_end(now, lifetime),
        client_id=client_id,
        token_endpoint=provider.token_endpoint,
    )
