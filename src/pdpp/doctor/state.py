"""Examination state: what an examination knows so far; each step reads it and adds to it."""

import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from pdpp.credentials import plain_address
from pdpp.doctor.wire import TimedReply, Wire

MCP_PATH = "/mcp"
CALLBACK = "http://127.0.0.1/pdpp-doctor/callback"
"""Where a code would go; nobody listens there, because the address itself tells it."""


class Approver(Protocol):
    """Says yes in the owner's place, with the least there is to grant."""

    def approve(self, consent_url: str) -> str:
        """Approve what waits at an address; return where the browser would be sent."""
        ...

    def owner_token(self) -> AbstractContextManager[str | None]:
        """Hold a token of the owner's for a moment, where one can be made."""
        ...

    def revoke(self, client_id: str) -> None:
        """Take back everything that a client holds."""
        ...


@dataclass(slots=True)
class ExaminationState:
    """What is known about one server."""

    mcp_url: str
    wire: Wire
    approver: Approver | None = None
    client_document: str | None = None
    now: Callable[[], float] = time.time

    first: TimedReply | None = None
    issuer: str = ""
    server: Mapping[str, Any] = field(default_factory=dict)
    client_id: str = ""
    consent_url: str = ""
    code: str = ""
    access: str = ""
    refresh: str = ""
    oauth_state: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def origin(self) -> str:
        """Return the address of the server without a path."""
        parts = urlsplit(self.mcp_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def address(self) -> str:
        """Return the address of the server, which has a path where owners share a host name."""
        return self.mcp_url.removesuffix(MCP_PATH)

    def well_known(self, name: str, of: str) -> str:
        """Return where the metadata of an address is: between its host and its path."""
        return f"{self.origin}{name}{urlsplit(of).path}"

    @property
    def secure(self) -> bool:
        """Tell whether the address is one of https."""
        return self.mcp_url.startswith("https://")

    def endpoint(self, name: str) -> str:
        """Return an address that the server's metadata names."""
        return str(self.server.get(name, ""))


def mcp_url(text: str) -> str:
    """Return the address that agents are given, from that or from the server's own."""
    return plain_address(text).removesuffix(MCP_PATH) + MCP_PATH
