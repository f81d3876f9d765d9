"""Headers: those of a request by their names, and those that guard an answer in a browser."""

from starlette.types import Scope

SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What every page and every answer of the authorization server carries."""


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers of a request; one that is repeated is the list of its values."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers
