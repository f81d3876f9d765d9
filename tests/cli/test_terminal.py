"""The screen: how wide it is."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS, command, environment

from pdpp.cli.terminal import columns


@pytest.mark.parametrize(("told", "wide"), [("33", 33), ("0", 80), ("", 80), ("many", 80)])
def test_it_is_as_wide_as_it_is_said_to_be_and_else_as_usual(
    told: str, wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", told)
    assert columns() == wide


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only there is every disk full")
def test_a_read_onto_a_full_disk_is_told_and_fails(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("read", "--help"),
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment(),
            timeout=DEADLINE_SECONDS,
            check=False,
        )
    assert done.returncode != 0
    assert os.strerror(28).encode() in done.stderr
    assert b"Traceback" not in done.stderr
