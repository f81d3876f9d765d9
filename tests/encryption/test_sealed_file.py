"""Sealed files: any part is read without the rest, and no change goes unseen."""

import io
import random
from pathlib import Path
from typing import cast

import pytest

from pdpp.encryption.data_key import DataKey
from pdpp.encryption.files import PLAIN, DataFiles, SealedFiles, data_files
from pdpp.encryption.sealed_file import BLOCK, DamagedSeal, SealedSpool

SIZES = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 17]
KEY = DataKey(bytes(range(32)))
FILES = SealedFiles(KEY)


def content_of(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.mark.parametrize("size", SIZES)
def test_what_is_sealed_comes_back_whole(size: int) -> None:
    content = content_of(size)
    stored = FILES.seal(content)
    assert FILES.unseal(stored) == content
    assert size < BLOCK - 1 or content[:32] not in stored
    assert len(stored) <= size + 64 + 28 * (size // BLOCK + 1)


@pytest.mark.parametrize("size", [BLOCK, 3 * BLOCK + 17])
def test_any_part_is_read_as_from_a_plain_file(tmp_path: Path, size: int) -> None:
    content, path, places = content_of(size), tmp_path / "sealed", random.Random(1)
    path.write_bytes(FILES.seal(content))
    with FILES.reader(path.open("rb")) as sealed, io.BytesIO(content) as plain:
        for _ in range(60):
            start, length = places.randrange(size + 9), places.randrange(2 * BLOCK)
            assert sealed.seek(start) == plain.seek(start)
            assert sealed.read(length) == plain.read(length)
            assert sealed.tell() == plain.tell()
        assert sealed.seek(-5, io.SEEK_END) == size - 5
        assert sealed.read() == content[-5:]


def test_it_is_written_in_pieces_of_any_length() -> None:
    content, pieces, file = content_of(3 * BLOCK), random.Random(2), io.BytesIO()
    writer, at = FILES.writer(file), 0
    while at < len(content):
        length = pieces.randrange(1, BLOCK)
        writer.write(content[at : at + length])
        at += length
    writer.finish()
    assert FILES.unseal(file.getvalue()) == content


def test_the_same_content_never_looks_the_same() -> None:
    assert FILES.seal(b"the same") != FILES.seal(b"the same")
    assert FILES.name("the same") == FILES.name("the same") != "the same"
    assert FILES.name("the same") != SealedFiles(DataKey.new()).name("the same")


@pytest.mark.parametrize("at", [0, 20, 31, 60, BLOCK, BLOCK + 80, -1])
def test_a_changed_byte_is_found_out(at: int) -> None:
    stored = bytearray(FILES.seal(content_of(2 * BLOCK)))
    stored[at] ^= 1
    with pytest.raises(DamagedSeal):
        FILES.unseal(bytes(stored))


def test_a_file_cut_at_the_end_of_a_block_is_found_out() -> None:
    stored = FILES.seal(content_of(3 * BLOCK))
    for blocks in range(3):
        with pytest.raises(DamagedSeal):
            FILES.unseal(stored[: 30 + blocks * (BLOCK + 28)])


@pytest.mark.parametrize("more", [1, 12, 27, 28, 29, 5_000])
@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_a_file_cut_within_a_block_is_found_out(blocks: int, more: int) -> None:
    stored = FILES.seal(content_of(3 * BLOCK))
    with pytest.raises(DamagedSeal):
        FILES.unseal(stored[: 30 + blocks * (BLOCK + 28) + more])


def test_blocks_that_changed_places_are_found_out() -> None:
    stored, block = FILES.seal(content_of(3 * BLOCK)), BLOCK + 28
    first, second = stored[30 : 30 + block], stored[30 + block : 30 + 2 * block]
    with pytest.raises(DamagedSeal):
        FILES.unseal(stored[:30] + second + first + stored[30 + 2 * block :])


def test_another_key_opens_nothing() -> None:
    with pytest.raises(DamagedSeal):
        SealedFiles(DataKey.new()).unseal(FILES.seal(b"secret"))
    with pytest.raises(DamagedSeal):
        FILES.unseal(b"a plain file, longer than any head of a sealed one")


def test_without_a_key_files_are_as_they_are() -> None:
    assert data_files(None) is PLAIN
    assert PLAIN.seal(b"x") == PLAIN.unseal(b"x") == b"x"
    assert PLAIN.name("x") == "x"


@pytest.mark.parametrize("files", [PLAIN, FILES], ids=["plain", "sealed"])
@pytest.mark.parametrize("size", [10, 3 * BLOCK])
def test_what_is_on_its_way_is_read_again(files: DataFiles, size: int) -> None:
    content = content_of(size)
    with files.spool(BLOCK) as spool:
        for at in range(0, size, 1_000):
            spool.write(content[at : at + 1_000])
        spool.seek(0)
        assert b"".join(iter(lambda: spool.read(777), b"")) == content


def test_what_is_on_its_way_lies_sealed_on_the_disk() -> None:
    with FILES.spool(1) as spool:
        spool.write(b"known text " * 9_000)
        spool.seek(0)
        beneath = cast(SealedSpool, spool)._file
        beneath.seek(0)
        assert b"known text" not in beneath.read()
        with pytest.raises(io.UnsupportedOperation):
            spool.write(b"more")
