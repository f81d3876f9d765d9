"""Page requests: one request of a browser, who sends it, and how it is answered."""

import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from pdpp.authz.owner import form_token
from pdpp.authz.webauthn import PasskeyContext
from pdpp.model.errors import Forbidden
from pdpp.model.instant import SECOND
from pdpp.pages.dates import Dates
from pdpp.pages.form import PostedForm
from pdpp.pages.preferences import read_preferences
from pdpp.pages.proof import make_proof, passkey_key
from pdpp.pages.site import Site
from pdpp.pages.template import render, script_source
from pdpp.service.headers import SECURITY_HEADERS
from pdpp.service.origin import sender

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src {scripts}; "
    "connect-src {calls}; form-action {targets}; base-uri 'none'; frame-ancestors 'none'"
)
FRAME_SCRIPT = "frame.js"
_MARK = re.compile(r"[A-Za-z0-9_-]{43}\Z")


def policy(targets: str = "'self'", scripts: Sequence[str] = (), *, calls: bool = False) -> str:
    """Return what a page may load, run and call, and where its forms may lead."""
    sources = " ".join(map(script_source, scripts)) or "'none'"
    return _POLICY.format(targets=targets, scripts=sources, calls="'self'" if calls else "'none'")


def frame_context() -> dict[str, Any]:
    """Return what the frame of a page needs for somebody who is not known."""
    return {
        "known": False,
        "host": "",
        "token": "",
        "proof": "",
        "section": "",
        "search_text": "",
        "scripts": (),
    }


@dataclass(frozen=True, slots=True)
class Cookies:
    """The cookies of one server; on https they are bound to the very host.

    Browsers share cookies between the ports of a host, so the port stands in the name where
    several servers of one machine would otherwise log each other out.
    """

    session: str
    mark: str
    browser: str
    secure: bool
    path: str
    """Where they are sent to: an owner below a path has cookies of their own."""

    @classmethod
    def of_origin(cls, origin: str) -> "Cookies":
        """Return the cookies of a public address."""
        parts = urlsplit(origin)
        before, after = "", f"_{parts.port or 80}"
        if parts.scheme == "https":
            # Browsers take names of the second kind for the whole host only.
            before, after = "__Secure-" if parts.path else "__Host-", ""
        return cls(
            session=f"{before}pdpp_session{after}",
            mark=f"{before}pdpp_mark{after}",
            browser=f"{before}pdpp_browser{after}",
            secure=parts.scheme == "https",
            path=parts.path or "/",
        )


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request with its form; ``session`` is the secret of the owner's session, if it is one.

    ``mark`` is random text that a browser without a session carries, so that forms can be bound
    to it; it is worth nothing else. ``proved_at`` is when the passphrase was typed, where this
    request proves that.
    """

    site: Site
    http: Request
    form: PostedForm
    session: str | None
    mark: str
    origin: str
    proved_at: int | None = None

    @property
    def bound(self) -> bool:
        """Tell whether the cookies here go to this server alone, and to no other port."""
        return _is_bound(self.site, self.origin)

    @property
    def server_origin(self) -> str:
        """Return the address that agents are given, which is never the owner's private name."""
        settings = self.site.service.settings
        return settings.origin if self.site.is_private(self.origin) else self.origin

    @property
    def browser(self) -> str | None:
        """Return what a browser brings that logged in here before."""
        return self.http.cookies.get(self.cookies.browser)

    @property
    def proof(self) -> str:
        """Return the proof that the next form carries; empty where the passphrase is needed."""
        if self.proved_at is None or self.session is None:
            return ""
        return make_proof(self.site.proof_key, self.session, self.proved_at)

    @property
    def passkey_context(self) -> PasskeyContext:
        """Return where a passkey is made or used: at this address, in this browser."""
        holder = self.session or self.mark
        return PasskeyContext(self.origin, holder, passkey_key(self.site.proof_key))

    @property
    def here(self) -> str:
        """Return the path of this page, to come back to it."""
        path = "/" + self.http.url.path.lstrip("/")
        query = self.http.url.query
        return f"{path}?{query}" if query else path

    @property
    def address(self) -> str:
        """Return where the request comes from."""
        return sender(self.http.scope, self.site.service.settings)

    @property
    def token(self) -> str:
        """Return what every form of this session carries."""
        return form_token(self.session or self.mark)

    @property
    def dates(self) -> Dates:
        """Return what writes dates as the owner wants them."""
        return read_preferences(self.site.service.store.vault).dates

    @property
    def cookies(self) -> Cookies:
        """Return the names of the cookies here."""
        return Cookies.of_origin(self.origin)

    def require_token(self) -> None:
        """Refuse a form that did not come from a page of this request."""
        if not hmac.compare_digest(self.form.one("token").encode(), self.token.encode()):
            raise Forbidden("This form is too old. Go back, reload the page and try again.")

    def page(
        self,
        template: str,
        *,
        status: int = 200,
        targets: str = "'self'",
        scripts: Sequence[str] = (),
        calls: bool = False,
        **context: Any,
    ) -> Response:
        """Return a page; forms on it may lead to ``targets`` only."""
        own = tuple(scripts) if self.session is None else (FRAME_SCRIPT, *scripts)
        shared = frame_context() | {
            "token": self.token,
            "proof": self.proof,
            "known": self.session is not None,
            "host": urlsplit(self.origin).netloc,
            "section": self.http.url.path.split("/")[1],
            "search_text": self.http.query_params.get("q", ""),
            "scripts": own,
            "dates": self.dates,
        }
        csp = policy(targets, own, calls=calls)
        headers = {**SECURITY_HEADERS, "Content-Security-Policy": csp}
        response = HTMLResponse(self._render(template, shared | context), status, headers)
        if self.session is None:
            self._set(response, self.cookies.mark, self.mark)
        return response

    def _render(self, template: str, context: Mapping[str, Any]) -> str:
        return render(template, context, urlsplit(self.origin).path)

    def go(self, location: str) -> Response:
        """Send the browser elsewhere with a plain GET."""
        return RedirectResponse(location, 303, SECURITY_HEADERS)

    def begin(self, response: Response, secret: str, browser: str | None) -> Response:
        """Make an answer the first one of a session, in a browser that is known from now on."""
        self._set(response, self.cookies.session, secret)
        if browser is not None:
            life = self.site.owner.lifetimes.browser // SECOND
            self._set(response, self.cookies.browser, browser, max_age=life)
        self._delete(response, self.cookies.mark)
        return response

    def end(self) -> Response:
        """Send the browser to the login without its session."""
        response = self.go("/login")
        self._delete(response, self.cookies.session)
        return response

    def _delete(self, response: Response, name: str) -> None:
        cookies = self.cookies
        response.delete_cookie(name, cookies.path, secure=cookies.secure, httponly=True)

    def _set(self, response: Response, name: str, value: str, max_age: int | None = None) -> None:
        response.set_cookie(
            name,
            value,
            max_age=max_age,
            path=self.cookies.path,
            secure=self.cookies.secure,
            httponly=True,
            samesite="lax",
        )


def _is_bound(site: Site, origin: str) -> bool:
    return Cookies.of_origin(origin).secure or site.is_private(origin)


def make_page_request(site: Site, http: Request, origin: str) -> PageRequest:
    """Return a page request before its form is read."""
    cookies = Cookies.of_origin(origin)
    secret = http.cookies.get(cookies.session)
    mark = http.cookies.get(cookies.mark, "")
    known = site.owner.knows(secret, bound=_is_bound(site, origin))
    if known:
        # It finds out whether the data was moved or replaced. A page may ask nothing else that
        # does, and an upload would make its folder anew where the data was.
        site.service.store.state()
    return PageRequest(
        site=site,
        http=http,
        form=PostedForm(),
        session=secret if known else None,
        mark=mark if _MARK.match(mark) else secrets.token_urlsafe(32),
        origin=origin,
    )
