"""Turns: machines that share a database, and no folder, do a kind of work one after the other."""

import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.cli.shell import started
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener

from pdpp.store.postgres.store import PostgresStore
from pdpp.store.scope import owner_reaches


class TurnIsTaken(Exception):
    """Another program has the turn."""


def give_up() -> None:
    raise TurnIsTaken


def test_a_turn_keeps_out_the_same_work_of_the_same_owner_on_every_machine(opened: Opener) -> None:
    one, other, stranger = opened("anna"), opened("anna"), opened("ben")
    with one.turn("import mail", give_up):
        with pytest.raises(TurnIsTaken), other.turn("import mail", give_up):
            pass
        with other.turn("import notes", give_up), stranger.turn("import mail", give_up):
            pass
    with other.turn("import mail", give_up):
        pass


def test_whoever_waits_gets_the_turn_when_the_other_one_is_gone(opened: Opener) -> None:
    one, other = opened("anna"), opened("anna")
    waited: list[str] = []
    with ExitStack() as turn:
        turn.enter_context(one.turn("import mail", give_up))

        def wait() -> None:
            waited.append("once")
            turn.close()

        with other.turn("import mail", wait):
            assert waited == ["once"]


def test_one_export_that_two_machines_import_at_once_is_one_account(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(40):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nThe tide of day {number}.\n")
    owner = str(tmp_path / "two machines")
    shared = {"PDPP_DATABASE": server_url(), "PDPP_OWNER": owner}
    PostgresStore(server_url(), tmp_path / "data", owner=owner).close()
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                started("import", notes, "--yes", "--data", tmp_path / name, env=shared, **piped)
            )
            for name in ("one", "other")
        ]
        said = [program.communicate(timeout=120) for program in programs]
    assert [program.returncode for program in programs] == [0, 0], said
    store = PostgresStore(server_url(), tmp_path / "data", owner=owner)
    catalogue = store.catalogue()
    assert len(catalogue.connections) == 1, said
    assert sum(store.count(reach) for reach in owner_reaches(catalogue)) == 40
    store.close()
