"""Endpoints: HTTP of the authorization server. Every step is logged, no secret ever is."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from pdpp.authz.authority import Authority
from pdpp.authz.client_document import DocumentFetcher
from pdpp.authz.client_metadata import is_document_id
from pdpp.authz.throttle import network
from pdpp.evidence.fence import visible
from pdpp.model.errors import OAuthError, PdppError
from pdpp.oauth.browser_origin import BrowserUse, check_browser
from pdpp.oauth.request import OAuthRequest, read_request
from pdpp.service.failure import explained
from pdpp.service.headers import SECURITY_HEADERS
from pdpp.service.origin import public_origin, sender
from pdpp.service.rate_limit import RateLimiter
from pdpp.service.service import VERSION, Service
from pdpp.store.vault import RegisteredClient

T = TypeVar("T")

HEADERS = {
    **SECURITY_HEADERS,
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
_CROSS_ORIGIN = {"Access-Control-Allow-Origin": "*"}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "authorization, content-type, mcp-protocol-version",
    "Access-Control-Max-Age": "600",
}
_LONGEST_LOGGED = 200
_FORBIDDEN = 403
_CODES = {429: "temporarily_unavailable", 500: "server_error", 503: "temporarily_unavailable"}
"""What the protocol calls a refusal that is not its own."""

log = logging.getLogger("pdpp.oauth")


@dataclass(frozen=True, slots=True)
class AuthorizationContext:
    """What every endpoint of the authorization server shares."""

    service: Service
    authority: Authority
    fetcher: DocumentFetcher
    visitors: RateLimiter
    newcomers: RateLimiter
    error_page: Callable[[PdppError], Response]

    async def write(self, operation: Callable[[], T]) -> T:
        """Run what changes the store."""
        return await self.service.runner.write(operation)

    async def client(self, oauth_request: OAuthRequest) -> RegisteredClient:
        """Return the client that asks; one with a document of its own is looked up there."""
        client_id = oauth_request.required("client_id")
        known = self.authority.client(client_id)
        # A document is asked for again only when its time is over: anyone could else make this
        # server fetch at will.
        if known is not None and self.authority.is_fresh(known):
            return known
        if not is_document_id(client_id) or not self.service.settings.client_documents:
            raise OAuthError(
                "This server does not know this client. Register first.", error="invalid_client"
            )
        described = await self.fetcher.fetch(client_id)
        return await self.write(lambda: self.authority.keep_document(client_id, described))


Operation = Callable[[AuthorizationContext, OAuthRequest], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class OAuthEndpoint:
    """Serves one path; ``media_type`` is that of the body, and without one it is a GET.

    ``browsers`` says which pages in a browser may call it; they are answered without credentials.
    """

    context: AuthorizationContext
    step: str
    operation: Operation
    media_type: str | None = None
    browsers: BrowserUse = BrowserUse.NOBODY
    for_people: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever goes wrong becomes an answer in the protocol's words."""
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            # Nobody is there to be answered, and nothing is wrong with the server.
            return
        request_id = self.context.service.new_request_id()
        response.headers.update({"Request-Id": request_id, "PDPP-Version": VERSION})
        # An answer that forbids stays unreadable to the page that it forbids.
        if self.browsers is not BrowserUse.NOBODY and response.status_code != _FORBIDDEN:
            response.headers.update(_CROSS_ORIGIN)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            if request.method == "OPTIONS" and self.browsers is not BrowserUse.NOBODY:
                self._check_browser(request)
                return Response(status_code=204, headers=HEADERS | _PREFLIGHT)
            return await self._serve(request)
        except PdppError as error:
            problem = error
        except ClientDisconnect:
            raise
        except Exception as failure:  # noqa: BLE001 - whatever it is becomes an answer
            problem = explained(failure, self.context.service.store, log, self.step)
        if self.for_people:
            # A page takes a template, which the first one has to compile.
            return await asyncio.to_thread(self.context.error_page, problem)
        return _refused(problem)

    async def _serve(self, request: Request) -> Response:
        methods = self._methods()
        if request.method not in methods:
            allowed = {"Allow": ", ".join(methods)}
            message = f"This address takes: {allowed['Allow']}."
            raise OAuthError(message, error="invalid_request", status=405, headers=allowed)
        if self.media_type is not None:
            self._check_browser(request)
        settings = self.context.service.settings
        # Counted before the body is read: whoever asks too often must not cost more than this.
        self.context.visitors.take(network(sender(request.scope, settings)))
        oauth_request = await read_request(request, settings, self.media_type)
        try:
            response = await self.operation(self.context, oauth_request)
        except PdppError as error:
            self._log(oauth_request, error.code)
            raise
        self._log(oauth_request, str(response.status_code))
        return response

    def _check_browser(self, request: Request) -> None:
        issuer = public_origin(request.scope, self.context.service.settings)
        check_browser(self.browsers, request.headers, issuer)

    def _methods(self) -> tuple[str, ...]:
        if self.media_type is not None:
            return ("POST",)
        return ("GET",) if self.for_people else ("GET", "HEAD")

    def _log(self, oauth_request: OAuthRequest, outcome: str) -> None:
        client_id = visible(
            # Made visible and short: the id comes from a stranger, and must not forge a line of the
            # log.
            oauth_request.parameters.get("client_id", "-")[:_LONGEST_LOGGED],
            lines=False,
        )
        log.info(
            "%s client=%s from=%s outcome=%s", self.step, client_id, oauth_request.sender, outcome
        )


def _refused(error: PdppError) -> Response:
    """Return an error in the words of the protocol."""
    if not isinstance(error, OAuthError):
        error = OAuthError(
            error.message,
            error=_CODES.get(error.status, "invalid_request"),
            status=error.status,
            headers=error.headers,
        )
    return json_answer(error.members(), error.status, error.headers)


def json_answer(
    document: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON document that nothing keeps."""
    return Response(
        orjson.dumps(document), status, HEADERS | dict(headers or {}), "application/json"
    )


def redirect(location: str) -> Response:
    """Send the browser elsewhere with a plain GET, so that no form goes with it."""
    return RedirectResponse(location, 303, HEADERS)
