"""Block rows: blocks of the word index as they are written.

They are bytes: a process that only writes what another one worked out needs no arrays.
"""

from struct import Struct
from typing import NamedTuple

LONGS_HEAD = Struct("<Bqq")
"""What packed numbers of 64 bits begin with: how many bytes each takes, what is added to each, and
by what it was divided before. Numbers of eight bytes are as they are."""


class BlockRow(NamedTuple):
    """The words of some records in the order of their times; see the table ``word_block``."""

    size: int
    first_time: int
    last_time: int
    times: bytes
    numbers: bytes
    postings: bytes

    def numbered_from(self, first: int) -> "BlockRow":
        """Return the same words, of records with numbers that begin at another one."""
        width, least, step = LONGS_HEAD.unpack_from(self.numbers)
        if width not in (1, 2, 4):
            raise ValueError("these numbers are not those of one batch")
        head = LONGS_HEAD.pack(width, least + first, step)
        return self._replace(numbers=head + self.numbers[LONGS_HEAD.size :])
