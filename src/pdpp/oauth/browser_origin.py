"""Browser origins: which pages of which sites may call an endpoint from a browser.

Browsers say where a request comes from, in ``Origin`` and in Fetch metadata; programs of their own
say nothing of the kind. So a page that the owner merely visits is told from a client. On this
machine only pages of this machine have business with the server; on a public address a client may
well be a page elsewhere, and registers and gets its tokens like any other.
"""

from collections.abc import Mapping
from enum import Enum
from urllib.parse import urlsplit

from pdpp.authz.redirect import LOOPBACK
from pdpp.model.errors import OAuthError

_OWN_SITES = ("same-origin", "none")


class BrowserUse(Enum):
    """Who may call an endpoint from a page in a browser."""

    NOBODY = "nobody"
    CLIENTS = "clients"
    ANYBODY = "anybody"


def check_browser(use: BrowserUse, headers: Mapping[str, str], issuer: str) -> None:
    """Refuse a request that a page in a browser sends without business here."""
    origin = headers.get("origin")
    site = headers.get("sec-fetch-site", "none")
    if use is BrowserUse.ANYBODY or origin == issuer:
        return
    if origin is None and site in _OWN_SITES:
        return
    if use is BrowserUse.CLIENTS and origin is not None and _has_business(origin, issuer):
        return
    raise OAuthError(
        "A page of another site sent this request. Nothing was done.",
        error="access_denied",
        status=403,
    )


def _has_business(origin: str, issuer: str) -> bool:
    """Tell whether a page may be a client: one of this machine, or any where the server is public.

    The origin ``null`` is that of pages nobody answers for: sandboxed frames and local files.
    """
    return is_local(origin) or (origin.startswith("https://") and not is_local(issuer))


def is_local(address: str) -> bool:
    """Tell whether an address leads to this very machine."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    return host in LOOPBACK or host.endswith(".localhost")
