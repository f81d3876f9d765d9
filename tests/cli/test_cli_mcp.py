"""``pdpp mcp config`` names the server that a person most likely means."""

import shlex
import sys
from pathlib import Path

import pytest
from tests.cli.shell import pdpp_here

from pdpp.cli.mcp import configuration
from pdpp.credentials import Cache, Credential

FIRST, SECOND = "https://one.example", "https://two.example"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for credentials in which there is none."""
    monkeypatch.setenv("PDPP_CACHE_ROOT", str(tmp_path))
    monkeypatch.delenv("PDPP_PROVIDER_URL", raising=False)
    return tmp_path / "clients"


def connect(folder: Path, url: str) -> None:
    Cache(folder).store(Credential(url, "pdpp_client_x", "client"))


def test_it_is_the_only_one_connected(folder: Path) -> None:
    connect(folder, FIRST)
    assert f"{FIRST}/mcp" in pdpp_here("mcp", "config", "json").out


@pytest.mark.parametrize("connected", [(), (FIRST, SECOND)])
def test_it_is_the_usual_one_where_none_or_several_are(
    folder: Path, connected: tuple[str, ...]
) -> None:
    for url in connected:
        connect(folder, url)
    assert "http://127.0.0.1:7377/mcp" in pdpp_here("mcp", "config", "json").out


def test_it_is_the_one_that_was_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(folder, FIRST)
    monkeypatch.setenv("PDPP_PROVIDER_URL", SECOND)
    assert f"{SECOND}/mcp" in pdpp_here("mcp", "config", "json").out


@pytest.mark.skipif(sys.platform == "win32", reason="the line is for a POSIX shell")
def test_a_program_in_a_folder_with_spaces_can_be_started_by_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", "/my programs/python")
    line = configuration("claude-code", FIRST)[-1]
    assert shlex.split(line)[5:8] == ["/my programs/python", "-m", "pdpp"]
