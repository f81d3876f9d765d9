"""Shell completion, in a real bash, and as the scripts of other shells ask for it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS, environment, pdpp, pdpp_here

from pdpp.cli.completion import SHELLS
from pdpp.cli.program import COMMANDS


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A search path on which the program is called pdpp."""
    launcher = tmp_path / "pdpp"
    launcher.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pdpp "$@"\n')
    launcher.chmod(0o755)
    return os.pathsep.join([str(tmp_path), os.environ["PATH"]])


def in_shell(shell: str, code: str, path: str) -> list[str]:
    """Return the lines that a shell says."""
    done = subprocess.run(
        [shell, "-c", code],
        capture_output=True,
        text=True,
        env=environment({"PATH": path}),
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


TYPED = {
    "pdpp gr": ["grant"],
    "pdpp conn": ["connection", "connect"],
    "pdpp grant ": ["confirm", "create", "list", "package", "show", "revoke"],
    "pdpp serve --work": ["--workers"],
    "pdpp mcp config claude-c": ["claude-code"],
    "pdpp completion f": ["fish"],
    "pdpp nothing-like-it": [],
}
"""What is typed before the key is pressed, and what is offered then."""


def test_bash_completes_commands_options_and_values(path: str) -> None:
    """One shell is asked for all of it, as a person asks theirs."""
    code = ['eval "$(pdpp completion bash)"', "complete -p pdpp > /dev/null"]
    for words in TYPED:
        count = len(shlex.split(words)) - (not words.endswith(" "))
        code += [f"COMPREPLY=(); COMP_WORDS=({words}); COMP_CWORD={count}", "_pdpp_completion pdpp"]
        code += ['printf "%s," "${COMPREPLY[@]}"', "echo"]
    answers = in_shell("bash", "set -e\n" + "\n".join(code), path)
    offered = [sorted(filter(None, answer.split(","))) for answer in answers]
    assert dict(zip(TYPED, offered, strict=True)) == {w: sorted(o) for w, o in TYPED.items()}


@pytest.mark.parametrize(
    ("shell", "place", "offered"),
    [("fish", "gr", "plain,grant"), ("zsh", "1", "plain grant Let a client read")],
)
def test_the_scripts_of_other_shells_are_answered_as_they_ask(
    shell: str, place: str, offered: str, path: str
) -> None:
    asked = {"_PDPP_COMPLETE": f"{shell}_complete", "COMP_WORDS": "pdpp gr", "COMP_CWORD": place}
    done = subprocess.run(
        [Path(path.split(os.pathsep)[0]) / "pdpp"],
        capture_output=True,
        text=True,
        env=environment({"PATH": path, **asked}),
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 0
    assert offered in " ".join(done.stdout.split())


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_calls_the_program_by_its_name(shell: str) -> None:
    ended = pdpp("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert f"_PDPP_COMPLETE={shell}_complete" in ended.out


def test_a_shell_that_is_not_known_is_wrong_usage() -> None:
    assert "'tcsh' is not one of" in pdpp_here("completion", "tcsh").failed(code=64)


def test_names_are_offered_without_importing_what_they_name() -> None:
    asked = {"_PDPP_COMPLETE": "bash_complete", "COMP_WORDS": "pdpp ", "COMP_CWORD": "1"}
    script = (
        "import sys\n"
        "from pdpp.cli.program import program\n"
        "try:\n    program.main([], prog_name='pdpp')\n"
        "except SystemExit:\n    pass\n"
        "print('imported', sorted({'apsw', 'starlette', 'uvicorn', 'rich'} & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment(asked),
        check=True,
    )
    *offered, imported = done.stdout.splitlines()
    assert offered == [f"plain,{name}" for name in COMMANDS]
    assert imported == "imported []"
