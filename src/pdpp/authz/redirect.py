"""Redirect URIs: which a client may register, and which of a request's is one of its own.

An ``https`` address is matched exactly. On the loopback interface only the port is free, because
a native program listens on whatever port it gets. A private-use scheme belongs to a program on the
owner's machine and is matched exactly. Everything else is refused.
"""

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LONGEST = 2_048
_PLAIN = re.compile(r"[!-~]+\Z")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*\Z")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?\Z|\[[0-9a-f:.]+\]\Z", re.IGNORECASE)
_REFUSED_SCHEMES = re.compile(
    r"(about|blob|cid|content|data|feed|file|filesystem|ftps?|geo|gopher|imap|intent|jar|javascript"
    r"|ldaps?|livescript|mailto|market|mid|mk|mocha|news|nfs|nntp|pop|res|resource|rlogin|rtsp"
    r"|search|sftp|shell|sips?|smb|sms|ssh|svn|tel|telnet|tftp|urn|vbscript|view-source|webcal|wss?"
    r"|wyciwyg|xmpp|(ms|microsoft|moz|chrome|android-app|ios-app|itms|search|x-apple)-.*|chrome"
    r"|android-app|ios-app|itms)\Z"
)
"""Schemes that a browser or a desktop acts on by itself; a program of its own has none of them."""


def redirect_problem(uri: str) -> str | None:
    """Say why a redirect URI cannot be registered, or nothing."""
    if len(uri) > _LONGEST:
        return f"has more than {_LONGEST} characters"
    if not _PLAIN.match(uri) or "\\" in uri:
        return "holds characters that no address has"
    if "#" in uri:
        return "has a fragment"
    parts = _split(uri)
    if parts is None:
        return "is not an address"
    if "@" in parts.netloc:
        return "names a user"
    return _scheme_problem(parts)


def _scheme_problem(parts: SplitResult) -> str | None:
    if parts.scheme == "https":
        return None if _HOST.match(_bare(parts)) else "has no host"
    if parts.scheme == "http":
        return None if parts.hostname in LOOPBACK else "is http; only loopback addresses may be"
    if not _SCHEME.match(parts.scheme):
        return "has no scheme"
    if _REFUSED_SCHEMES.match(parts.scheme):
        return "has a scheme that is not a program's own"
    return None if parts.netloc or parts.path.startswith("/") else "leads nowhere"


def _bare(parts: SplitResult) -> str:
    """Return the host as it was written, without the port."""
    host, colon, port = parts.netloc.rpartition(":")
    return host if colon and (port.isdigit() or not port) else parts.netloc


def _split(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Tell whether a request's redirect URI is one of a client's own."""
    if redirect_problem(uri) is not None:
        return False
    known = tuple(registered)
    return uri in known or any(_same_but_port(uri, other) for other in known)


def _same_but_port(uri: str, registered: str) -> bool:
    mine, own = _portless(uri), _portless(registered)
    return mine is not None and mine == own


def _portless(uri: str) -> tuple[str | None, str, str] | None:
    parts = _split(uri)
    if parts is None or parts.scheme != "http" or parts.hostname not in LOOPBACK:
        return None
    return parts.hostname, parts.path, parts.query
