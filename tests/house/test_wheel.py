"""The built wheel, installed with its requirements alone into an empty environment."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx
import pytest
from tests.house.interpreters import ROOT, WHEELS, other_interpreters, wheels_for
from tests.pages.chromium import browsing
from tests.pages.house import PASSPHRASE, House, waiting_client
from tests.pages.journey import heading, import_to_removal, write_export
from tests.pages.window import window
from tests.serving import Running, World

from pdpp.store.port import Store

DEADLINE_SECONDS = 60


def clean_environment() -> dict[str, str]:
    foreign = ("PIP_", "PYTHON", "COV", "PDPP_", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}


def run(*command: str | Path, typed: str | None = None) -> str:
    done = subprocess.run(
        command,
        input=typed,
        cwd=ROOT,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not WHEELS.is_dir():
        pytest.fail("run make install", pytrace=False)
    return installed(wheel, Path(sys.executable), WHEELS, tmp_path_factory.mktemp("empty"))


def installed(wheel: Path, python: Path, wheels: Path, folder: Path) -> Path:
    """Install a wheel into an empty environment of some Python; return the program."""
    home = folder / "venv"
    # What is installed is compiled when it is imported; all of it would take ten seconds.
    offline = ["--isolated", "--quiet", "--no-compile", "--no-index", "--find-links", str(wheels)]
    run(python, "-m", "venv", "--without-pip", home)
    run(
        sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", *offline, wheel
    )
    return home / "bin" / "pdpp"


@pytest.fixture
def server(program: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with serving(program, tmp_path, "--demo") as process:
        yield process


@contextlib.contextmanager
def serving(program: Path, folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start the installed program in a folder; what it says goes to its log there."""
    places = ["--data", str(folder / "data"), "--ready-file", str(folder / "ready")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "serve", "--port", "0", *options, *places],
            cwd=folder,
            env=clean_environment(),
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_ready(process: subprocess.Popen[bytes], folder: Path) -> dict[str, str]:
    """Return what the ready file says, as soon as there is one."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (folder / "ready").exists():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
            pytest.fail(f"the server ended early: {(folder / 'log').read_text()}")
        assert time.monotonic() < deadline, (folder / "log").read_text()
    ready: dict[str, str] = json.loads((folder / "ready").read_bytes())
    return ready


def test_the_wheel_carries_the_package_its_types_and_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert "pdpp/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"pdpp", "pdpp_server"}


def test_the_installed_program_explains_itself(program: Path) -> None:
    assert "Usage: pdpp" in run(program, "--help")


def test_the_installed_server_serves_the_demo_and_stops_cleanly(
    server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    ready = wait_ready(server, tmp_path)
    answer = httpx.get(
        f"{ready['url']}/v1/streams",
        headers={"Authorization": f"Bearer {ready['client_token']}"},
        timeout=DEADLINE_SECONDS,
        trust_env=False,
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]
    page = httpx.get(f"{ready['url']}/login", timeout=DEADLINE_SECONDS, trust_env=False)
    assert "Set-up code" in page.text
    style = page.text.split('rel="stylesheet" href="')[1].split('"')[0]
    assert httpx.get(ready["url"] + style, trust_env=False).status_code == 200
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=DEADLINE_SECONDS) == 0, (tmp_path / "log").read_text()


@pytest.mark.parametrize(("version", "python"), other_interpreters().items())
def test_the_wheel_serves_on_every_python_of_this_machine(
    version: str, python: Path, wheel: Path, tmp_path: Path
) -> None:
    if not wheels_for(version).is_dir():
        pytest.fail("run make interpreters", pytrace=False)
    program = installed(wheel, python, wheels_for(version), tmp_path)
    with serving(program, tmp_path, "--demo") as process:
        ready = wait_ready(process, tmp_path)
        answer = httpx.get(
            f"{ready['url']}/v1/search?q=invoice",
            headers={"Authorization": f"Bearer {ready['client_token']}"},
            timeout=DEADLINE_SECONDS,
            trust_env=False,
        )
        assert answer.json()["data"], answer.text
        page = httpx.get(f"{ready['url']}/login", timeout=DEADLINE_SECONDS, trust_env=False)
        assert "Set-up code" in page.text


def test_a_person_sets_the_installed_program_up_and_uses_it_to_the_end(
    program: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Setup, import, search, agent, activity, revocation and removal, all from the wheel."""
    data = str(tmp_path / "data")
    said = run(
        program,
        *("setup", "--data", data, "--no-service", "--no-open", "--passphrase-file", "-"),
        typed=f"{PASSPHRASE}\n",
    )
    assert f"pdpp serve --data {data}" in said
    with (
        serving(program, tmp_path) as process,
        browsing(tmp_path_factory.mktemp("browser-home")) as browser,
        waiting_client() as client,
    ):
        ready = wait_ready(process, tmp_path)
        server = Running(ready["url"])
        house = House(World(cast("Store", None), server), Path(data))
        with window(house, browser) as owner:
            owner.page.goto(f"{ready['owner_url']}/")
            owner.log_in()
            heading(owner.page, "Nothing here yet")
            import_to_removal(owner, ready["owner_url"], client, write_export(tmp_path))
        server.close()
