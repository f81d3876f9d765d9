"""Guards: what surprises a reader in one thing is told and loses none of the others."""

from collections.abc import Iterable, Iterator

from pdpp.sources.item import Finding, Unknown

SURPRISES = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""How code that expects a shape fails on another."""

_REASON = "a shape that is not known"


def attempt(found: Iterable[Finding], where: str) -> Iterator[Finding]:
    """Yield what a reader finds in one thing; if its shape surprises the reader, say where."""
    try:
        yield from found
    except SURPRISES as problem:
        yield surprise(problem, where)


def surprise(problem: Exception, where: str) -> Unknown:
    """Return what is told of a surprise: its place and kind, never the content."""
    return Unknown(_REASON, f"{where} ({type(problem).__name__})")
