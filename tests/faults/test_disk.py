"""A disk that is full or cannot be written to is told, loses nothing, and is recovered from."""

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.shell import DECLARATION, pdpp
from tests.engine import database_of, open_store
from tests.faults.callers import wait_until
from tests.faults.disk import SmallDisk, make_read_only, mounted
from tests.faults.soundness import check_sound
from tests.serving import World, all_rows, living, planted_store, refused

from pdpp.jobs.kind import JobKind
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.store.jobs import JobOrder
from pdpp.store.sqlite.store import FILE_NAME

pytestmark = pytest.mark.embedded("about the disk that a file is on")

WHERE = {"connection_id": "cin_diary"}
DAYS = {"cin_diary": "My days"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of a few megabytes."""
    with mounted(tmp_path / "disk", 4) as made:
        yield made


def ingest(client: httpx.Client, number: int) -> httpx.Response:
    """Send one batch."""
    lines = [
        {"key": f"{number}-{n}", "data": {"id": f"{number}-{n}", "text": f"word{number} " * 300}}
        for n in range(10)
    ]
    content = "\n".join(map(json.dumps, lines))
    return client.post("/v1/ingest/entries", params=WHERE, content=content)


def ingest_until_refused(client: httpx.Client, first: int) -> tuple[set[str], httpx.Response]:
    """Send batches until one is refused; return the keys that were taken, and the refusal."""
    taken: set[str] = set()
    for number in range(first, first + 2_000):
        answer = ingest(client, number)
        if answer.status_code != 200:
            return taken, answer
        taken |= {f"{number}-{n}" for n in range(10)}
    raise AssertionError("never refused")


def held(client: httpx.Client) -> set[str]:
    return {row["id"] for row in all_rows(client, "/v1/streams/entries/records", limit=100)}


def check_refusal(answer: httpx.Response, caplog: pytest.LogCaptureFixture, path: Path) -> None:
    error = refused(answer, 503, "overloaded")
    assert "cannot write to its disk" in error["message"]
    assert str(path) not in error["message"]
    assert answer.headers["retry-after"] == "60"
    told = [record.getMessage() for record in caplog.records if record.name == "pdpp.store"]
    assert any(line.startswith(f"{path}: ") for line in told), told
    # Receipts are written in the background, and may meet the full disk too.
    assert all(line.startswith(f"{path.parent}/") for line in told), told
    assert "Traceback" not in caplog.text


def test_a_full_disk_refuses_writes_keeps_what_it_took_and_goes_on_once_there_is_room(
    disk: SmallDisk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    folder = disk.folder / "data"
    with living(planted_store(folder, DECLARATION, DAYS)) as world:
        client = world.owner()
        assert ingest(client, 0).status_code == 200
        before = held(client)
        disk.fill()
        taken, answer = ingest_until_refused(client, 1)
        check_refusal(answer, caplog, folder / FILE_NAME)
        assert "make room" in caplog.text
        assert held(client) == before | taken
        photo = client.post("/v1/blobs", content=bytes(1 << 20))
        check_refusal(photo, caplog, folder / FILE_NAME)
        disk.empty()
        assert ingest(client, 5_000).status_code == 200
        assert client.post("/v1/blobs", content=b"a photo").status_code == 201
        assert held(client) >= before | taken | {"5000-0"}
        assert world.server.client().get("/readyz").status_code == 200
    assert [path.name for path in folder.rglob(".new-*")] == []
    check_sound(folder)


def test_a_disk_on_which_a_new_store_has_no_room_keeps_no_part_of_one(disk: SmallDisk) -> None:
    """What a file is built from may have room on the disk, and the file beside it none."""
    folder = disk.folder / "data"
    for kilobytes in (600, 900, 1_100):
        disk.leave(kilobytes << 10)
        told = pdpp("owner", "token", data=folder).failed()
        assert told.startswith(f"cannot open the database {folder / FILE_NAME}: "), told
        assert "make room" in told
        assert [*folder.iterdir()] == []
        disk.empty()
    assert pdpp("owner", "token", data=folder).code == 0
    check_sound(folder)


def test_a_program_on_a_full_disk_ends_with_one_line_and_works_once_there_is_room(
    disk: SmallDisk, tmp_path: Path
) -> None:
    folder = disk.folder / "data"
    planted_store(folder, DECLARATION, DAYS).close()
    lines = tmp_path / "entries.ndjson"
    texts = ({"id": f"e{n}", "text": f"word{n} " * 400} for n in range(400))
    lines.write_text("\n".join(json.dumps({"key": text["id"], "data": text}) for text in texts))
    where = ("--connection", "cin_diary", "--stream", "entries")
    disk.fill()
    told = pdpp("ingest", lines, *where, data=folder).failed()
    assert str(folder) in told
    assert "see whether it is full" in told or "make room" in told
    assert "by itself" not in told  # As only a server does, which outlasts it.
    disk.empty()
    assert pdpp("ingest", lines, *where, data=folder).code == 0
    assert pdpp("check", data=folder).code == 0


def test_an_import_on_a_full_disk_says_what_is_kept_and_goes_on_once_there_is_room(
    disk: SmallDisk, tmp_path: Path
) -> None:
    folder, export = disk.folder / "data", tmp_path / "letters.mbox"
    planted_store(folder, DECLARATION, DAYS).close()
    letter = (
        "From a@example.org Mon Feb  2 10:00:00 2026\nMessage-ID: <{0}@a.b>\n"
        "Date: Mon, 2 Feb 2026 10:00:00 +0000\nTo: nora@example.org\nSubject: {0}\n\n{1}\n\n"
    ).format
    export.write_text("".join(letter(number, f"word{number} " * 30) for number in range(900)))
    disk.leave(500 << 10)
    stopped = pdpp("import", export, "--yes", data=folder)
    assert (stopped.code, stopped.out) == (1, "")
    *_, told = stopped.err.splitlines()
    file = folder / FILE_NAME
    assert told.startswith(f"error: the import stopped: {file}: there is no room on its disk"), told
    assert "make room; what came in before is kept" in told
    assert "by itself" not in stopped.err
    disk.empty()
    assert pdpp("import", export, "--yes", data=folder).code == 0
    counted = pdpp("read", "streams", "--json", data=folder).document["data"]
    assert 900 in [stream["record_count"] for stream in counted]
    check_sound(folder)


def test_a_store_that_nobody_can_write_to_is_refused_at_the_start_with_one_line(
    disk: SmallDisk,
) -> None:
    folder = disk.folder / "data"
    planted_store(folder, DECLARATION, DAYS).close()
    make_read_only(disk.folder)
    for command in (("serve", "--port", "0"), ("check",), ("owner", "token")):
        told = pdpp(*command, data=folder).failed()
        assert told.startswith(f"cannot open the database {folder / FILE_NAME}: "), told
        assert "make its disk writable" in told


# Without the rights to mount anything


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with living(planted_store(tmp_path / "data", DECLARATION, DAYS)) as made:
        yield made


def writer_of(world: World) -> Any:
    return database_of(world.store)._writer


def test_a_file_that_may_not_grow_is_told_like_a_full_disk(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = world.owner()
    writer = writer_of(world)
    writer.pragma("max_page_count", writer.pragma("page_count") + 40)
    taken, answer = ingest_until_refused(client, 0)
    check_refusal(answer, caplog, tmp_path / "data" / FILE_NAME)
    assert held(client) == taken
    writer.pragma("max_page_count", 1_000_000)
    assert ingest(client, 5_000).status_code == 200
    assert world.store.check() == []


def test_a_store_that_became_read_only_goes_on_reading_and_writes_again_later(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = world.owner()
    assert ingest(client, 0).status_code == 200
    before = held(client)
    writer_of(world).pragma("query_only", True)
    check_refusal(ingest(client, 1), caplog, tmp_path / "data" / FILE_NAME)
    assert "make its disk writable" in caplog.text
    assert held(client) == before
    form = {"client_name": "Test", "redirect_uris": ["https://client.example/callback"]}
    answer = world.server.client().post("/oauth/register", json=form)
    assert answer.status_code == 503
    assert answer.json()["error"] == "temporarily_unavailable"
    writer_of(world).pragma("query_only", False)
    assert ingest(client, 1).status_code == 200
    assert held(client) > before


def test_jobs_that_cannot_be_written_down_are_told_in_plain_lines_and_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[int] = []
    with closing(open_store(tmp_path)) as store, ExitStack() as stack:
        writer = database_of(store)._writer
        store.jobs.add(JobOrder("work"))
        kind = JobKind("work", lambda _: runs.append(1))
        runner = JobRunner(store, [kind], instant.now, look_seconds=0.01)
        writer.pragma("query_only", True)
        runner.start()
        stack.callback(runner.stop)
        wait_until(lambda: "make its disk writable" in caplog.text)
        writer.pragma("query_only", False)
        runner.wake()
        wait_until(lambda: bool(runs))
    assert "Traceback" not in caplog.text
