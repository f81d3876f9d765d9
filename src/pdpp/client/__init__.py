"""A small typed client for ``/v1``, for programs of your own."""

from typing import TYPE_CHECKING, Any

from pdpp.client.blob import Blob, Saved
from pdpp.client.client import Client
from pdpp.client.listing import Changes, Listing
from pdpp.client.result import (
    Aggregation,
    Excerpt,
    Group,
    Hit,
    Notice,
    Page,
    Record,
    Schema,
    SchemaStream,
    Stream,
    Window,
)
from pdpp.credentials import CredentialError, OwnerCredentialError
from pdpp.evidence.handle import Handle
from pdpp.model.errors import PdppError
from pdpp.wire.answer import ServerError, ServerUnreachable, UnexpectedAnswer

if TYPE_CHECKING:
    from pdpp.client.asynchronous import AsyncBlob, AsyncChanges, AsyncClient, AsyncListing

__all__ = [
    "Aggregation",
    "AsyncBlob",
    "AsyncChanges",
    "AsyncClient",
    "AsyncListing",
    "Blob",
    "Changes",
    "Client",
    "CredentialError",
    "Excerpt",
    "Group",
    "Handle",
    "Hit",
    "Listing",
    "Notice",
    "OwnerCredentialError",
    "Page",
    "PdppError",
    "Record",
    "Saved",
    "Schema",
    "SchemaStream",
    "ServerError",
    "ServerUnreachable",
    "Stream",
    "UnexpectedAnswer",
    "Window",
]


def __getattr__(name: str) -> Any:
    """Import what needs an event loop only when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pdpp.client import asynchronous

    return getattr(asynchronous, name)
