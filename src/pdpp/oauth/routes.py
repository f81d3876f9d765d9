"""Routes: every path of the authorization server."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pdpp.authz.authority import Authority
from pdpp.authz.document import Fetcher
from pdpp.model.errors import PdppError
from pdpp.oauth import operations
from pdpp.oauth.endpoint import Endpoint, Office, Operation, json_answer
from pdpp.oauth.inquiry import JSON, Inquiry
from pdpp.oauth.metadata import (
    AUTHORIZE,
    DEVICE,
    INTROSPECT,
    METADATA_PATH,
    PUSH,
    REGISTER,
    REVOKE,
    TOKEN,
    server_metadata,
)
from pdpp.service.form import FORM
from pdpp.service.rate_limit import RateLimiter
from pdpp.service.service import Service

Documents = Callable[[str], Mapping[str, dict[str, Any]]]
_MINUTE = 60.0
_HERE = "from this address"


def make_office(
    service: Service,
    authority: Authority,
    apologise: Callable[[PdppError], Response],
    fetcher: Fetcher | None = None,
) -> Office:
    """Return what the endpoints share."""
    settings = service.settings
    return Office(
        service=service,
        authority=authority,
        fetcher=fetcher or Fetcher(),
        visitors=RateLimiter(
            settings.oauth_requests_per_second,
            settings.oauth_request_burst,
            time.monotonic,
            _HERE,
        ),
        newcomers=RateLimiter(
            settings.registrations_per_minute / _MINUTE,
            settings.registration_burst,
            time.monotonic,
            _HERE,
        ),
        apologise=apologise,
    )


def oauth_routes(office: Office, documents: Documents) -> Iterable[BaseRoute]:
    """Yield the paths of the authorization server, and documents by the address they are for."""
    yield Route(AUTHORIZE, Endpoint(office, "authorize", operations.authorize, for_people=True))
    for path, operation, media_type, cross_origin in (
        (PUSH, operations.push, FORM, False),
        (TOKEN, operations.issue, FORM, True),
        (DEVICE, operations.begin_device, FORM, False),
        (REGISTER, operations.register, JSON, True),
        (REVOKE, operations.revoke, FORM, True),
        (INTROSPECT, operations.look_into, FORM, False),
    ):
        step = path.rpartition("/")[2]
        yield Route(path, Endpoint(office, step, operation, media_type, cross_origin))
    for path in (METADATA_PATH, f"{METADATA_PATH}/mcp"):
        yield Route(path, Endpoint(office, "metadata", _describe, cross_origin=True))
    for path in documents(""):
        show = _shower(path, documents)
        yield Route(path, Endpoint(office, "metadata", show, cross_origin=True))


async def _describe(_office: Office, inquiry: Inquiry) -> Response:
    return json_answer(server_metadata(inquiry.place.issuer))


def _shower(path: str, documents: Documents) -> Operation:
    async def show(_office: Office, inquiry: Inquiry) -> Response:
        return json_answer(documents(inquiry.place.issuer)[path])

    return show
