"""The contract of refusals: every code that an answer may carry."""

import json
from collections.abc import Iterator
from typing import Any

from pdpp.model.errors import ApiError, OAuthError, PdppError, StoreError


def _below(kind: type[PdppError]) -> Iterator[type[PdppError]]:
    for inner in kind.__subclasses__():
        if inner.__module__ == PdppError.__module__:
            yield inner
            yield from _below(inner)


FAULTS = (ApiError, StoreError)
CODES = {kind.code for kind in _below(PdppError) if not issubclass(kind, (*FAULTS, OAuthError))}
"""Codes that tell a caller what is wrong with a request; a fault of ours has none of them."""

OAUTH_CODES = {
    *("invalid_request", "invalid_client", "invalid_grant", "unauthorized_client"),
    *("unsupported_grant_type", "invalid_scope", "invalid_target", "access_denied"),
    *("unsupported_response_type", "invalid_redirect_uri", "invalid_client_metadata"),
    *("authorization_pending", "slow_down", "expired_token", "unsupported_token_type"),
    *("invalid_authorization_details", "invalid_token", "invalid_request_uri"),
}
TRACES = ("Traceback", 'File "', "site-packages", "sqlite", "object at 0x")


def check_refusal(status: int, body: bytes) -> dict[str, Any]:
    """Check a refusal of ``/v1``: no fault, a code of the contract, and nothing of our insides."""
    assert 400 <= status < 500, (status, body[:500])
    error: dict[str, Any] = json.loads(body)["error"]
    assert error["code"] in CODES, error
    assert error["message"]
    assert not any(trace in json.dumps(error) for trace in TRACES), error
    return error
