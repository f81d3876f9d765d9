"""An encrypted store: no byte of it is legible, and it does all that a plain one does."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine import back_up
from tests.store.sqlite.test_deletion import holders
from tests.store.world import Clock, World

from pdpp.encryption.data_key import DataKey
from pdpp.encryption.files import data_files
from pdpp.encryption.key_file import KEY_FILE, KdfCost, KeyFile
from pdpp.model.errors import StoreError
from pdpp.sources.importing.positions import PartPosition
from pdpp.sources.importing.state import ImportState
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import LogEvent, Receipt
from pdpp.store.sqlite.conversion import convert, settle
from pdpp.store.sqlite.store import SqliteStore
from pdpp.store.tables.receipts.totals import DistinctRecords

pytestmark = pytest.mark.embedded("about the file of the embedded engine")

SECRETS = ("zanzibarine", "quagmirelike")
TEXT = "a note about zanzibarine and quagmirelike matters"
FILE = (TEXT + "\n").encode() * 5_000
GOOD = "four or five words"
KEY = DataKey(bytes(range(32)))
OTHER = DataKey(bytes(range(1, 33)))


def sealed(key: DataKey) -> tuple[DataKey, KeyFile]:
    return key, KeyFile.seal(key, GOOD, KdfCost(1, 64, 1))


def filled(folder: Path, clock: Clock, key: DataKey | None) -> World:
    """Fill every file that a data folder has: records, words, blobs, receipts, import state."""
    store = SqliteStore(folder, clock, key=key)
    world = World(store, clock).settle()
    blob = store.keep_blob(io.BytesIO(FILE), "text/plain", 1 << 20)
    world.put(
        {
            f"k{number:03}": {
                "subject": TEXT,
                "body": f"{TEXT} " * 30,
                "thread": f"{TEXT} {number}",
                "file": {"blob_id": blob.blob_id} if number == 7 else None,
            }
            for number in range(100)
        }
    )
    world.put({"k001": None})
    store.receipts.begin()
    store.receipts.write([ReceiptBatch([Receipt(clock(), LogEvent.GAP, detail=TEXT)])])
    state = ImportState(folder, store.files)
    state.keep_report("20260101-000000.000-aaaa", {"note": TEXT})
    state.keep_plan("orders", {"note": TEXT})
    state.remember("orders", "shape", {"note": TEXT})
    journal = state.journal("c1", Path("/somewhere"), "1")
    journal.begin(anew=True)
    journal.note({TEXT: PartPosition("stamp", 7)})
    journal.end(complete=False)
    journal.close()
    return world


def assert_whole(folder: Path, key: DataKey | None) -> None:
    """See that everything that was filled in is there and can be read with a key."""
    store = SqliteStore(folder, Clock(), key=key)
    try:
        world = World(store)
        assert store.check() == []
        assert len(world.keys()) == 99
        (blob,) = store.blobs()
        with store.open_blob(blob.blob_id, 70_000) as source:
            assert source.read() == FILE[70_000:]
        assert TEXT in {kept.receipt.detail for kept in store.receipts.events()}
        state = ImportState(folder, store.files)
        assert [report["note"] for _, report in state.reports()] == [TEXT]
        assert [plan["note"] for plan in state.plans()] == [TEXT]
        assert state.recall("orders", "shape") == {"note": TEXT}
        journal = state.journal("c1", Path("/somewhere"), "1")
        assert journal.positions == {TEXT: PartPosition("stamp", 7)}
        assert journal.interrupted
    finally:
        store.close()


def test_no_file_of_an_open_store_and_none_of_its_backup_holds_known_text(
    tmp_path: Path, clock: Clock
) -> None:
    worlds = {key: filled(tmp_path / str(bool(key)), clock, key) for key in (None, KEY)}
    for key, world in worlds.items():
        folder, copy = tmp_path / str(bool(key)), tmp_path / f"copy {bool(key)}"
        assert (folder / "pdpp.sqlite3-wal").stat().st_size > 0
        back_up(world.store, copy)
        legible = holders(folder, *SECRETS)
        kinds = {line.split()[0] for line in legible}
        assert bool(legible) == bool(holders(copy, *SECRETS)) == (key is None)
        assert key is not None or {"pdpp.sqlite3-wal", "receipts.db-wal", "orders.json"} <= kinds
        world.store.close()
        assert bool(holders(folder, *SECRETS)) == (key is None)
    ImportState(tmp_path / "True", data_files(KEY)).copy(tmp_path / "copy True")
    assert holders(tmp_path / "copy True", *SECRETS) == []
    assert_whole(tmp_path / "copy True", KEY)


def test_the_name_of_a_blob_does_not_betray_a_file_that_somebody_knows(
    tmp_path: Path, clock: Clock
) -> None:
    world = filled(tmp_path, clock, KEY)
    (blob,) = world.store.blobs()
    names = [path.name for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    assert len(names) == 1
    assert blob.blob_id not in names
    world.store.close()


def test_any_part_of_a_blob_is_read_and_a_damaged_one_is_told(tmp_path: Path, clock: Clock) -> None:
    world = filled(tmp_path, clock, KEY)
    (blob,) = world.store.blobs()
    for start in (0, 1, 65_535, 65_536, 200_000, len(FILE)):
        with world.store.open_blob(blob.blob_id, start) as source:
            assert source.read(1_000) == FILE[start : start + 1_000]
    (path,) = (path for path in (tmp_path / "blobs").rglob("*") if path.is_file())
    content = bytearray(path.read_bytes())
    content[100_000] ^= 1
    path.write_bytes(content)
    assert "cannot be read" in world.store.check()[0]
    world.store.close()


def test_another_key_none_and_a_key_for_a_plain_store_are_refused_in_one_sentence(
    tmp_path: Path, clock: Clock
) -> None:
    filled(tmp_path / "sealed", clock, KEY).store.close()
    filled(tmp_path / "plain", clock, None).store.close()
    with pytest.raises(StoreError, match=r"does not open with the key of this folder"):
        SqliteStore(tmp_path / "sealed", key=OTHER)
    with pytest.raises(StoreError, match=r"is encrypted and encryption.json is missing, or it is"):
        SqliteStore(tmp_path / "sealed")
    with pytest.raises(StoreError, match=r"is not encrypted though the store is"):
        SqliteStore(tmp_path / "plain", key=KEY)
    sealed(KEY)[1].write(tmp_path / "sealed")
    with pytest.raises(StoreError, match=r"is encrypted, and its key was not given"):
        SqliteStore(tmp_path / "sealed")
    (tmp_path / "plain" / "receipts.db").replace(tmp_path / "sealed" / "receipts.db")
    store = SqliteStore(tmp_path / "sealed", key=KEY)
    with pytest.raises(StoreError, match=r"is not encrypted though the store is"):
        _ = store.receipts
    store.close()


def test_stored_files_that_changed_places_are_found_by_a_check(
    tmp_path: Path, clock: Clock
) -> None:
    store = SqliteStore(tmp_path, clock, key=KEY)
    for content in (b"one" * 30_000, b"two" * 30_000):
        store.keep_blob(io.BytesIO(content), "text/plain", 1 << 20)
    one, other = (path for path in (tmp_path / "blobs").rglob("*") if path.is_file())
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    problems = store.check()
    store.close()
    assert len(problems) == 2
    assert all("has other content than its name says" in problem for problem in problems)


def turn(folder: Path, old: DataKey | None, new: DataKey | None, fails: bool = False) -> None:
    def imports(building: Path) -> None:
        ImportState(folder, data_files(old)).convert(ImportState(building, data_files(new)))
        if fails:
            raise StoreError("the power went")

    convert(folder, old, None if new is None else sealed(new), imports)


def test_a_store_is_encrypted_gets_another_key_and_is_decrypted_with_all_it_holds(
    tmp_path: Path, clock: Clock
) -> None:
    filled(tmp_path, clock, None).store.close()
    for old, new in ((None, KEY), (KEY, OTHER), (OTHER, None)):
        assert bool(holders(tmp_path, *SECRETS)) == (old is None)
        turn(tmp_path, old, new)
        assert (tmp_path / KEY_FILE).exists() == (new is not None)
        assert_whole(tmp_path, new)
        assert not list(tmp_path.glob(".*"))
        if old is not None and new is not None:
            with pytest.raises(StoreError, match="does not open"):
                SqliteStore(tmp_path, key=old)


def test_a_store_that_somebody_has_open_is_not_converted(tmp_path: Path, clock: Clock) -> None:
    world = filled(tmp_path, clock, None)
    with pytest.raises(StoreError, match="is in use: stop the server"):
        turn(tmp_path, None, KEY)
    world.put({"later": {"subject": "still written"}})
    world.store.close()
    assert not list(tmp_path.glob(".*"))


def test_a_conversion_that_fails_leaves_the_old_store(tmp_path: Path, clock: Clock) -> None:
    filled(tmp_path, clock, KEY).store.close()
    with pytest.raises(StoreError, match="the power went"):
        turn(tmp_path, KEY, OTHER, fails=True)
    assert_whole(tmp_path, KEY)
    assert not list(tmp_path.glob(".*"))


class PowerCut(BaseException):
    """Nothing is cleaned up after it."""


def cutting(after: int, whole: Callable[..., Path]) -> Callable[..., Path]:
    """Return a rename that is the last thing that happens, after so many others."""
    left = [after]

    def rename(self: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise PowerCut
        return whole(self, target)

    return rename


@pytest.mark.parametrize("after", range(12))
def test_a_conversion_cut_at_any_rename_ends_as_the_old_store_or_the_new_one(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    filled(tmp_path, clock, None).store.close()
    whole = Path.rename
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", cutting(after, whole))
        cut = False
        try:
            turn(tmp_path, None, KEY)
        except PowerCut:
            cut = True
    assert cut == (after < 11)
    settle(tmp_path)
    assert_whole(tmp_path, KEY if (tmp_path / KEY_FILE).exists() else None)
    assert (after == 0) == (not (tmp_path / KEY_FILE).exists())


def test_records_are_told_apart_on_the_disk_without_their_ids() -> None:
    with DistinctRecords(most_held=1) as seen:
        seen.add(("agent", "c1", "s"), ("zanzibarine-1", "zanzibarine-2", "zanzibarine-1"))
        seen.add(("agent", "c1", "s"), ("zanzibarine-2", "zanzibarine-3"))
        assert seen.counts() == {("agent", "c1"): 3}
        assert seen._disk is not None
        kept = seen._disk.execute("SELECT key FROM seen").fetchall()
        assert len(kept) == 3
        assert all(isinstance(key, bytes) and b"zanzibar" not in key for (key,) in kept)


def test_an_error_in_writing_a_copy_does_not_repeat_the_key(tmp_path: Path, clock: Clock) -> None:
    from pdpp.store.sqlite.opening import WITH_ADDRESSES, copy_into, open_connection

    filled(tmp_path, clock, KEY).store.close()
    db = open_connection(tmp_path / "pdpp.sqlite3", KEY, flags=WITH_ADDRESSES)
    with pytest.raises(StoreError) as refused:
        copy_into(db, tmp_path / "no such folder" / "copy", OTHER)
    db.close()
    assert OTHER.derived(b"databases").hex() not in str(refused.value)
    assert refused.value.__cause__ is None


def test_sorting_uses_no_file_of_the_system(tmp_path: Path, clock: Clock) -> None:
    world = filled(tmp_path, clock, KEY)
    memory = 2
    assert world.store._db.reader.pragma("temp_store") == memory  # type: ignore[attr-defined]
    assert world.store.receipts._db.pragma("temp_store") == memory  # type: ignore[attr-defined]
    world.store.close()
