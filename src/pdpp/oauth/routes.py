"""Routes: every path of the authorization server."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from pdpp.authz.authority import Authority
from pdpp.authz.client_document import DocumentFetcher
from pdpp.model.errors import PdppError
from pdpp.oauth import operations
from pdpp.oauth.browser_origin import BrowserUse
from pdpp.oauth.endpoint import AuthorizationContext, OAuthEndpoint, Operation, json_answer
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
from pdpp.oauth.request import JSON, OAuthRequest
from pdpp.service.form import FORM
from pdpp.service.rate_limit import RateLimiter
from pdpp.service.service import Service

Documents = Callable[[str], Mapping[str, dict[str, Any]]]
_MINUTE = 60.0
_HERE = "from this address"


def make_authorization(
    service: Service,
    authority: Authority,
    error_page: Callable[[PdppError], Response],
    fetcher: DocumentFetcher | None = None,
) -> AuthorizationContext:
    """Return what the endpoints share."""
    settings, limits = service.settings, service.store.limits
    return AuthorizationContext(
        service=service,
        authority=authority,
        fetcher=fetcher or DocumentFetcher(),
        visitors=RateLimiter(
            settings.oauth_requests_per_second,
            settings.oauth_request_burst,
            time.monotonic,
            _HERE,
            limits,
            "visitors",
        ),
        newcomers=RateLimiter(
            settings.registrations_per_minute / _MINUTE,
            settings.registration_burst,
            time.monotonic,
            _HERE,
            limits,
            "newcomers",
        ),
        error_page=error_page,
    )


def oauth_routes(context: AuthorizationContext, documents: Documents) -> Iterable[BaseRoute]:
    """Yield the paths of the authorization server, and documents by the address they are for."""
    yield Route(
        AUTHORIZE, OAuthEndpoint(context, "authorize", operations.authorize, for_people=True)
    )
    for path, operation, media_type, browsers in (
        (PUSH, operations.push, FORM, BrowserUse.NOBODY),
        (TOKEN, operations.issue, FORM, BrowserUse.CLIENTS),
        (DEVICE, operations.begin_device, FORM, BrowserUse.NOBODY),
        (REGISTER, operations.register, JSON, BrowserUse.CLIENTS),
        (REVOKE, operations.revoke, FORM, BrowserUse.CLIENTS),
        (INTROSPECT, operations.look_into, FORM, BrowserUse.NOBODY),
    ):
        step = path.rpartition("/")[2]
        yield Route(path, OAuthEndpoint(context, step, operation, media_type, browsers))
    for path in (METADATA_PATH, f"{METADATA_PATH}/mcp"):
        yield Route(
            path, OAuthEndpoint(context, "metadata", _describe, browsers=BrowserUse.ANYBODY)
        )
    for path in documents(""):
        show = _shower(path, documents)
        yield Route(path, OAuthEndpoint(context, "metadata", show, browsers=BrowserUse.ANYBODY))


async def _describe(context: AuthorizationContext, request: OAuthRequest) -> Response:
    documents = context.service.settings.client_documents
    return json_answer(server_metadata(request.origins.issuer, client_documents=documents))


def _shower(path: str, documents: Documents) -> Operation:
    async def show(_context: AuthorizationContext, request: OAuthRequest) -> Response:
        return json_answer(documents(request.origins.issuer)[path])

    return show
