"""The doctor as a person runs it: against a real server, in words and in JSON."""

import json
import os
import pty
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import Served, command, entry, environment, pdpp, pdpp_here, serving, wait_for
from tests.engine import copy_store
from tests.launching.process import Program

PASSPHRASE = "correct horse battery staple"


@pytest.fixture(scope="module")
def served(fresh_diary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A diary whose owner has a passphrase, on the air."""
    folder = tmp_path_factory.mktemp("doctor")
    data = copy_store(fresh_diary, folder / "data")
    where = ("--connection", "cin_diary", "--stream", "entries")
    assert pdpp("ingest", "-", *where, data=data, stdin=entry("e1")).code == 0
    secret = PASSPHRASE.encode() + b"\n"
    assert pdpp("owner", "init", "--passphrase-file", "-", data=data, stdin=secret).code == 0
    with serving(data, folder / "notes") as running:
        yield running


def test_a_healthy_server_is_told_to_be_well(served: Served) -> None:
    ended = pdpp("doctor", served.url, data=served.data)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("✓ reach      The address takes connections: ")
    assert [line[0] for line in lines if line and line[0] in "✗–"] == ["–"]
    assert lines[-2:] == [
        f"All is well: agents can connect to {served.url}/mcp.",
        "Not tried: document.",
    ]
    listed = pdpp_here("grant", "list", "--json", data=served.data).document["grants"]
    assert listed == []


def test_the_passphrase_comes_from_the_input_and_is_not_told(served: Served) -> None:
    arguments = ("doctor", f"{served.url}/mcp", "--passphrase-file", "-", "--json")
    ended = pdpp(*arguments, stdin=PASSPHRASE.encode() + b"\n")
    document = ended.document
    assert (ended.code, document["ok"], document["first_broken"]) == (0, True, None)
    outcomes = {step["step"]: step["outcome"] for step in document["steps"]}
    assert outcomes["refresh"] == outcomes["cleanup"] == "ok"
    assert outcomes["owner"] == "untried"
    assert PASSPHRASE not in ended.out


def test_without_the_owner_it_stops_where_the_owner_is_asked(served: Served) -> None:
    ended = pdpp("doctor", served.url)
    assert ended.code == 0
    assert ended.out.splitlines()[-2] == "Nothing is broken."


def test_the_first_broken_step_is_named_with_its_fix(served: Served) -> None:
    ended = pdpp("doctor", served.url, "--passphrase-file", "-", stdin=b"a wrong passphrase\n")
    assert ended.code == 1
    assert ended.out.splitlines()[-2:] == [
        "Broken first: approve (The owner's yes comes back): that is not the owner's passphrase.",
        "To mend it: Give the one of this server.",
    ]


def test_a_server_that_is_not_there_is_told_in_json() -> None:
    ended = pdpp("doctor", "http://127.0.0.1:1", "--json")
    document = json.loads(ended.out)
    assert (ended.code, document["first_broken"]) == (1, "reach")
    assert document["steps"][0]["fix"]


@pytest.mark.parametrize(
    ("typed", "told"), [(PASSPHRASE, "Not tried: document, owner."), ("", "Nothing is broken.")]
)
def test_a_person_is_asked_for_the_passphrase_and_may_leave_it_out(
    served: Served, typed: str, told: str
) -> None:
    keyboard, terminal = pty.openpty()
    with Program(
        command("doctor", served.url),
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    ) as process:
        try:
            wait_for(lambda: not termios.tcgetattr(terminal)[3] & termios.ECHO, process)
            os.write(keyboard, f"{typed}\n".encode())
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    os.close(terminal)
    os.close(keyboard)
    assert process.returncode == 0, err
    assert told in out.decode()
    assert b"Owner's passphrase" in err
    assert PASSPHRASE.encode() not in out + err


@pytest.mark.parametrize(
    "arguments",
    [
        ("data.example.org",),
        ("http://127.0.0.1:99999",),
        ("--data", "/nowhere/at/all"),
        ("--ca", "/nowhere/at/all"),
        ("--data", ".", "--passphrase-file", "-"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...]) -> None:
    pdpp_here("doctor", *arguments).failed(code=64)
