"""Deleted is gone: no byte of what was deleted is left in a folder or in a backup of it."""

import io
from pathlib import Path

import pytest
from tests.engine import back_up
from tests.store.world import Clock, World

from pdpp.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.embedded("about the file of the embedded engine")

SECRETS = ("zanzibarine", "quagmirelike")
NOTE = "a note about zanzibarine and quagmirelike matters"


def holders(folder: Path, *words: str) -> list[str]:
    """Return the files that hold one of the words."""
    return [
        f"{path.name} {word}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for word in words
        if word.encode() in path.read_bytes()
    ]


def filled(folder: Path, clock: Clock) -> World:
    world = World(SqliteStore(folder, clock), clock).settle()
    blob = world.store.keep_blob(io.BytesIO(NOTE.encode()), "text/plain", 999)
    for number in range(300):
        text = NOTE if number % 50 == 7 else "plain words"
        world.put(
            {
                f"k{number:03}": {
                    "subject": text,
                    "body": f"{text} " * 30,
                    "note": text,
                    "thread": f"{text} {number}",
                    "file": {"blob_id": blob.blob_id} if text is NOTE else None,
                }
            }
        )
    return world


def clean(world: World) -> None:
    """Do what a server does while nobody waits."""
    world.store.collect_blobs(2**62)
    while world.store.tend():
        pass


@pytest.mark.parametrize("how", ["deleted", "rewritten", "removed with the connection"])
def test_deleted_text_is_in_no_file_and_in_no_backup(
    tmp_path: Path, clock: Clock, how: str
) -> None:
    folder = tmp_path / "data"
    world = filled(folder, clock)
    assert holders(folder, *SECRETS) != []
    keys = [f"k{number:03}" for number in range(300) if number % 50 == 7]
    if how == "deleted":
        world.put(dict.fromkeys(keys))
    elif how == "rewritten":
        world.put({key: {"subject": "plain"} for key in keys})
    else:
        world.store.remove_connection("c1")
        while world.store.delete_removed():
            pass
    back_up(world.store, tmp_path / "early")
    clean(world)
    back_up(world.store, tmp_path / "backup")
    assert holders(tmp_path / "backup", *SECRETS) == []
    assert holders(folder, *SECRETS) == []
    assert world.store.check() == []
    world.store.close()


def test_a_backup_can_be_used_in_the_place_of_the_store(tmp_path: Path, clock: Clock) -> None:
    world = filled(tmp_path / "data", clock)
    told: list[tuple[int, int]] = []
    back_up(world.store, tmp_path / "backup", lambda done, of: told.append((done, of)))
    assert told[-1][0] == told[-1][1]
    world.store.close()
    again = World(SqliteStore(tmp_path / "backup", clock), clock)
    assert len(again.keys()) == 300
    assert again.store.check() == []
    again.store.close()
