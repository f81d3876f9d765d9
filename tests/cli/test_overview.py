"""``pdpp`` alone: the state in words, and the next step."""

from pathlib import Path

import pytest
from tests.cli.shell import Served, pdpp_here
from tests.engine import program_environment

from pdpp.cli import program
from pdpp.cli.overview import Overview, overview, overview_lines


def lines(**changed: object) -> str:
    seen = Overview(Path("/d"), "http://127.0.0.1:7377", running=False, exists=True)
    return "\n".join(overview_lines(seen._replace(**changed)))  # type: ignore[arg-type]


def test_each_state_names_the_next_step() -> None:
    assert "pdpp setup" in lines(exists=False)
    empty = lines()
    assert "pdpp import FILE" in empty
    assert "pdpp serve" in empty
    assert "pdpp owner init" in empty
    full = lines(records=1_200, accounts=2, running=True, has_passphrase=True)
    assert "1,200 records of 2 accounts in /d; 0 grants for agents." in full
    assert "The server answers on http://127.0.0.1:7377." in full
    assert "pdpp serve " not in full
    assert "pdpp owner init" not in full
    assert "pdpp connect http://127.0.0.1:7377" in full
    assert "pdpp read search WORDS --data /d " in full
    assert "pdpp connect" not in lines(records=1, accounts=1, grants=1)


def test_it_is_shown_in_a_terminal_and_help_elsewhere(
    diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"PDPP_DATA": str(diary), "PDPP_PORT": "1", **program_environment(diary)}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert overview() == Overview(diary, "http://127.0.0.1:1", False, True, accounts=1)
    elsewhere = pdpp_here()
    assert (elsewhere.code, elsewhere.out) == (64, "")
    assert "Commands:" in elsewhere.err
    monkeypatch.setattr(program, "is_terminal", lambda: True)
    shown = pdpp_here()
    assert (shown.code, shown.err) == (0, "")
    assert f"0 records of 1 account in {diary}" in shown.out


@pytest.mark.embedded("about data in folders")
def test_a_server_of_another_folder_is_not_taken_for_ones_own(
    demo_server: Served, diary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDPP_PORT", demo_server.url.rpartition(":")[2])
    own = "\n".join(overview_lines(overview(demo_server.data)))
    assert f"The server answers on {demo_server.url}." in own
    for folder in (diary, tmp_path / "empty"):
        seen = overview(folder)
        told = "\n".join(overview_lines(seen))
        assert f"The server that answers on {demo_server.url} serves other data." in told
        assert f"pdpp connect {demo_server.url}" not in told
    status = pdpp_here("service", "status", data=diary)
    assert status.code == 1
    assert "serves other data" in status.out


def test_where_another_server_has_the_port_the_next_step_names_another() -> None:
    told = lines(taken=True, records=1, accounts=1)
    assert "pdpp serve --port 8000" in told
    assert "pdpp connect" not in told


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(("serv",), "serve"), (("read", "searhc"), "search"), (("grant", "creat"), "create")],
)
def test_a_command_that_is_nearly_right_is_offered(typed: tuple[str, ...], meant: str) -> None:
    told = pdpp_here(*typed).failed(code=64)
    assert "Did you mean" in told
    assert repr(meant) in told
    assert "?." not in told
