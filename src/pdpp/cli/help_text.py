"""Help texts: how a command is used, and how it can end.

Every launch of the program needs this for its own help, so that it imports next to nothing.
"""

from collections.abc import Mapping
from types import MappingProxyType

CODES: Mapping[int, str] = MappingProxyType(
    {0: "done", 1: "refused or failed", 64: "wrong usage", 130: "interrupted"}
)
REMOTE_CODES: Mapping[int, str] = MappingProxyType(
    {
        **CODES,
        69: "the server cannot be reached",
        77: "an owner's credential where a grant's belongs",
        78: "not connected, or the grant has ended",
    }
)
"""How a command can end that reads from a server with a credential that is kept."""


def examples(*lines: str, codes: Mapping[int, str] = CODES) -> str:
    """Return the closing paragraphs of a help text: how it is used, and how it can end."""
    usage = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
    ends = "; ".join(f"{code} {meaning}" for code, meaning in sorted(codes.items()))
    return f"{usage}\n\nExit codes: {ends}."
