import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli import shell
from tests.cli.shell import (
    DEADLINE_SECONDS,
    command,
    entry,
    environment,
    pdpp,
    pdpp_here,
    started,
    stored,
    wait_for,
)
from tests.engine import ENGINE

import pdpp as package
from pdpp.cli import main
from pdpp.cli.program import COMMANDS

LEAVES = [
    "serve",
    "source add",
    "source list",
    "connection add",
    "connection list",
    "import",
    "ingest",
    "blob add",
    "grant create",
    "grant list",
    "grant show",
    "grant revoke",
    "grant package create",
    "grant package list",
    "grant package show",
    "grant package revoke",
    "owner resource-server",
    "owner token",
    "owner tokens",
    "owner revoke",
    "check",
    "backup",
]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the program itself: a fork does not show how an interpreter begins."""
    monkeypatch.setattr(shell, "Program", subprocess.Popen)


begun_by_an_interpreter = pytest.mark.usefixtures("launched")


def test_help_lists_every_command_and_imports_none_of_them() -> None:
    script = (
        "import sys\n"
        "from pdpp.cli.program import run\n"
        "run(['--help'])\n"
        "heavy = {'apsw', 'orjson', 'starlette', 'uvicorn', 'asyncio', 'pdpp.store', 'pdpp.demo'}\n"
        "print('imported', sorted(heavy & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    assert "imported []" in done.stdout
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name} " in done.stdout
        assert summary in done.stdout


@begun_by_an_interpreter
def test_a_shell_can_complete_the_names_of_commands() -> None:
    asked = {"_PDPP_COMPLETE": "bash_complete", "COMP_WORDS": "pdpp gr", "COMP_CWORD": "1"}
    assert pdpp(env=asked).out == "plain,grant\n"


@begun_by_an_interpreter
def test_the_version_is_that_of_the_package() -> None:
    assert pdpp("--version").out == f"pdpp {package.__version__}\n"


@pytest.mark.parametrize("leaf", LEAVES)
def test_the_help_of_each_command_teaches_by_example(leaf: str) -> None:
    ended = pdpp_here(*leaf.split(), "--help")
    assert ended.code == 0
    assert f"Usage: pdpp {leaf}" in ended.out
    assert f"    pdpp {leaf}" in ended.out.partition("Examples:")[2]
    assert "--data" in ended.out
    assert "--json" in ended.out


def test_the_table_of_commands_says_what_each_says_of_itself() -> None:
    for name, (_, summary) in COMMANDS.items():
        if name in ("source", "connection", "grant", "owner", "blob", "serve"):
            assert summary in pdpp_here(name, "--help").out


@pytest.mark.parametrize("arguments", [(), ("grant",)])
def test_a_group_alone_shows_its_help_and_counts_as_wrong_usage(arguments: tuple[str, ...]) -> None:
    ended = pdpp(*arguments)
    assert ended.code == 64
    assert ended.out == ""
    assert ended.err.startswith("Usage: pdpp")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("grent",), "No such command 'grent'. Did you mean 'grant'? See pdpp --help."),
        (("check", "more"), "Got unexpected extra argument (more). See pdpp check --help."),
        (("grant", "list", "--nope"), "No such option"),
        (("grant", "show"), "Missing argument 'ID'. See pdpp grant show --help."),
        (("ingest", "/nowhere/x", "--connection", "c", "--stream", "s"), "No such file"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(arguments: tuple[str, ...], told: str) -> None:
    assert told in pdpp_here(*arguments).failed(code=64)


def test_wrong_usage_is_json_where_json_was_asked_for() -> None:
    ended = pdpp("check", "more", "--json")
    assert (ended.code, ended.out) == (64, "")
    assert json.loads(ended.err)["error"]["code"] == "usage"


def test_a_failure_is_json_where_json_was_asked_for(tmp_path: Path) -> None:
    ended = pdpp("check", "--json", data=tmp_path / "none")
    assert (ended.code, ended.out) == (1, "")
    error = json.loads(ended.err)["error"]
    assert error["code"] == "store_error"
    assert "there is no store" in error["message"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("source", "list"),
        ("connection", "list"),
        ("grant", "list"),
        ("grant", "show", "grt_1"),
        ("grant", "revoke", "grt_1"),
        ("grant", "create", "--client", "a", "--purpose", "b", "--everything"),
        ("grant", "package", "create", "--client", "a", "--purpose", "b", "--everything"),
        ("grant", "package", "list"),
        ("owner", "tokens"),
        ("owner", "revoke", "--all"),
        ("ingest", "-", "--connection", "c", "--stream", "s"),
        ("blob", "add", __file__),
        ("check",),
        pytest.param(
            ("backup", "elsewhere"),
            marks=pytest.mark.embedded("a PostgreSQL database is copied by its own tools"),
        ),
    ],
)
def test_a_missing_store_is_told_and_not_made(arguments: tuple[str, ...], tmp_path: Path) -> None:
    told = pdpp_here(*arguments, data=tmp_path / "none").failed()
    where = tmp_path / "none" if ENGINE == "sqlite" else "the database"
    assert told.startswith(f"there is no store in {where}")
    assert not (tmp_path / "none").exists()


def test_the_data_folder_can_come_from_the_environment(tmp_path: Path) -> None:
    assert pdpp("owner", "token", env={"PDPP_DATA": str(tmp_path / "here")}).code == 0
    assert (tmp_path / "here" / "pdpp.sqlite3").is_file()


@begun_by_an_interpreter
def test_without_a_choice_the_data_folder_is_the_users_own(tmp_path: Path) -> None:
    places = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")}
    assert pdpp("owner", "token", env=places).code == 0
    assert (tmp_path / "share" / "pdpp" / "pdpp.sqlite3").is_file()


@begun_by_an_interpreter
@pytest.mark.embedded("about the file of the embedded engine")
def test_a_folder_whose_name_is_not_text_is_told() -> None:
    told = pdpp("owner", "token", "--data", os.fsdecode(b"/tmp/\xff")).failed()
    assert "is not UTF-8" in told


def test_a_reader_that_goes_away_ends_the_program_quietly(diary: Path) -> None:
    source, sink = os.pipe()
    os.close(source)
    arguments = ("source", "list", "--data", diary)
    done = subprocess.run(
        command(*arguments),
        stdout=sink,
        stderr=subprocess.PIPE,
        env=environment(stored(arguments)),
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    os.close(sink)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_program_that_is_started_with_closed_streams_does_its_work(
    closed: str, diary: Path, tmp_path: Path
) -> None:
    """As a scheduler may start it."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "first.md").write_text("# The first\n\nA note.")
    arguments = ("import", notes, "--yes", "--data", diary)
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command(*arguments)],
        env=environment(stored(arguments)),
        capture_output=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    [held] = pdpp_here("import", "history", "--json", data=diary).document["imports"]
    assert held["status"] == "complete"


@begun_by_an_interpreter
def test_a_narrow_character_set_is_no_reason_to_fail(diary: Path) -> None:
    name = ("--name", "Days 🌞", "--id", "cin_diary")
    pdpp("connection", "add", "diary", *name, data=diary)
    narrow = {"PYTHONIOENCODING": "latin-1"}
    ended = pdpp("connection", "list", data=diary, env=narrow)
    assert ended.out.startswith("Days \\U0001f31e (cin_diary")
    listed = pdpp("connection", "list", "--json", data=diary, env=narrow).document
    assert listed["connections"][0]["display_name"] == "Days 🌞"


def test_programs_that_begin_one_store_at_the_same_time_all_succeed(tmp_path: Path) -> None:
    runs = [
        subprocess.Popen(
            command("owner", "token", "--data", tmp_path / "data"),
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    ended = [(process.communicate()[1], process.returncode) for process in runs]
    assert [code for _, code in ended] == [0] * 4, ended


@begun_by_an_interpreter
def test_ctrl_c_ends_an_ingest_with_130_and_keeps_the_whole_batches(diary: Path) -> None:
    options = ("--connection", "cin_diary", "--stream", "entries", "--data", diary)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started("ingest", "-", *options, **pipes) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"".join(entry(f"e{number}") for number in range(1_500)))
        process.stdin.flush()
        wait_for(lambda: count(diary) == 1_000, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=DEADLINE_SECONDS) == 130
        assert process.stderr.read().strip() == b""
    assert count(diary) == 1_000
    assert pdpp("check", data=diary).code == 0


def count(data: Path) -> int:
    listed = pdpp_here("connection", "list", "--json", data=data).document
    found: int = listed["connections"][0]["streams"][0]["record_count"]
    return found


def test_ctrl_c_before_a_command_has_begun_is_130_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("pdpp.cli.program.run", interrupt)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130


@pytest.mark.parametrize(
    "arguments",
    [
        ("connect", "http://127.0.0.1:1", "--token-file", "-"),
        ("owner", "init", "--passphrase-file", "-"),
        ("doctor", "http://127.0.0.1:1", "--passphrase-file", "-"),
    ],
)
def test_a_file_that_is_not_text_is_told_in_a_line(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ended = pdpp(*arguments, stdin=b"\xff\xfe\n", env={"PDPP_DATA": str(tmp_path / "data")})
    assert ended.failed() == "a file that was named is not text in UTF-8"
