"""The how-to pages about caring for a server: their commands are typed as they stand."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS, DECLARATION, entry, environment, pdpp, serving
from tests.engine import program_environment
from tests.house.terminal import ROOT, blocks

from pdpp.configuration.effective import configure

PAGES = ROOT / "docs" / "how-to"
RUNS_ON = ("pdpp serve", "pdpp owner init", "pdpp doctor")
"""Commands that wait for somebody, or that need the internet."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the pages are for a POSIX shell")


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder with a store in ``my-data`` that a client may read."""

    folder: Path
    grant_id: str
    token: str

    @property
    def data(self) -> Path:
        return self.folder / "my-data"

    def type(self, block: str, warned: str = "") -> str:
        """Type the lines of a block into a shell, but for those that run on; return the output.

        ``warned`` is how what goes to stderr begins; without it nothing may go there.
        """
        lines = [line for line in block.splitlines() if not line.startswith(RUNS_ON)]
        done = subprocess.run(
            ["sh", "-e"],
            input="\n".join(lines).replace(" ID", f" {self.grant_id}"),
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=environment(
                {
                    "HOME": str(self.folder),
                    "PDPP_DATA": str(self.data),
                    "PATH": os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]]),
                    **program_environment(self.data),
                }
            ),
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        assert (done.returncode, done.stderr[: len(warned) or None]) == (0, warned), done
        return done.stdout

    def found(self, data: Path) -> list[str]:
        """Return what the client finds in a data folder."""
        with serving(data, self.folder / "notes") as served:
            hits = served.get("/v1/search?q=rain", self.token).json()["data"]
        return [hit["id"] for hit in hits]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    program = tmp_path / "bin" / "pdpp"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pdpp "$@"\n')
    program.chmod(0o755)
    data = tmp_path / "my-data"
    pdpp("source", "add", "-", data=data, stdin=json.dumps(DECLARATION).encode())
    pdpp("connection", "add", "diary", "--name", "My days", "--id", "cin_diary", data=data)
    where = ("--connection", "cin_diary", "--stream", "entries")
    pdpp("ingest", "-", *where, data=data, stdin=entry("e1", text="It began to rain."))
    ask = ("grant", "create", "--client", "my-agent", "--purpose", "b", "--everything", "--json")
    made = pdpp(*ask, data=data).document
    return Home(tmp_path, made["grant_id"], made["client_token"])


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_is_sound_and_takes_the_place_of_a_broken_folder(home: Home) -> None:
    back_up, restore = blocks(PAGES / "back-up.md")
    assert "All is well in" in home.type(back_up)
    (home.data / "pdpp.sqlite3").write_bytes(b"broken")
    assert "All is well in" in home.type(restore)
    assert home.found(home.data) == ["cin_diary/entries:e1"]


def test_a_revoked_grant_is_refused_and_its_reads_are_told(home: Home) -> None:
    assert home.found(home.data) == ["cin_diary/entries:e1"]
    revoke, receipts = blocks(PAGES / "revoke.md")
    told = home.type(revoke)
    assert "my-agent may read" in told
    assert told.endswith(f"Revoked: {home.grant_id}\n")
    assert "1 record" in home.type(receipts)
    with serving(home.data, home.folder / "notes") as served:
        assert served.get("/v1/streams", home.token).status_code == 403


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_store_that_moved_to_another_machine_serves_the_same_client(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave, arrive = blocks(PAGES / "move.md")
    home.type(leave)
    home.data.rename(home.folder / "old-machine")
    (home.folder / "moving").rename(home.data)
    monkeypatch.setenv("XDG_STATE_HOME", str(home.folder / "state of the new machine"))
    told = home.type(arrive, "this store was restored here and ")
    assert "All is well in" in told
    assert re.search(rf"^{home.grant_id} .* waits$", told, re.MULTILINE)
    assert home.found(home.data) == ["cin_diary/entries:e1"]


def test_the_settings_for_a_proxy_are_settings(home: Home) -> None:
    [text] = blocks(PAGES / "remote-access.md", "toml")
    (home.data / "pdpp.toml").write_text(text)
    settings = configure({}, {}, home.data).settings("http://127.0.0.1:7377")
    assert (settings.origin, settings.public) == ("https://data.example.org", True)
    assert settings.trusted_proxies == ("127.0.0.1/32", "::1/128")
    told = "".join(map(home.type, blocks(PAGES / "remote-access.md")))
    assert re.search(r"^public_url +https://data\.example\.org +", told, re.MULTILINE)


def test_behind_a_proxy_the_server_names_its_public_address(home: Home) -> None:
    [text] = blocks(PAGES / "remote-access.md", "toml")
    (home.data / "pdpp.toml").write_text(text)
    with serving(home.data, home.folder / "notes") as served:
        metadata = served.get("/.well-known/oauth-protected-resource/mcp", "none").json()
    assert metadata["resource"] == "https://data.example.org/mcp"


@pytest.mark.parametrize("way", ["Caddy", "Tailscale Serve", "a Cloudflare Tunnel"])
def test_each_way_from_elsewhere_says_whether_it_was_tried(way: str) -> None:
    page = (PAGES / "remote-access.md").read_text("utf-8")
    section = page.split(f"## With {way}\n")[1].split("\n## ")[0]
    assert re.search(r"\b[Nn]ot tried\b|\b[Tt]ried (?:here|with|on)\b", " ".join(section.split()))
