"""Authorization requests: what a client asks for, checked before the owner sees anything."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from pdpp.authz.client_metadata import AUTHORIZATION_CODE, OFFLINE_SCOPE, READ_SCOPE
from pdpp.authz.detail import parse_details
from pdpp.authz.redirect import is_registered
from pdpp.authz.review import Review
from pdpp.model.errors import InvalidRequest, OAuthError
from pdpp.store.vault import RegisteredClient

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}\Z")
Parameters = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ServerOrigins:
    """Where a request came in: under which public address, and by which name we keep ourselves.

    Tokens are kept with the second as their audience, so that they stay good whatever name of
    ours a request used.
    """

    issuer: str
    home: str

    def audience(self, resource: str | None) -> str | None:
        """Return the audience for a resource that is one of ours; refuse any other."""
        if not resource:
            return None
        for path in ("", "/v1", "/mcp"):
            if resource in (self.issuer + path, self.home + path) or (
                not path and resource in (f"{self.issuer}/", f"{self.home}/")
            ):
                return self.home + path
        raise OAuthError("The resource is not one of this server's.", error="invalid_target")

    def outward(self, audience: str) -> str:
        """Return an audience as the caller knows it."""
        return self.issuer + audience.removeprefix(self.home)


def check_target(parameters: Parameters, client: RegisteredClient) -> str:
    """Return the redirect URI of a request; until this is known to be good, nothing goes there."""
    uri = parameters.get("redirect_uri")
    if uri is None:
        raise OAuthError("The request names no redirect_uri.", error="invalid_request")
    if not is_registered(uri, client.redirect_uris):
        raise OAuthError(
            "The redirect_uri is not one this client registered.", error="invalid_request"
        )
    return uri


def check_request(
    parameters: Parameters,
    client: RegisteredClient,
    origins: ServerOrigins,
    now: int,
) -> Review:
    """Return the review of a request by code; it has no id and no end yet."""
    if "request" in parameters:
        raise OAuthError(
            "Send plain parameters, or push them first.", error="request_not_supported"
        )
    if parameters.get("response_type") != "code":
        raise OAuthError("The only response_type here is code.", error="unsupported_response_type")
    if parameters.get("response_mode", "query") != "query":
        raise OAuthError("The only response_mode here is query.", error="invalid_request")
    if AUTHORIZATION_CODE not in client.grant_types:
        raise OAuthError(
            "This client did not register for authorization codes.", error="unauthorized_client"
        )
    asked = check_details(parameters, client, origins, now)
    return replace(
        asked,
        redirect_uri=parameters["redirect_uri"],
        state=parameters.get("state"),
        code_challenge=_challenge(parameters),
    )


def check_details(
    parameters: Parameters,
    client: RegisteredClient,
    origins: ServerOrigins,
    now: int,
) -> Review:
    """Return the review of what a request by code or by device asks for."""
    review = Review(
        id="",
        issuer=origins.issuer,
        client_id=client.id,
        redirect_uri=None,
        state=None,
        scope=granted_scope(parameters.get("scope", "")),
        resource=origins.audience(parameters.get("resource")),
        code_challenge=None,
        details=_details(parameters),
        device=None,
        created_at=now,
        expires_at=now,
    )
    if review.details:
        _check_form(review)
    return review


def granted_scope(asked: str) -> str:
    """Return the scope that is given for one that is asked: unknown words are left out."""
    return f"{READ_SCOPE} {OFFLINE_SCOPE}" if OFFLINE_SCOPE in asked.split() else READ_SCOPE


def _challenge(parameters: Parameters) -> str:
    challenge = parameters.get("code_challenge")
    if challenge is None:
        raise OAuthError("PKCE is required: send a code_challenge.", error="invalid_request")
    if parameters.get("code_challenge_method") != "S256":
        raise OAuthError("The only code_challenge_method here is S256.", error="invalid_request")
    if not _CHALLENGE.match(challenge):
        raise OAuthError("The code_challenge was not made with S256.", error="invalid_request")
    return challenge


def _details(parameters: Parameters) -> tuple[Mapping[str, Any], ...]:
    text = parameters.get("authorization_details")
    if text is None:
        return ()
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, list) or not document:
        raise OAuthError(
            "authorization_details must be a JSON list.", error="invalid_authorization_details"
        )
    return tuple(document)


def _check_form(review: Review) -> None:
    """Refuse details that are not of the right form.

    Whether there is what they name is the owner's to see: until then anybody may be asking.
    """
    try:
        parse_details(list(review.details))
    except InvalidRequest as problem:
        where = f" (at {problem.param})" if problem.param else ""
        raise OAuthError(
            f"{problem.message}{where}", error="invalid_authorization_details"
        ) from None
