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

import httpx
import pytest

ROOT = Path(__file__).parents[2]
WHEELS = Path(sys.prefix) / "wheels"
DEADLINE_SECONDS = 60


def clean_environment() -> dict[str, str]:
    foreign = ("PIP_", "PYTHON", "COV", "PDPP_", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}


def run(*command: str | Path) -> str:
    done = subprocess.run(
        command,
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
    home = tmp_path_factory.mktemp("empty") / "venv"
    python = home / "bin" / "python"
    offline = ["--isolated", "--quiet", "--no-index", "--find-links", str(WHEELS)]
    run(sys.executable, "-m", "venv", "--without-pip", home)
    run(sys.executable, "-m", "pip", "--python", python, "install", *offline, wheel)
    return home / "bin" / "pdpp"


@pytest.fixture
def server(program: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    places = ["--data", str(tmp_path / "data"), "--ready-file", str(tmp_path / "ready")]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "serve", "--demo", "--port", "0", *places],
            cwd=tmp_path,
            env=clean_environment(),
            stdout=log,
            stderr=log,
        )
    yield process
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
