"""Guards: each unit of an input is counted and accounted for, and a surprise loses no other."""

from collections.abc import Iterable, Iterator

from pdpp.sources.item import Finding, ResumePoint, Seen, Unknown

SURPRISES = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""How code that expects a shape fails on another."""

_REASON = "a shape that is not known"
_NOTHING = "an entry from which nothing was read"


def account(findings: Iterable[Finding], where: str, kind: str) -> Iterator[Finding]:
    """Yield what a reader finds in one unit of the input.

    The unit is counted under its kind. A shape that surprises the reader, and a unit of which the
    reader says nothing at all, become ``Unknown``: nothing can be lost silently.
    """
    # Counted before it is read: a unit that breaks the reader is still one of the input.
    yield Seen(kind)
    accounted = False
    try:
        for finding in findings:
            accounted = accounted or not isinstance(finding, Seen | ResumePoint)
            yield finding
    except SURPRISES as problem:
        yield surprise(problem, where)
    else:
        if not accounted:
            yield Unknown(_NOTHING, where)


def surprise(problem: Exception, where: str) -> Unknown:
    """Return what is reported of a surprise: where and which kind, never the content."""
    return Unknown(_REASON, f"{where} ({type(problem).__name__})")
