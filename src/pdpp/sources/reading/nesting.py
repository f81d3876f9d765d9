"""Nesting: how deep the arrays and objects of a JSON text go, counted before a parser sees it."""

DEEPEST = 500
"""Levels that no export has. A parser that tells where each value stands holds the path of every
level, and all of them together grow with the square: 60 KB of brackets took 2 GB."""

_BRACKETS = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


class Nesting:
    """Counts the levels of a text that comes in pieces; what stands inside strings is none."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._rest = b""

    def is_too_deep(self, piece: bytes) -> bool:
        """Take in the next piece, and tell whether it goes deeper than any export does."""
        parts = self._unescaped(piece).split(b'"')
        outside = parts[1::2] if self._in_string else parts[::2]
        if len(parts) % 2 == 0:
            self._in_string = not self._in_string
        brackets = b"".join(outside).translate(_BRACKETS, _OTHERS)
        for _ in range(DEEPEST):
            fewer = brackets.replace(b"[]", b"")
            if len(fewer) == len(brackets):
                break
            brackets = fewer
        ends = len(brackets) - len(brackets.lstrip(b"]"))
        deepest = self._depth + len(brackets) - 2 * ends
        self._depth += brackets.count(b"[") - brackets.count(b"]")
        return max(deepest, self._depth) > DEEPEST

    def _unescaped(self, piece: bytes) -> bytes:
        """Return a piece without escapes; one that is cut in two waits for the next piece."""
        text = self._rest + piece
        self._rest = b""
        if b"\\" not in text:
            return text
        text = text.replace(b"\\\\", b"")
        if text.endswith(b"\\"):
            self._rest, text = b"\\", text[:-1]
        return text.replace(b'\\"', b"")
