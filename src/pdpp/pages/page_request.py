"""Page requests: one request of a browser, who sends it, and how it is answered."""

import hmac
import re
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from pdpp.authz.owner import form_token
from pdpp.model.errors import Forbidden
from pdpp.pages.form import PostedForm
from pdpp.pages.site import Site
from pdpp.pages.template import render
from pdpp.service.headers import SECURITY_HEADERS
from pdpp.service.origin import sender

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src {scripts}; "
    "form-action {targets}; base-uri 'none'; frame-ancestors 'none'"
)
_MARK = re.compile(r"[A-Za-z0-9_-]{43}\Z")


def policy(targets: str = "'self'", scripts: str = "'none'") -> str:
    """Return what a page may load and run, and where its forms may lead."""
    return _POLICY.format(targets=targets, scripts=scripts)


@dataclass(frozen=True, slots=True)
class Cookies:
    """The cookies of one server; on https they are bound to the very host.

    Browsers share cookies between the ports of a host, so the port stands in the name where
    several servers of one machine would otherwise log each other out.
    """

    session: str
    mark: str
    secure: bool

    @classmethod
    def of_origin(cls, origin: str) -> "Cookies":
        """Return the cookies of a public address."""
        parts = urlsplit(origin)
        if parts.scheme == "https":
            return cls("__Host-pdpp_session", "__Host-pdpp_mark", True)
        port = parts.port or 80
        return cls(f"pdpp_session_{port}", f"pdpp_mark_{port}", False)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request with its form; ``session`` is the secret of the owner's session, if it is one.

    ``mark`` is random text that a browser without a session carries, so that forms can be bound
    to it; it is worth nothing else.
    """

    site: Site
    http: Request
    form: PostedForm
    session: str | None
    mark: str
    origin: str

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
    def cookies(self) -> Cookies:
        """Return the names of the cookies here."""
        return Cookies.of_origin(self.origin)

    def require_token(self) -> None:
        """Refuse a form that did not come from a page of this request."""
        if not hmac.compare_digest(self.form.one("token").encode(), self.token.encode()):
            raise Forbidden("This form is too old; go back, load the page again, and repeat it.")

    def page(
        self,
        template: str,
        *,
        status: int = 200,
        targets: str = "'self'",
        scripts: str = "'none'",
        **context: Any,
    ) -> Response:
        """Return a page; forms on it may lead to ``targets`` only."""
        shared = {
            "token": self.token,
            "known": self.session is not None,
            "host": urlsplit(self.origin).netloc,
        }
        headers = {**SECURITY_HEADERS, "Content-Security-Policy": policy(targets, scripts)}
        response = HTMLResponse(render(template, shared | context), status, headers)
        if self.session is None:
            self._set(response, self.cookies.mark, self.mark)
        return response

    def go(self, location: str) -> Response:
        """Send the browser elsewhere with a plain GET."""
        return RedirectResponse(location, 303, SECURITY_HEADERS)

    def begin(self, secret: str) -> Response:
        """Send the browser to this page again, as the owner's."""
        response = self.go(self.here)
        self._set(response, self.cookies.session, secret)
        response.delete_cookie(self.cookies.mark, secure=self.cookies.secure, httponly=True)
        return response

    def end(self) -> Response:
        """Send the browser to the login without its session."""
        response = self.go("/login")
        response.delete_cookie(self.cookies.session, secure=self.cookies.secure, httponly=True)
        return response

    def _set(self, response: Response, name: str, value: str) -> None:
        response.set_cookie(
            name, value, path="/", secure=self.cookies.secure, httponly=True, samesite="lax"
        )


def make_page_request(site: Site, http: Request, origin: str) -> PageRequest:
    """Return a page request before its form is read."""
    cookies = Cookies.of_origin(origin)
    secret = http.cookies.get(cookies.session)
    mark = http.cookies.get(cookies.mark, "")
    return PageRequest(
        site=site,
        http=http,
        form=PostedForm(),
        session=secret if site.owner.knows(secret) else None,
        mark=mark if _MARK.match(mark) else secrets.token_urlsafe(32),
        origin=origin,
    )
