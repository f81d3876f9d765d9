"""Clients: what a program may say about itself when it registers or publishes its document."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pdpp.authz.redirect import redirect_problem
from pdpp.evidence.fence import HIDDEN
from pdpp.model.errors import OAuthError
from pdpp.model.instant import SECOND
from pdpp.store.vault import RegisteredClient

AUTHORIZATION_CODE = "authorization_code"
REFRESH_TOKEN = "refresh_token"  # noqa: S105 - the name of a grant type
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
GRANT_TYPES = (AUTHORIZATION_CODE, REFRESH_TOKEN, DEVICE_CODE)
READ_SCOPE = "pdpp:read"
OFFLINE_SCOPE = "offline_access"
SCOPES = (READ_SCOPE, OFFLINE_SCOPE)

UNNAMED = "Unnamed client"
_LONGEST_NAME = 100
_LONGEST_URI = 2_048
_MOST_REDIRECTS = 16
_MOST_TYPES = 16
_LARGEST = 8 << 10
"""Everything that is kept of one client, in bytes: anybody may register."""
_LINKS = ("client_uri", "policy_uri", "tos_uri")


def is_document_id(client_id: str) -> bool:
    """Tell whether a client id is the address of a document rather than one we gave."""
    return client_id.startswith("https://")


@dataclass(frozen=True, slots=True)
class Description:
    """The part of a client's metadata that means something here, checked."""

    name: str
    redirect_uris: tuple[str, ...]
    grant_types: tuple[str, ...]
    about: Mapping[str, str]


def read_metadata(document: object) -> Description:
    """Return what a client says about itself, or refuse it; what is unknown here is left out.

    A picture is never kept: a page of the owner's server loads nothing from elsewhere.
    """
    if not isinstance(document, dict):
        raise _refuse("Client metadata is one JSON object.")
    grant_types = _grant_types(document)
    _check_response_types(document)
    described = Description(
        name=_name(document),
        redirect_uris=_redirect_uris(document, needed=AUTHORIZATION_CODE in grant_types),
        grant_types=grant_types,
        about=_links(document),
    )
    if sum(map(len, (*described.redirect_uris, *described.about.values()))) > _LARGEST:
        raise _refuse(f"The addresses of a client have at most {_LARGEST:,} bytes in all.")
    return described


def new_client(described: Description, now: int) -> RegisteredClient:
    """Return a client with an id of our making."""
    return RegisteredClient(
        id=f"cli_{secrets.token_hex(12)}",
        name=described.name,
        redirect_uris=described.redirect_uris,
        created_at=now,
        grant_types=described.grant_types,
        about=described.about,
    )


def as_document(client: RegisteredClient) -> dict[str, Any]:
    """Return what a client learns about its registration."""
    return {
        "client_id": client.id,
        "client_id_issued_at": client.created_at // SECOND,
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "grant_types": list(client.grant_types),
        "response_types": ["code"] if AUTHORIZATION_CODE in client.grant_types else [],
        "token_endpoint_auth_method": "none",
        "scope": " ".join(SCOPES),
        **client.about,
    }


def _name(document: Mapping[str, Any]) -> str:
    name = document.get("client_name")
    if name is None or name == "":
        return UNNAMED
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise _refuse(f"client_name is text of at most {_LONGEST_NAME} characters.")
    if HIDDEN.search(name) or "<" in name or ">" in name:
        raise _refuse("client_name holds markup or characters that cannot be seen.")
    return " ".join(name.split()) or UNNAMED


def _redirect_uris(document: Mapping[str, Any], *, needed: bool) -> tuple[str, ...]:
    uris = _texts(document, "redirect_uris", _MOST_REDIRECTS, _LONGEST_URI)
    for uri in uris:
        problem = redirect_problem(uri)
        if problem is not None:
            raise OAuthError(f"A redirect URI {problem}.", error="invalid_redirect_uri")
    if needed and not uris:
        raise OAuthError("Name at least one redirect URI.", error="invalid_redirect_uri")
    return tuple(dict.fromkeys(uris))


def _grant_types(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the grant types that are offered here of those a client wants."""
    wanted = _texts(document, "grant_types", _MOST_TYPES, _LONGEST_NAME)
    if not wanted:
        return (AUTHORIZATION_CODE, REFRESH_TOKEN)
    offered = tuple(name for name in GRANT_TYPES if name in wanted)
    if not set(offered) - {REFRESH_TOKEN}:
        raise _refuse(f"None of the grant types is offered here; offered: {', '.join(GRANT_TYPES)}")
    return offered


def _check_response_types(document: Mapping[str, Any]) -> None:
    wanted = _texts(document, "response_types", _MOST_TYPES, _LONGEST_NAME)
    if wanted and "code" not in wanted:
        raise _refuse("The only response type here is code.")


def _links(document: Mapping[str, Any]) -> dict[str, str]:
    return {name: document[name] for name in _LINKS if _is_link(name, document.get(name))}


def _is_link(name: str, value: object) -> bool:
    if value is None or value == "":
        return False
    if not isinstance(value, str) or redirect_problem(value) or urlsplit(value).scheme != "https":
        raise _refuse(f"{name} is an https address.")
    return True


def _texts(document: Mapping[str, Any], name: str, most: int, longest: int) -> tuple[str, ...]:
    values = document.get(name)
    if values is None:
        return ()
    if not isinstance(values, list) or len(values) > most:
        raise _refuse(f"{name} is a list of at most {most} items.")
    if not all(isinstance(value, str) and len(value) <= longest for value in values):
        raise _refuse(f"{name} is a list of texts of at most {longest} characters.")
    return tuple(values)


def _refuse(message: str) -> OAuthError:
    return OAuthError(message, error="invalid_client_metadata")
