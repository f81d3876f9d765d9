"""Revocation: a provider is told that a credential is given up."""

from pdpp.credentials import Cache, CredentialError
from pdpp.enrolment.provider import EnrolmentError, discover
from pdpp.wire.http import FORM_LIMITS, HttpClient, Unreachable

_OK = 200


def give_up(cache: Cache, provider_url: str) -> bool:
    """Revoke what the cache holds for a provider; tell whether the provider took note."""
    try:
        credential = cache.load(provider_url)
        if credential.refresh_token is None or credential.client_id is None:
            return False
        endpoint = discover(provider_url).revocation_endpoint
    except (CredentialError, EnrolmentError):
        return False
    if endpoint is None:
        return False
    form = {
        "token": credential.refresh_token,
        "token_type_hint": "refresh_token",
        "client_id": credential.client_id,
    }
    try:
        return HttpClient(FORM_LIMITS).post_form(endpoint, form).status == _OK
    except Unreachable:
        return False
