"""Pages: one path each; whoever may not see it gets the login form at the same address."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from pdpp.model.errors import (
    Forbidden,
    InvalidRequest,
    MethodNotAllowed,
    PayloadTooLarge,
    PdppError,
)
from pdpp.pages.form import OWNERS_BYTES, STRANGERS_BYTES, PostedForm, read_form
from pdpp.pages.login import is_login, log_in, show_login_form, typed_fields
from pdpp.pages.page_request import PageRequest, frame_context, make_page_request, policy
from pdpp.pages.proof import read_proof
from pdpp.pages.site import Site
from pdpp.pages.template import render
from pdpp.service.failure import explained
from pdpp.service.headers import SECURITY_HEADERS
from pdpp.service.origin import LOOPBACK, from_proxy, public_origin
from pdpp.service.runner import run_here
from pdpp.service.settings import Settings

Handler = Callable[[PageRequest], Coroutine[Any, Any, Response]]

log = logging.getLogger("pdpp.pages")
_LAST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class OwnerPage:
    """Serves one path; ``open`` ones are for everybody, the others for the owner.

    A page that ``proves`` is the answer to its own login, so that what is approved on it needs the
    passphrase only once; any other is opened again after a login.
    """

    site: Site
    get: Handler | None = None
    post: Handler | None = None
    open: bool = False
    proves: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever goes wrong becomes a page too."""
        http = Request(scope, receive)
        try:
            response = await self._answer(http)
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _answer(self, http: Request) -> Response:
        try:
            return await self._serve(http)
        except PdppError as error:
            problem = error
        except ClientDisconnect:
            raise
        except Exception as failure:  # noqa: BLE001 - whatever it is becomes an answer
            # The route, not the path: that may name a review or a record.
            route = getattr(http.scope.get("route"), "path", "?")
            problem = explained(failure, self.site.service.store, log, f"page {route}")
        # Not among the readers: it may say that those are busy.
        origin = self.site.service.settings.origin
        return await asyncio.to_thread(error_page, problem, origin)

    async def _serve(self, http: Request) -> Response:
        origin = visited_origin(http, self.site.service.settings, self.site.private_host)
        request = make_page_request(self.site, http, origin)
        posted = http.method == "POST"
        if posted:
            check_source(http, origin)
            try:
                request = await _filled(request)
            except PayloadTooLarge as problem:
                if request.session is None:
                    return await self._ask_to_log_in(request, problem)
                raise
        if is_login(request):
            return await self._log_in(request)
        if request.session is None and not self.open:
            return await self._ask_to_log_in(request)
        if posted:
            request.require_token()
        known = request.session is not None
        return await self.site.draw(partial(self._handled, request, http.method), known=known)

    async def _ask_to_log_in(
        self, request: PageRequest, problem: PdppError | None = None
    ) -> Response:
        return await self.site.draw(partial(show_login_form, request, problem), known=False)

    async def _log_in(self, request: PageRequest) -> Response:
        """Accept the login form, which every page of the owner can show at its own address."""
        if request.session is not None:
            return request.go(request.here)
        request.require_token()
        site = self.site
        try:
            secret, typed = await log_in(request)
        except PdppError as problem:
            return await self._ask_to_log_in(request, problem)
        browser = None
        if request.browser is None:
            browser = await site.write(site.owner.new_browser)
        response = request.go(request.here)
        if self.post is not None and (typed_before := typed_fields(request.form)):
            proved_at = site.service.clock() if typed else None
            known = replace(request, form=PostedForm(), session=secret, proved_at=proved_at)
            resend = partial(known.page, "resend.html", kept=typed_before)
            response = await site.draw(resend, known=True)
        elif self.proves and typed and self.get is not None:
            proved_at = site.service.clock()
            known = replace(request, form=PostedForm(), session=secret, proved_at=proved_at)
            response = await site.draw(partial(self._handled, known, "GET"), known=True)
        return request.begin(response, secret, browser)

    def _handled(self, request: PageRequest, method: str) -> Response:
        """Return the answer of a page, which is made in this thread."""
        try:
            return run_here(self._handler(method)(request))
        except PdppError as error:
            return show_error(request, error)

    def _handler(self, method: str) -> Handler:
        handler = {"GET": self.get, "HEAD": self.get, "POST": self.post}.get(method)
        if handler is None:
            raise MethodNotAllowed("This page cannot be used in that way.")
        return handler


async def _filled(request: PageRequest) -> PageRequest:
    """Return a request with the form that was posted."""
    if request.session is None:
        return replace(request, form=await read_form(request.http, STRANGERS_BYTES))
    form, site = await read_form(request.http, OWNERS_BYTES), request.site
    now = site.service.clock()
    proved_at = read_proof(site.proof_key, request.session, form.one("proof"), now)
    return replace(request, form=form, proved_at=proved_at)


def visited_origin(request: Request, settings: Settings, private_host: str = "") -> str:
    """Return the address under which a browser is here; refuse a name that is not ours.

    Another site may have made its own name lead here, to be taken for us by a browser.
    """
    origin = public_origin(request.scope, settings)
    host = request.headers.get("host", "")
    if host == urlsplit(origin).netloc or from_proxy(request.scope, settings):
        return origin
    name, _, port = host.rpartition(":") if host.rpartition(":")[2].isdecimal() else (host, "", "")
    if name.lower() not in (*LOOPBACK, private_host) or not _is_port(port or "80"):
        raise InvalidRequest(
            f"This server answers to {origin}. Give it another name with --public-url; a proxy in "
            "front of it must pass the Host header on."
        )
    return origin if settings.public else f"http://{host}"


def _is_port(digits: str) -> bool:
    return len(digits) <= len(str(_LAST_PORT)) and int(digits) <= _LAST_PORT


def check_source(request: Request, origin: str) -> None:
    """Refuse a form that another site sends; browsers say where a form comes from.

    A page that sends no referrer makes browsers say ``null``; then the form's own token decides.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    sender = request.headers.get("origin", "null")
    ours = (request.headers.get("host", ""), urlsplit(origin).netloc)
    if site not in ("same-origin", "none") or (
        sender != "null" and urlsplit(sender).netloc not in ours
    ):
        raise Forbidden("This form came from another site. Nothing was done.")


def show_error(request: PageRequest, error: PdppError) -> Response:
    """Return an error as a page in the frame of whoever asks."""
    response = request.page("error.html", status=error.status, message=error.message)
    response.headers.update(error.headers)
    return response


def error_page(error: PdppError, origin: str = "") -> Response:
    """Return an error as a page for anyone, on the server at an address."""
    context = frame_context() | {"message": error.message}
    headers = {**SECURITY_HEADERS, "Content-Security-Policy": policy(), **error.headers}
    return HTMLResponse(render("error.html", context, urlsplit(origin).path), error.status, headers)
