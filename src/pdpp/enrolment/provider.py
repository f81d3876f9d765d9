"""Providers: where a provider's authorization server is and what it offers, by its metadata."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from pdpp.credentials import CredentialError, is_loopback
from pdpp.wire.http import FORM_LIMITS, HttpClient, Unreachable

_RESOURCE = "/.well-known/oauth-protected-resource"
_SERVER = "/.well-known/oauth-authorization-server"
_OK = 200


class EnrolmentError(CredentialError):
    """A provider that gave no credential; the message says why and what to do."""


class ProviderUnreachable(EnrolmentError):
    """A provider that does not answer."""

    exit_code = 69


@dataclass(frozen=True, slots=True)
class Provider:
    """The endpoints of one authorization server; the optional ones may be missing."""

    url: str
    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    device_authorization_endpoint: str | None = None
    revocation_endpoint: str | None = None
    iss_promised: bool = False
    connect_command: str = ""
    """What a person runs to ask this provider again."""


@contextmanager
def reaching() -> Iterator[None]:
    """Say of a provider that does not answer what to look at."""
    try:
        yield
    except Unreachable as problem:
        raise ProviderUnreachable(str(problem)) from None


def discover(url: str, connect_command: str | None = None) -> Provider:
    """Ask a provider where tokens for it are issued; the command is what asks for one again."""
    command = connect_command or f"pdpp connect {url}"
    resource = _document(url, url + _RESOURCE)
    servers = resource.get("authorization_servers")
    if not isinstance(servers, list) or not servers or not isinstance(servers[0], str):
        raise EnrolmentError(
            f"{url} names no authorization server; ask its owner for a token and run: "
            f"{command} --token-file FILE"
        )
    issuer = servers[0].rstrip("/")
    _require_safe(issuer)
    metadata = _document(issuer, _metadata_address(issuer))
    if str(metadata.get("issuer", "")).rstrip("/") != issuer:
        raise EnrolmentError(
            f"{issuer} describes itself as another server; its public address is set wrongly"
        )
    return replace(_provider(url, issuer, metadata), connect_command=command)


def _metadata_address(issuer: str) -> str:
    """Return where an issuer's metadata is: between its host and its path (RFC 8414)."""
    parts = urlsplit(issuer)
    return f"{parts.scheme}://{parts.netloc}{_SERVER}{parts.path}"


def _provider(url: str, issuer: str, metadata: Mapping[str, Any]) -> Provider:
    def endpoint(name: str) -> str | None:
        address = metadata.get(f"{name}_endpoint")
        if not isinstance(address, str):
            return None
        _require_safe(address)
        return address

    token = endpoint("token")
    if token is None:
        raise EnrolmentError(f"{issuer} issues no tokens")
    return Provider(
        url,
        issuer,
        token,
        endpoint("authorization"),
        endpoint("registration"),
        endpoint("device_authorization"),
        endpoint("revocation"),
        metadata.get("authorization_response_iss_parameter_supported") is True,
    )


def _document(origin: str, address: str) -> Mapping[str, Any]:
    with reaching():
        reply = HttpClient(FORM_LIMITS).get(address)
    document = reply.document
    if reply.status != _OK or not document:
        raise EnrolmentError(
            f"{origin} answered {reply.status} where its metadata should be; is it a PDPP server, "
            f"and does any proxy let {urlsplit(address).path} through?"
        )
    return document


def _require_safe(address: str) -> None:
    """Refuse to send secrets over a network in the clear."""
    parts = urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(address)):
        return
    raise EnrolmentError(
        f"{parts.scheme}://{parts.netloc} is not encrypted; credentials go over https only"
    )
