"""``pdpp service`` and ``pdpp setup``: the generated files, and what a script answers."""

import plistlib
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.cli.shell import pdpp_here

from pdpp.cli.service_files import launchd, service_file, systemd, windows_task

COMMAND = ["/opt/my programs/pdpp", "serve", "--data", '/home/nora/100% "mine" & $HOME']


def test_a_systemd_unit_starts_the_very_command(tmp_path: Path) -> None:
    made = systemd(COMMAND, tmp_path)
    assert made.path == tmp_path / ".config/systemd/user/pdpp.service"
    [line] = [line for line in made.content.splitlines() if line.startswith("ExecStart=")]
    told = line.removeprefix("ExecStart=").replace("%%", "%").replace("$$", "$")
    assert shlex.split(told) == COMMAND
    assert "Restart=on-failure" in made.content
    assert "WantedBy=default.target" in made.content
    assert made.start[-1] == ("systemctl", "--user", "enable", "--now", "pdpp.service")


def test_a_systemd_unit_is_one_that_systemd_accepts(tmp_path: Path) -> None:
    program = "/usr/bin/systemd-analyze"
    if not Path(program).exists():
        pytest.skip("systemd-analyze is not here")
    made = systemd(["/bin/true", "serve", "--data", "/home/nora/my data"], tmp_path)
    made.path.parent.mkdir(parents=True)
    made.path.write_text(made.content)
    done = subprocess.run(
        [program, "--user", "verify", str(made.path)], capture_output=True, text=True, check=False
    )
    assert "pdpp.service" not in done.stderr, done.stderr


def test_a_launchd_agent_starts_the_very_command(tmp_path: Path) -> None:
    made = launchd(COMMAND, tmp_path)
    told = plistlib.loads(made.content.encode())
    assert told["ProgramArguments"] == COMMAND
    assert (told["RunAtLoad"], told["Umask"]) == (True, 0o077)
    assert told["KeepAlive"] == {"SuccessfulExit": False}
    assert made.path.name == f"{told['Label']}.plist"


def test_a_windows_task_starts_the_very_command(tmp_path: Path) -> None:
    made = windows_task(COMMAND, tmp_path)
    told = ET.fromstring(made.content.encode("utf-16"))  # noqa: S314 - our own file
    space = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}
    assert told.findtext(".//t:Command", namespaces=space) == COMMAND[0]
    arguments = told.findtext(".//t:Arguments", namespaces=space)
    assert arguments == subprocess.list2cmdline(COMMAND[1:])
    assert told.find(".//t:LogonTrigger", space) is not None


def test_a_platform_without_services_is_told() -> None:
    with pytest.raises(ValueError, match="services are made on"):
        service_file(COMMAND, Path("/"), "plan9")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home on a Linux machine whose systemctl only notes what it was told."""
    programs = tmp_path / "bin"
    programs.mkdir()
    noted = tmp_path / "noted"
    script = programs / "systemctl"
    script.write_text(f'#!/bin/sh\necho "$@" >> "{noted}"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PDPP_DATA", raising=False)
    monkeypatch.setenv("PDPP_PORT", "1")  # where no server of this machine answers
    return noted


linux = pytest.mark.skipif(sys.platform != "linux", reason="systemd is on Linux")


@linux
def test_a_service_is_installed_and_removed(machine: Path, tmp_path: Path) -> None:
    plan = pdpp_here("service", "install", "--dry-run", "--json", data=tmp_path / "data").document
    unit = Path(plan["service"])
    assert not unit.exists()
    done = pdpp_here("service", "install", data=tmp_path / "data")
    assert done.code == 0, done.err
    assert unit.read_text() == plan["content"]
    assert f"--data {tmp_path / 'data'}" in plan["content"]
    told = machine.read_text().splitlines()
    assert told == ["--user daemon-reload", "--user enable --now pdpp.service"]
    assert pdpp_here("service", "status", data=tmp_path / "data").code == 1
    assert pdpp_here("service", "remove", data=tmp_path / "data").out.startswith("Removed")
    assert not unit.exists()
    assert machine.read_text().splitlines()[-1] == "--user disable --now pdpp.service"
    assert "no service" in pdpp_here("service", "remove", data=tmp_path / "data").out


@linux
def test_a_system_that_refuses_is_quoted(machine: Path, tmp_path: Path) -> None:
    script = tmp_path / "bin" / "systemctl"
    script.write_text('#!/bin/sh\necho "Failed to connect to bus" >&2\nexit 1\n')
    told = pdpp_here("service", "install", data=tmp_path / "data").failed()
    assert "exit code 1: Failed to connect to bus" in told


@linux
@pytest.mark.usefixtures("machine")
def test_a_service_that_cannot_be_started_leaves_what_there_was(tmp_path: Path) -> None:
    script = tmp_path / "bin" / "systemctl"
    works = script.read_text()
    fails = '#!/bin/sh\n[ "$2" = daemon-reload ]\n'
    script.write_text(fails)
    pdpp_here("service", "install", data=tmp_path / "data").failed()
    shown = pdpp_here("service", "status", data=tmp_path / "data")
    assert "The service is not installed." in shown.out
    script.write_text(works)
    assert pdpp_here("service", "install", data=tmp_path / "data").code == 0
    script.write_text(fails)
    pdpp_here("service", "install", data=tmp_path / "other").failed()
    [unit] = (tmp_path / ".config/systemd/user").iterdir()
    assert f"--data {tmp_path / 'data'}" in unit.read_text()


def test_setup_is_answered_by_a_script(machine: Path, tmp_path: Path) -> None:
    data, secret = tmp_path / "my data", tmp_path / "secret"
    secret.write_text("a long enough passphrase\n")
    arguments = ("setup", "--passphrase-file", str(secret), "--no-service")
    done = pdpp_here(*arguments, data=data)
    assert done.code == 0, done.err
    assert f"pdpp serve --data '{data}'" in done.out
    assert f"Next: pdpp import FILE --data '{data}', and pdpp mcp install CLIENT." in done.out
    assert f"set PDPP_DATA='{data}' in your shell's profile" in done.out
    assert "there is a passphrase already" in pdpp_here("owner", "init", data=data).failed()
    again = pdpp_here("setup", "--no-service", data=data)
    assert "There is a passphrase already" in again.err
    assert not machine.exists()


@linux
def test_setup_starts_the_service_where_it_is_wanted(machine: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a long enough passphrase\n")
    arguments = ("setup", "--passphrase-file", str(secret), "--service", "--no-open")
    done = pdpp_here(*arguments, data=tmp_path / "data")
    assert done.code == 0, done.err
    assert "enable --now pdpp.service" in machine.read_text()
    assert "Your page: http://127.0.0.1:1/agents" in done.out


def test_setup_without_a_passphrase_says_how_to_give_one(machine: Path, tmp_path: Path) -> None:
    told = pdpp_here("setup", "--no-service", data=tmp_path / "data").failed(code=64)
    assert "--passphrase-file" in told
