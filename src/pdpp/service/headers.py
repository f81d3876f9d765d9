"""Headers: those of a request by their names."""

from starlette.types import Scope


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers of a request; one that is repeated is the list of its values."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers
