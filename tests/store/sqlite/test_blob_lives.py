"""Lives of files around the size at which they become files: used twice, given up, kept again."""

import io
import random
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine import back_up
from tests.store.sqlite.test_deletion import clean, holders
from tests.store.world import Clock, World

from pdpp.store.sqlite.blobs import MOST_IN_DATABASE
from pdpp.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.embedded("about the file of the embedded engine")

SIZES = (40, 4_096, MOST_IN_DATABASE - 1, MOST_IN_DATABASE, MOST_IN_DATABASE + 1, 100_000)


def marked(mark: str, size: int) -> bytes:
    return (f"{mark} ".encode() * (size // len(mark)))[:size]


@pytest.mark.parametrize("seed", range(3))
def test_files_are_whole_while_one_record_has_them_and_gone_afterwards(
    tmp_path: Path, clock: Clock, seed: int
) -> None:
    chance, folder = random.Random(seed), tmp_path / "data"
    world = World(SqliteStore(folder, clock), clock).settle(None, "c1", "c2")
    known: dict[str, tuple[str, bytes]] = {}
    held: dict[tuple[str, str], str] = {}
    for step in range(30):
        place = chance.choice(("c1", "c2")), f"k{chance.randrange(5)}"
        if place in held and chance.random() < 0.4:
            del held[place]
            world.put({place[1]: None}, place[0])
        else:
            mark = f"mark-{seed}-{step}-of-a-file"
            new = mark, marked(mark, chance.choice(SIZES))
            mark, content = chance.choice([*known.values(), new, new, new])
            blob = world.store.keep_blob(io.BytesIO(content), "text/plain", 1 << 20)
            known[blob.blob_id] = mark, content
            held[place] = blob.blob_id
            world.put({place[1]: {"file": {"blob_id": blob.blob_id}}}, place[0])
        clock.pass_by()
        if step % 10 == 4:
            world.store.close()
            world.store = SqliteStore(folder, clock)
        if step % 10 == 9:
            clean(world)
            back_up(world.store, tmp_path / f"copy-{step}")
            gone = [known[blob_id][0] for blob_id in known.keys() - set(held.values())]
            assert gone
            assert holders(folder, *gone) == holders(tmp_path / f"copy-{step}", *gone) == []
            with closing(SqliteStore(tmp_path / f"copy-{step}", clock)) as copy:
                for store in (world.store, copy):
                    assert store.check() == []
                    for blob_id in set(held.values()):
                        start = chance.choice((0, 7))
                        with store.open_blob(blob_id, start) as source:
                            assert source.read() == known[blob_id][1][start:]
    world.store.close()
