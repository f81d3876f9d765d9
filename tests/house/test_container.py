"""The container: built and run where a builder and the base image are, and read line by line.

A builder whose daemon does not run, or that would have to fetch the base image, builds nothing: no
test needs the internet.
"""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
BASE = "docker.io/library/python:3.13-slim"
DEADLINE_SECONDS = 60


def can_build(name: str) -> bool:
    """Tell whether a program is here that can build on the base image at once."""
    asked = [name, "image", "inspect", BASE]
    return bool(shutil.which(name)) and not subprocess.run(asked, capture_output=True).returncode


BUILDER = next(filter(can_build, ("podman", "docker")), None)


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Containerfile, continued lines made one."""
    text = (ROOT / "Containerfile").read_text()
    joined = re.sub(r"\\\n\s*", "", "\n".join(x for x in text.split("\n") if x[:1] != "#"))
    return [
        (name, rest) for name, _, rest in (x.partition(" ") for x in joined.split("\n")) if name
    ]


def last_stage() -> dict[str, list[str]]:
    stage: dict[str, list[str]] = {}
    for name, rest in instructions():
        if name == "FROM":
            stage = {}
        stage.setdefault(name, []).append(rest)
    return stage


def test_the_image_runs_as_a_user_without_rights_and_keeps_its_data_in_one_volume() -> None:
    stage = last_stage()
    assert stage["USER"] == ["10001"]
    assert stage["VOLUME"] == ["/data"]
    assert stage["EXPOSE"] == ["7377"]
    assert "--mode 0700 /data" in stage["RUN"][0]
    assert "PDPP_DATA=/data" in stage["ENV"][0]
    assert json.loads(stage["ENTRYPOINT"][0]) == ["pdpp"]
    assert json.loads(stage["CMD"][0])[0] == "serve"
    assert "/healthz" in stage["HEALTHCHECK"][0]


def test_the_base_image_is_the_one_that_is_looked_for() -> None:
    assert {rest.split()[0] for name, rest in instructions() if name == "FROM"} == {BASE}


def test_everything_that_is_installed_is_pinned_or_ours() -> None:
    installs = [rest for name, rest in instructions() if name == "RUN" and "install" in rest]
    assert any("--require-hashes" in rest and "requirements/run.txt" in rest for rest in installs)
    assert not any("apt-get" in rest or "curl" in rest for rest in installs)
    steps = [step for rest in installs for step in rest.split("&&") if "pip install" in step]
    assert len(steps) == 4
    unpinned = [step for step in steps if "--require-hashes" not in step]
    assert [step.split()[-1] for step in unpinned] == ["/wheels/*.whl"], "only what was built here"


def test_every_file_that_is_copied_is_there_and_let_in() -> None:
    allowed = [
        line[1:] for line in (ROOT / ".containerignore").read_text().split() if line[0] == "!"
    ]
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert source in allowed, source


def test_what_is_copied_is_enough_to_build_the_program(tmp_path: Path) -> None:
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                target = tmp_path / source
                target.parent.mkdir(parents=True, exist_ok=True)
                copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
                copy(ROOT / source, target)
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert list((tmp_path / "dist").glob("*.whl"))


def test_the_image_is_built_with_the_tools_that_are_tried_here() -> None:
    pinned = (ROOT / "requirements" / "build.txt").read_text()
    in_development = (ROOT / "requirements" / "dev.txt").read_text()
    names = re.findall(r"^([a-z-]+)==([\d.]+)", pinned, re.MULTILINE)
    assert all(f"{name}=={release}" in in_development for name, release in names)
    needed = {"hatchling"} | {
        re.split(r"[^a-z-]", line, maxsplit=1)[0]
        for line in metadata.requires("hatchling") or []
        if "python_version" not in line
    }
    assert {name for name, _ in names} == needed


def test_the_image_has_the_driver_of_postgresql_and_the_client_of_object_stores() -> None:
    pinned = (ROOT / "requirements" / "postgres.txt").read_text()
    in_development = (ROOT / "requirements" / "dev.txt").read_text()
    names = re.findall(r"^([a-z-]+==[\d.]+)", pinned, re.MULTILINE)
    assert {name.partition("==")[0] for name in names} == {"obstore", "psycopg", "psycopg-binary"}
    assert all(name in in_development for name in names), "tested with another version"
    installs = [rest for name, rest in instructions() if name == "RUN"]
    assert any("--no-deps -r requirements/postgres.txt" in rest for rest in installs)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if BUILDER is None:
        pytest.fail("asked for a container without a builder", pytrace=False)
    run = [BUILDER, "run", "--rm", "--detach", "--publish", "127.0.0.1::7377"]
    subprocess.run(
        [BUILDER, "build", "-f", "Containerfile", "-t", "pdpp-test", "."], cwd=ROOT, check=True
    )
    id = subprocess.run(
        [*run, "pdpp-test"], capture_output=True, text=True, check=True
    ).stdout.strip()
    port = subprocess.run([BUILDER, "port", id, "7377"], capture_output=True, text=True, check=True)
    yield f"http://{port.stdout.split()[-1]}"
    subprocess.run([BUILDER, "stop", id], check=True)


if BUILDER is not None:

    def test_the_image_is_built_and_answers(address: str) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            try:
                assert httpx.get(f"{address}/healthz").json() == {"status": "ok"}
                return
            except httpx.HTTPError:
                assert time.monotonic() < deadline
                time.sleep(0.2)
