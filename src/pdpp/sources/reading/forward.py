"""Forward streams: what can only be gone through from its beginning, such as unpacked content."""

import io

_CHUNK = 1 << 16


class ForwardStream(io.RawIOBase):
    """A stream of which each kind says in ``readinto`` what is read next."""

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002 - only from there
        """Go forward from the beginning, where the stream stands until it is read."""
        left = offset
        while left and (passed := self.read(min(left, _CHUNK))):
            left -= len(passed)
        return offset - left
