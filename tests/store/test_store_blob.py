import hashlib
import io
import os
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from tests.engine import blob_content, damage_blob
from tests.store.world import MESSAGE, TEXT, World, condition, declare, stream

from pdpp.evidence.binary import OCTETS
from pdpp.model.errors import PayloadTooLarge
from pdpp.model.grant import Interval
from pdpp.store.blobs import CHUNK, Blob, media_type_of
from pdpp.store.port import Store
from pdpp.store.tables.blob_folder import BlobFolder, settle_blobs
from pdpp.store.tables.records import visible_way

PNG = b"\x89PNG and so on"


def keep(store: Store, content: bytes = PNG, media_type: str = "image/png") -> Blob:
    return store.keep_blob(io.BytesIO(content), media_type, 1 << 24)


def test_a_blob_is_named_by_its_content(store: Store) -> None:
    kept = keep(store)
    assert kept.blob_id == hashlib.sha256(PNG).hexdigest()
    assert (kept.media_type, kept.size_bytes) == ("image/png", len(PNG))
    assert blob_content(store, kept) == PNG
    assert store.blob(kept.blob_id) == kept
    assert store.blob("0" * 64) is None


def test_a_blob_and_its_name_are_on_the_disk_before_it_is_told_as_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, synced = BlobFolder(tmp_path / "blobs"), []

    def watched(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", watched)
    blob_id, _ = folder.keep(io.BytesIO(PNG), 100)
    path = folder.path(blob_id)
    assert synced == [held.stat().st_ino for held in (path, tmp_path / "blobs", path.parent)]


def test_files_that_are_stored_together_are_on_the_disk_before_any_of_them_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, steps = BlobFolder(tmp_path / "blobs"), list[tuple[str, int]]()
    fsync, replace_file = os.fsync, os.replace

    def syncing(descriptor: int) -> None:
        fsync(descriptor)
        steps.append(("sync", os.fstat(descriptor).st_ino))

    def renaming(source: Path, target: Path) -> None:
        replace_file(source, target)
        steps.append(("name", target.stat().st_ino))

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", renaming)
    contents = [b"file %d" % number for number in range(9)]
    with ExitStack() as stack:
        pieces = [iter([content]) for content in contents]
        blobs = [stack.enter_context(folder.received(piece, 100)) for piece in pieces]
        settle_blobs(blobs)
    paths = [folder.path(blob.blob_id) for blob in blobs]
    inodes = {path.stat().st_ino for path in paths}
    folders = {path.parent.stat().st_ino for path in paths} | {(tmp_path / "blobs").stat().st_ino}
    size = len(contents)
    assert set(steps[:size]) == {("sync", inode) for inode in inodes}
    assert set(steps[size : 2 * size]) == {("name", inode) for inode in inodes}
    assert set(steps[2 * size :]) == {("sync", inode) for inode in folders}
    assert [path.read_bytes() for path in paths] == contents


def test_a_batch_of_files_is_stored_when_it_is_settled_and_leaves_nothing_before(
    store: Store, tmp_path: Path
) -> None:
    contents = [b"file %d" % number for number in range(7)]
    with closing(store.blob_batch()) as batch:
        lost = [batch.keep(io.BytesIO(content), "text/plain", 100) for content in contents]
        assert list(store.blobs()) == []
        with pytest.raises(PayloadTooLarge):
            batch.keep(io.BytesIO(b"x" * 101), "text/plain", 100)
    assert list(store.blobs()) == []
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []
    with closing(store.blob_batch()) as batch:
        kept = [batch.keep(io.BytesIO(content), "text/plain", 100) for content in contents * 2]
        batch.settle()
    assert kept == lost * 2
    assert [blob_content(store, blob) for blob in kept] == contents * 2
    assert sorted(blob.blob_id for blob in store.blobs()) == sorted(blob.blob_id for blob in lost)
    assert store.check() == []


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 4 * CHUNK + 1])
def test_a_blob_of_any_size_is_kept_whole(store: Store, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    kept = keep(store, content[:size])
    assert blob_content(store, kept) == content[:size]
    for start in {0, 1, CHUNK - 1, CHUNK, size // 2, size} & set(range(size + 1)):
        with store.open_blob(kept.blob_id, start) as source:
            assert source.read(10) == content[start:size][:10]
            assert source.read() == content[start:size][10:]
    assert store.check() == []


def test_the_same_bytes_are_kept_once_under_their_first_media_type(store: Store) -> None:
    first = keep(store)
    again = keep(store, media_type="application/octet-stream")
    assert again == first
    assert store.blob(first.blob_id) == first
    assert list(store.blobs()) == [first]


def test_bytes_that_are_kept_already_are_not_written_again(tmp_path: Path) -> None:
    folder = BlobFolder(tmp_path / "blobs")
    blob_id, size = folder.keep(io.BytesIO(PNG), 100)
    path = folder.path(blob_id)
    os.utime(path, ns=(1, 1))
    before = path.stat()
    assert folder.keep(io.BytesIO(PNG), 100) == (blob_id, size)
    after = path.stat()
    assert after.st_ino == before.st_ino
    assert after.st_mtime_ns > 1, "its time tells a sweep that somebody means to use it"
    assert [path.name for path in (tmp_path / "blobs").iterdir()] == [blob_id[:2]]


@pytest.mark.parametrize("damaged", [b"", PNG[:-1], PNG[:-1] + b"?"])
def test_a_damaged_file_is_mended_when_its_bytes_come_again(store: Store, damaged: bytes) -> None:
    kept = keep(store)
    damage_blob(store, kept, damaged)
    assert store.check()
    assert keep(store) == kept
    assert blob_content(store, kept) == PNG
    assert store.check() == []


def test_a_blob_over_the_limit_is_refused_and_leaves_nothing(store: Store, tmp_path: Path) -> None:
    exact = store.keep_blob(io.BytesIO(b"12345"), "text/plain", 5)
    before = sorted(tmp_path.rglob("blobs/**/*"))
    with pytest.raises(PayloadTooLarge, match="at most 4 bytes"):
        store.keep_blob(io.BytesIO(b"123456"), "text/plain", 4)
    with pytest.raises(PayloadTooLarge, match="at most 4 bytes"):
        store.keep_blob(io.BytesIO(b"12345"), "text/plain", 4)
    assert sorted(tmp_path.rglob("blobs/**/*")) == before
    assert list(store.blobs()) == [exact]


def test_a_source_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    source = io.BytesIO(b"x")
    source.close()
    folder = BlobFolder(tmp_path / "blobs")
    with pytest.raises(ValueError, match="closed"):
        folder.keep(source, 9)
    assert list((tmp_path / "blobs").iterdir()) == []


def test_a_folder_tells_what_is_wrong_with_a_blob(tmp_path: Path) -> None:
    folder = BlobFolder(tmp_path)
    blob_id, size = folder.keep(io.BytesIO(PNG), 99)
    assert folder.problem(blob_id, size) is None
    assert folder.problem(blob_id, size + 1) is not None
    folder.path(blob_id).write_bytes(b"other bytes!!")
    assert "other content" in (folder.problem(blob_id, size) or "")
    folder.path(blob_id).unlink()
    assert "missing" in (folder.problem(blob_id, size) or "")


def test_a_blob_is_shown_only_through_a_record_the_reach_shows_with_its_field(world: World) -> None:
    blob_id = keep(world.store).blob_id
    assert not world.store.blob_shown(blob_id, [world.reach()])
    world.put({"a": {"file": {"blob_id": blob_id}, "at": "2026-01-02", "size": 1}})
    shown = world.store.blob_shown
    assert shown(blob_id, [world.reach()])
    assert shown(blob_id, [world.reach(fields=["file"])])
    assert not shown(blob_id, [])
    assert not shown(blob_id, [world.reach(fields=["subject"])])
    assert not shown(blob_id, [world.reach(keys=["b"])])
    assert not shown(blob_id, [world.reach(time=Interval(None, 0))])
    reach = world.reach()
    assert not shown(blob_id, [reach.narrowed([condition(reach, "size", "gt", 1)])])
    assert not shown("0" * 64, [world.reach()])


@pytest.mark.parametrize("few", [1, visible_way._FEW])
def test_a_blob_is_shown_through_the_visible_ones_of_many_records(
    world: World, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    # Both ways to them: those that use the file, and all that a grant shows.
    monkeypatch.setattr(visible_way, "_FEW", few)
    blob_id = keep(world.store).blob_id
    file = {"blob_id": blob_id, "mime_type": "image/gif"}
    world.put({f"h{at}": {"file": {"blob_id": blob_id}, "at": "2026-02-02"} for at in range(20)})
    world.put({f"v{at}": {"at": "2026-01-02"} for at in range(90)})
    january = world.reach(time=Interval(None, 1_769_904_000_000_000))
    listed = world.reach(keys=["v7", "v8", *(f"none{at}" for at in range(90))])
    for reach in (january, listed):
        assert not world.store.blob_shown(blob_id, [reach])
    world.put({"v7": {"file": file, "at": "2026-01-02"}, "v8": {"file": file, "at": "2026-01-02"}})
    for reach in (january, listed):
        use = world.store.blob_shown(blob_id, [reach])
        assert use is not None
        assert (use.id, use.field, use.media_type) == (world.id(reach, "v7"), "file", "image/gif")


def test_a_blob_goes_out_of_sight_with_the_last_record_that_has_it(world: World) -> None:
    blob_id, other = keep(world.store).blob_id, keep(world.store, b"other").blob_id
    world.put({"a": {"file": {"blob_id": blob_id}}, "b": {"file": blob_id}})
    world.put({"a": {"file": {"blob_id": other}}})
    assert world.store.blob_shown(other, [world.reach()])
    assert world.store.blob_shown(blob_id, [world.reach()])
    world.put({"b": None})
    assert not world.store.blob_shown(blob_id, [world.reach()])
    world.put({"a": {"file": None}})
    assert not world.store.blob_shown(other, [world.reach()])


def test_a_field_that_names_no_blob_shows_none(world: World) -> None:
    world.put({"a": {"file": {"blob_id": 7}}, "b": {"file": {}}, "c": {"note": "0" * 64}})
    assert not world.store.blob_shown("0" * 64, [world.reach()])


def test_a_field_that_was_no_blob_when_it_was_granted_opens_none(world: World) -> None:
    world.settle(declare(stream(properties={**MESSAGE, "file": TEXT}), version="0"))
    before = world.reach()
    world.settle(declare(version="2"))
    blob_id = keep(world.store).blob_id
    world.put({"a": {"file": blob_id}})
    older = replace(world.reach(), stream=before.stream)
    assert not world.store.blob_shown(blob_id, [older])
    assert world.store.blob_shown(blob_id, [world.reach()])


def test_a_field_declared_as_a_blob_later_shows_the_blobs_of_old_records(world: World) -> None:
    blob_id = keep(world.store).blob_id
    world.settle(declare(stream(properties={**MESSAGE, "file": TEXT}), version="0"))
    world.put({"a": {"file": blob_id}})
    world.settle(declare(version="2"))
    assert world.store.blob_shown(blob_id, [world.reach()])


@pytest.mark.parametrize("size", [20, 3 << 20])
def test_a_file_that_is_kept_again_while_it_is_collected_is_not_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    content = b"again" * (size // 5)
    kept = keep(store, content)
    again = Thread(target=keep, args=(store, content))
    remove = type(store._blobs).remove  # type: ignore[attr-defined]

    def removed_meanwhile(folder: BlobFolder, blob_id: str, before: int) -> bool:
        # Whoever keeps it either waits for the end of this, or is through before the removal.
        again.start()
        again.join(timeout=0.5)
        return bool(remove(folder, blob_id, before))

    monkeypatch.setattr(type(store._blobs), "remove", removed_meanwhile)  # type: ignore[attr-defined]
    store.collect_blobs(2**62)
    again.join()
    assert store.blob(kept.blob_id) == kept
    assert blob_content(store, kept) == content


@pytest.mark.parametrize("space", ["\r", "\n", "\x0b", "\x0c", "\u2028"])
def test_a_media_type_is_one_line_of_a_header(space: str) -> None:
    assert media_type_of({"mime_type": f"text/plain;{space}charset=utf-8"}) == OCTETS
    assert media_type_of({"mime_type": "text/plain;\t charset=utf-8"}) != OCTETS
