"""A personal data server: one person's records, read by agents under grants."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pdpp.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import the library only when it is asked for: every command begins by importing this."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pdpp import client

    return getattr(client, name)
