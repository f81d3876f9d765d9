"""What every seekable reader does, on one over bytes."""

import io
import os
from typing import Any

import pytest

from pdpp.seekable import SeekableReader

CONTENT = b"0123456789"


class Digits(SeekableReader):
    def __init__(self) -> None:
        super().__init__(len(CONTENT))

    def readinto(self, buffer: Any, /) -> int:
        piece = CONTENT[self._position : self._position + min(3, len(buffer))]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


@pytest.mark.parametrize(
    ("offset", "whence", "place"),
    [
        (4, os.SEEK_SET, 4),
        (-2, os.SEEK_END, 8),
        (1, os.SEEK_CUR, 3),
        (-9, os.SEEK_CUR, 0),
        (5, os.SEEK_END, 15),
    ],
)
def test_any_position_is_gone_to_and_read_from(offset: int, whence: int, place: int) -> None:
    reader = Digits()
    reader.seek(2)
    assert reader.seek(offset, whence) == reader.tell() == place
    assert io.BufferedReader(reader).read() == CONTENT[place:]


def test_it_says_what_it_can_do() -> None:
    reader = Digits()
    assert (reader.readable(), reader.seekable(), reader.writable()) == (True, True, False)
