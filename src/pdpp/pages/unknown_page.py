"""The unknown page: a person who mistyped an address gets a page, a program its own answer."""

from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp.model.errors import NotFound
from pdpp.pages.owner_page import OwnerPage
from pdpp.pages.page_request import PageRequest
from pdpp.pages.site import Site
from pdpp.service.headers import headers_of

_FOR_PROGRAMS = ("/v1/", "/mcp", "/oauth/", "/.well-known/", "/assets/")


@dataclass(frozen=True, slots=True)
class UnknownPage:
    """Answers every path that is none of ours; ``other`` answers programs."""

    site: Site
    other: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a page where a browser asks for one."""
        asked = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if asked and not scope["path"].startswith(_FOR_PROGRAMS) and _takes_html(scope):
            await OwnerPage(self.site, _show, open=True)(scope, receive, send)
        else:
            await self.other(scope, receive, send)


def _takes_html(scope: Scope) -> bool:
    return "text/html" in headers_of(scope).get("accept", "")


async def _show(_: PageRequest) -> Response:
    raise NotFound("There is no page at this address. Check it, or search.")
