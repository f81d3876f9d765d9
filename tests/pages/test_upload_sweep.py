"""Uploads go when they were imported, or never will be, though nobody opens a page."""

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine import open_store
from tests.serving import SetClock

from pdpp.encryption.data_key import DataKey
from pdpp.encryption.files import PlainFiles
from pdpp.jobs.kind import JobKind
from pdpp.model.errors import NotFound
from pdpp.model.instant import DAY, SECOND
from pdpp.pages.imports.upload import Upload, UploadedFile, UploadFolder
from pdpp.pages.imports.upload_sweep import uploads_kind
from pdpp.store.jobs import JobOrder
from pdpp.store.port import Store


@pytest.fixture(params=["plain", "encrypted"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    key = DataKey(secrets.token_bytes(32)) if request.param == "encrypted" else None
    opened = open_store(tmp_path / "data", key=key)
    yield opened
    opened.close()


@pytest.fixture
def clock() -> SetClock:
    return SetClock("2026-09-01T12:00:00Z")


@pytest.fixture
def kind(store: Store, tmp_path: Path, clock: SetClock) -> JobKind:
    return uploads_kind(store, tmp_path / "data", clock)


def dropped(tmp_path: Path, now: int, *jobs: str) -> tuple[UploadFolder, Upload]:
    folder = UploadFolder(tmp_path / "data")
    upload = folder.begin([UploadedFile("export.zip", 4)], now)
    folder.write(upload, 0, 0, b"mail")
    folder.note_jobs(upload, jobs)
    return folder, upload


def swept(kind: JobKind, folder: UploadFolder) -> bool:
    """Do what there is to do; tell whether the upload is gone from the disk."""
    context: Any = None
    if kind.wanted is not None and kind.wanted():
        kind.run(context)
    left = list(folder.uploads())
    return not left


def test_what_was_imported_goes_with_its_bytes(
    kind: JobKind, store: Store, tmp_path: Path, clock: SetClock
) -> None:
    folder, upload = dropped(tmp_path, clock(), "job_that_ended_long_ago")
    path = folder.place(upload, 0)
    assert path.read_bytes() == b"mail"
    assert swept(kind, folder)
    assert not path.exists()


def test_what_is_being_imported_stays(
    kind: JobKind, store: Store, tmp_path: Path, clock: SetClock
) -> None:
    folder, upload = dropped(tmp_path, clock(), store.jobs.add(JobOrder("import")).id)
    clock.now += 30 * DAY
    assert not swept(kind, folder)
    folder.begin([UploadedFile("another.zip", 4)], clock())
    assert folder.place(upload, 0).read_bytes() == b"mail"


def test_bytes_that_come_after_a_removal_are_not_kept(tmp_path: Path, clock: SetClock) -> None:
    folder, upload = dropped(tmp_path, clock())
    folder.remove(upload)
    with pytest.raises(NotFound):
        folder.write(upload, 0, 0, b"mail")
    with pytest.raises(NotFound):
        folder.append(upload, "export.zip", 0, b"mail")
    assert list((tmp_path / "data" / "uploads").iterdir()) == []


def test_a_removal_that_is_killed_leaves_what_says_that_it_is_to_go(
    tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, upload = dropped(tmp_path, clock(), "job_that_ended_long_ago")
    removed: list[Path] = []
    monkeypatch.setattr(shutil, "rmtree", lambda folder, **_: removed.append(folder))
    folder.remove(upload)
    assert removed[0] == folder.root(upload)


def test_what_nothing_describes_goes_when_it_has_settled(
    kind: JobKind, tmp_path: Path, clock: SetClock
) -> None:
    folder, upload = dropped(tmp_path, clock())
    left = folder.root(upload).parent
    (left / "manifest.json").unlink()
    (left.parent / "of somebody else").write_text("")
    at = clock() // SECOND
    os.utime(left, (at, at))
    swept(kind, folder)
    assert left.exists()
    clock.advance(7_200)
    swept(kind, folder)
    assert not left.exists()
    assert kind.wanted is not None
    assert not kind.wanted()


def test_what_is_never_imported_goes_sooner_from_an_encrypted_store(
    kind: JobKind, store: Store, tmp_path: Path, clock: SetClock
) -> None:
    folder, _ = dropped(tmp_path, clock())
    assert not swept(kind, folder)
    clock.now += 2 * DAY
    assert swept(kind, folder) is not isinstance(store.files, PlainFiles)
    clock.now += 6 * DAY
    assert swept(kind, folder)


def test_a_description_is_unfolded_once_for_all_files(tmp_path: Path, clock: SetClock) -> None:
    folder, upload = dropped(tmp_path, clock())
    known = folder.get(upload.id)
    assert folder.get(upload.id) is known
    folder.note_jobs(known, ["job_1"])
    assert folder.get(upload.id).jobs == ("job_1",)
