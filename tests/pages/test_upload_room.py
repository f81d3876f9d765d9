"""Uploads on a disk without room, and when the server starts again on the way."""

import logging
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.engine import open_store
from tests.pages.house import housed
from tests.pages.test_import import Uploader, vault

from pdpp.pages.imports.upload import UploadFolder

MEGABYTE = 1 << 20


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_file_for_which_there_is_no_room_is_refused_and_goes_on_when_there_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    content = b"x" * (66 * MEGABYTE)
    with housed(folder, store=open_store(folder)) as house:
        sender = Uploader(house.owner())
        begun = sender.begin({"secret name.bin": len(content)}).json()
        piece, at = begun["chunk"], 0
        with largest_file(65 * MEGABYTE), caplog.at_level(logging.DEBUG, "pdpp"):
            while (sent := sender.put(begun["id"], 0, at, content[at : at + piece])).is_success:
                at = sent.json()["offset"]
        assert sent.status_code == 413
        assert "no room" in sent.json()["error"]
        assert not [line for line in caplog.messages if "secret name" in line]
        again = sender.begin({"secret name.bin": len(content)}).json()
        assert again["id"] == begun["id"]
        (at,) = again["offsets"]
        assert at >= 64 * MEGABYTE
        while at < len(content):
            at = sender.put(begun["id"], 0, at, content[at : at + piece]).json()["offset"]
        uploads = UploadFolder(folder)
        assert uploads.place(uploads.get(begun["id"]), 0).read_bytes() == content


def test_a_server_that_starts_again_goes_on_with_an_upload(tmp_path: Path) -> None:
    folder, content = tmp_path / "store", vault()
    folder.mkdir(mode=0o700)
    half = len(content) // 2
    with housed(folder, store=open_store(folder)) as house:
        sender = Uploader(house.owner())
        begun = sender.begin({"later.zip": len(content)}).json()
        assert sender.put(begun["id"], 0, 0, content[:half]).is_success
    with housed(folder, store=open_store(folder), settled=False) as house:
        page = house.owner().get(begun["page"])
        assert "The upload is not complete" in page.text
        sender = Uploader(house.owner())
        again = sender.begin({"later.zip": len(content)}).json()
        assert (again["id"], again["offsets"]) == (begun["id"], [half])
        assert again["key"] == begun["key"], "a tab that was open goes on by itself"
        assert sender.put(begun["id"], 0, half, content[half:]).is_success
        plan = sender.reader.get(begun["page"])
        assert "Markdown notes" in plan.text
