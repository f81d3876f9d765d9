"""Text in UTF-16, read as UTF-8.

Windows PowerShell writes it wherever the output of a program is sent to a file, Excel and Notepad
where they are told to write Unicode.
"""

import codecs
from typing import BinaryIO, cast

from pdpp.sources.reading.forward import ForwardStream

MARK_BYTES = 4
"""So many bytes tell whether a file is text in UTF-16: its mark, and one letter."""
_ORDERS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def byte_order(start: bytes, *, is_text: bool = False) -> str | None:
    """Return the encoding of a file in UTF-16 that begins with a mark and a letter of ASCII.

    Nearly every document begins so; a sound or a picture does not. Of what its name calls
    ``is_text``, such as a note, the letter may be of any language.
    """
    for mark, encoding in _ORDERS:
        if start.startswith(mark) and len(start) >= MARK_BYTES:
            letter = start[len(mark) : MARK_BYTES].decode(encoding, "replace")
            told = letter.isascii() or (is_text and letter != "\ufffd")
            return encoding if told and letter != "\x00" else None
    return None


class Recoded(ForwardStream):
    """A stream of another encoding, read as UTF-8, and what was read of it before.

    The mark at its beginning stays one. ``taken`` counts the bytes of the stream itself.
    """

    def __init__(self, stream: BinaryIO, encoding: str, before: bytes = b"") -> None:
        self._stream = stream
        self.taken = len(before)
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._rest = self._decoder.decode(before).encode("utf-8", "replace")

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read some bytes."""
        # As much as is wanted: who looks at the beginning must not see one letter of it.
        while len(self._rest) < len(buffer):
            chunk = self._stream.read(len(buffer))
            self.taken += len(chunk)
            self._rest += self._decoder.decode(chunk, final=not chunk).encode("utf-8", "replace")
            if not chunk:
                break
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
        super().close()


def narrow(stream: BinaryIO, *, is_text: bool) -> BinaryIO | None:
    """Return a stream in UTF-16 as UTF-8; None where it is no such text, and was read from."""
    start = stream.read(MARK_BYTES)
    encoding = byte_order(start, is_text=is_text)
    return None if encoding is None else cast(BinaryIO, Recoded(stream, encoding, start))
