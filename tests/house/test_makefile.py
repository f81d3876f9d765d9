"""The commands a newcomer types first."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ["sh", "make", "test", "echo", "cat", "chmod", "mkdir", "rm", "touch", "expr", "getconf"]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return a checkout without a venv, beside a ``bin`` that holds no Python and no uv."""
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    for name in ["Makefile", "pyproject.toml"]:
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    return tmp_path


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "bin" / "make", "--no-print-directory", *arguments],
        cwd=checkout,
        env={"PATH": str(checkout / "bin")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def install_fake(checkout: Path, name: str, script: str) -> None:
    program = checkout / "bin" / name
    program.write_text(f"#!{shutil.which('sh')}\n{script}\n")
    program.chmod(0o755)


@pytest.mark.parametrize("target", ["run", "test", "install"])
def test_without_python_one_line_says_what_is_needed(bare: Path, target: str) -> None:
    outcome = make(bare, target)
    assert outcome.returncode != 0
    assert outcome.stderr.startswith("Python 3.11 or newer is needed: install it, or name it")
    assert not (bare / ".venv").exists()


def test_an_old_python_is_not_taken(bare: Path) -> None:
    install_fake(bare, "python3", "exit 1")
    assert "Python 3.11 or newer is needed" in make(bare, "run").stderr
    assert "Python 3.11 or newer is needed" in make(bare, "run", "PYTHON=python3").stderr


def test_the_first_recent_python_is_taken(bare: Path) -> None:
    install_fake(bare, "python3", "exit 1")
    install_fake(bare, "python3.12", 'test "$1" = -c || { echo "made by 3.12 $*"; exit 9; }')
    assert "made by 3.12 -m venv --clear .venv" in make(bare, "run").stdout


def test_uv_is_used_where_there_is_one(bare: Path) -> None:
    install_fake(bare, "python3", "exit 0")
    install_fake(bare, "uv", 'echo "made by uv $*"; exit 9')
    assert "made by uv venv --quiet --clear" in make(bare, "run").stdout


def test_the_program_that_is_installed_runs_nothing_of_the_folder_it_is_started_in(
    bare: Path,
) -> None:
    """An agent starts it in a checkout, and a person among downloads."""
    (bare / ".venv" / "bin").mkdir(parents=True)
    installs = 'case "$*" in *pip*|*compileall*|-c*) exit 0;; esac'
    install_fake(bare, "../.venv/bin/python", f'{installs}\nexec "{sys.executable}" "$@"')
    (bare / ".venv" / "pyvenv.cfg").touch()
    made = make(bare, "install")
    assert made.returncode == 0, made.stderr
    downloads = bare / "downloads"
    downloads.mkdir()
    for name in ("pdpp", "json", "click"):
        (downloads / f"{name}.py").write_text("raise SystemExit('was run')")
    shown = subprocess.run(
        [bare / ".venv" / "bin" / "pdpp", "--version"],
        cwd=downloads,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("pdpp ")


@pytest.mark.parametrize(
    ("failing", "code"), [("nothing", 0), ("mypy", 2), ("pytest", 2), ("ruff", 2)]
)
def test_wrong_types_fail_the_tests_that_they_are_checked_beside(
    bare: Path, failing: str, code: int
) -> None:
    (bare / ".venv" / "bin").mkdir(parents=True)
    install_fake(bare, "../.venv/bin/python", f'test "$2" != {failing} || {{ echo bad; exit 1; }}')
    for stamp in ("pyvenv.cfg", "run.stamp", "dev.stamp"):
        (bare / ".venv" / stamp).touch()
    ended = make(bare, "test-fast")
    assert ended.returncode == code, ended.stderr
    assert ("bad" in ended.stdout) == bool(code)


@pytest.mark.parametrize(
    ("failing", "code"), [("nothing", 0), ("postgres", 2), ("embedded", 2), ("mypy", 2)]
)
def test_a_failure_on_either_engine_fails_the_tests(bare: Path, failing: str, code: int) -> None:
    (bare / ".venv" / "bin").mkdir(parents=True)
    told = 'test "$2" = pytest && part=${ENGINE:-embedded} || part=$2'
    install_fake(
        bare, "../.venv/bin/python", f'{told}; test "$part" != {failing} || {{ echo bad; exit 1; }}'
    )
    for stamp in ("pyvenv.cfg", "run.stamp", "dev.stamp"):
        (bare / ".venv" / stamp).touch()
    ended = make(bare, "test", "JUDGES=")
    assert ended.returncode == code, ended.stderr
    assert ("bad" in ended.stdout) == bool(code)


def test_locking_without_uv_says_so(bare: Path) -> None:
    outcome = make(bare, "lock")
    assert outcome.returncode != 0
    assert outcome.stderr.startswith("make lock needs uv on the PATH.")


def test_the_help_names_every_target(bare: Path) -> None:
    shown = {line.split()[1] for line in make(bare).stdout.splitlines()}
    phony = next(
        line for line in (bare / "Makefile").read_text().splitlines() if line.startswith(".PHONY:")
    )
    assert shown == set(phony.split()[1:]) - {"help", "judges"}
