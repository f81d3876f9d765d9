"""Code words: what the kinds that programs write down are in plain words."""

import re

_PART = re.compile(r"[A-Z]{2,}\d*(?![a-z])|[A-Z]?[a-z]+|[A-Z]\d*|\d+")
_CODE = re.compile(r"[A-Za-z0-9]+(?:[_.-]+[A-Za-z0-9]+)*\Z")


def plain_words(code: str) -> str:
    """Return a code such as ``StepCount`` or ``IN_FERRY`` in plain words, other texts as they are.

    Short forms in capitals stay: ``AsleepREM`` is "asleep REM".
    """
    if not _CODE.match(code):
        return code
    if code.isupper():
        code = code.lower()
    return " ".join(part.lower() if part[1:].islower() else part for part in _PART.findall(code))


def titled_words(code: str) -> str:
    """Return a code in plain words that can stand as a title."""
    words = plain_words(code)
    return words[:1].upper() + words[1:]
