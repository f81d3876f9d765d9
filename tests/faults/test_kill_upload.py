"""An upload that is killed leaves nothing behind, or a file that is stored."""

import io
import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.engine import blob_content, open_store, program_environment
from tests.faults.killing import forking

from pdpp.store.tables import blob_table
from pdpp.store.tables.blob_folder import name_blobs

CONTENT = b"a large file " * 200_000
MOMENTS = ("received", "named", "stored")


def _die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Dying(closing[Any]):
    """Dies where something would be closed."""

    def __exit__(self, *_: object) -> None:
        _die()


def upload(folder: Path, moment: str) -> None:
    """Keep a file and die: before it gets its name, before the table has it, or right after."""

    def name_and_die(blobs: Any) -> None:
        name_blobs(blobs)
        _die()

    # The process ends with this: nothing has to be put back.
    if moment == "received":
        vars(blob_table)["name_blobs"] = _die
    elif moment == "named":
        vars(blob_table)["name_blobs"] = name_and_die
    else:
        vars(blob_table)["closing"] = _Dying
    open_store(folder).keep_blob(io.BytesIO(CONTENT), "text/plain", 1 << 24)


def files_of(folder: Path) -> list[Path]:
    return [path for path in (folder / "blobs").rglob("*") if path.is_file()]


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_a_killed_upload_left_goes_and_what_it_stored_stays(
    tmp_path: Path, moment: str
) -> None:
    program_environment(tmp_path)  # Starts the database of this process, which the other uses.
    with closing(open_store(tmp_path)) as store:
        store.secret()
    process = forking().Process(target=upload, args=(tmp_path, moment))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with closing(open_store(tmp_path)) as store:
        store.sweep_blobs(0)
        assert files_of(tmp_path), "a young upload may go on"
        store.sweep_blobs(2**62)
        blobs = list(store.blobs())
        assert [blob_content(store, blob) for blob in blobs] == [CONTENT] * (moment == "stored")
        assert len(files_of(tmp_path)) == len(blobs)
        assert store.check() == []
        again = store.keep_blob(io.BytesIO(CONTENT), "text/plain", 1 << 24)
        assert blob_content(store, again) == CONTENT
        assert len(files_of(tmp_path)) == 1
