"""Files that Firefox packs."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.mozlz4 import unpack_block


@pytest.mark.parametrize(
    ("packed", "plain"),
    [
        (b"", b""),
        (b"\x50tides", b"tides"),
        (b"\x50tides\x05\x00\x10!", b"tidestide!"),
        (b"\x1fo\x01\x00\x06\x10!", b"o" * 26 + b"!"),
        (b"\xf0\x05" + b"a" * 20, b"a" * 20),
        (b"\xf0\xff\x00" + b"a" * 270, b"a" * 270),
    ],
)
def test_runs_and_copies_are_unpacked(packed: bytes, plain: bytes) -> None:
    assert unpack_block(packed, len(plain)) == plain


@pytest.mark.parametrize(
    ("packed", "size"),
    [
        (b"\x50tid", 5),
        (b"\x50tides", 6),
        (b"\x10a\x02\x00\x10!", 6),
        (b"\x10a\x00\x00\x10!", 6),
        (b"\x1fa\x01\x00" + b"\xff" * 9_000 + b"\x00\x10!", 100),
        (b"\x10a\x01", 6),
        (b"\xf0\xff\xff", 6),
    ],
)
def test_a_block_that_is_cut_or_wrong_is_damaged(packed: bytes, size: int) -> None:
    with pytest.raises(DamagedFile):
        unpack_block(packed, size)


@given(st.binary(max_size=200), st.integers(0, 500))
def test_any_bytes_are_unpacked_to_the_size_or_damaged(packed: bytes, size: int) -> None:
    with suppress(DamagedFile):
        assert len(unpack_block(packed, size)) == size
