"""OAuth requests: one request to the authorization server, read strictly and within bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.requests import Request

from pdpp.authz.request import ServerOrigins
from pdpp.model.errors import OAuthError
from pdpp.service.form import FORM, read_pairs, read_typed_body
from pdpp.service.origin import public_origin, sender
from pdpp.service.settings import Settings

JSON = "application/json"

_MOST_BYTES = 128 << 10
_MOST_PAIRS = 64
_LONGEST_NAME = 100
_LONGEST_VALUE = 4_096
_LONGEST = {"authorization_details": 64 << 10}


@dataclass(frozen=True, slots=True)
class OAuthRequest:
    """What was asked: the parameters, or a JSON document, and where it came in from whom."""

    parameters: Mapping[str, str]
    document: Any
    authorization: str | None
    origins: ServerOrigins
    sender: str

    def required(self, name: str) -> str:
        """Return a parameter that must be there."""
        return required(self.parameters, name)


def required(parameters: Mapping[str, str], name: str) -> str:
    """Return one of some parameters that must be there."""
    value = parameters.get(name)
    if value is None:
        raise OAuthError(f"The parameter {name} is missing.", error="invalid_request")
    return value


async def read_request(
    request: Request, settings: Settings, media_type: str | None
) -> OAuthRequest:
    """Return what a request asks, in its address or in a body of one media type."""
    parameters: Mapping[str, str] = {}
    document = None
    if media_type is None:
        parameters = read_parameters(request.scope["query_string"])
    else:
        body = await read_typed_body(request, media_type, _MOST_BYTES)
        if media_type == FORM:
            parameters = read_parameters(body)
        else:
            document = _read_json(body)
    return OAuthRequest(
        parameters=parameters,
        document=document,
        authorization=request.headers.get("authorization"),
        origins=ServerOrigins(public_origin(request.scope, settings), settings.origin),
        sender=sender(request.scope, settings),
    )


def read_parameters(encoded: bytes) -> dict[str, str]:
    """Return parameters by name; a repeated one is refused, an empty one counts as absent."""
    parameters: dict[str, str] = {}
    for name, value in read_pairs(encoded, _MOST_PAIRS):
        # Two values of one parameter are how one check sees what another does not; RFC 6749 forbids
        # them.
        if name in parameters:
            raise OAuthError("A parameter is given more than once.", error="invalid_request")
        if len(name) > _LONGEST_NAME or len(value) > _LONGEST.get(name, _LONGEST_VALUE):
            raise OAuthError("A parameter is too long.", error="invalid_request")
        parameters[name] = value
    return {name: value for name, value in parameters.items() if value}


def _read_json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise OAuthError("The body is not JSON.", error="invalid_client_metadata") from None
