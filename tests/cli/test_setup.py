"""``pdpp setup`` in a terminal, with answers that people give by mistake."""

import importlib
import signal
import sys
from pathlib import Path

import click
import pytest
from tests.house.terminal import Running, Terminal

GOOD = "four plain words here"
FOLDER, CHOOSE, AGAIN = "Where should your data live?", "Choose a passphrase; you", "again:"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="typed into a POSIX shell")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    (tmp_path / "home").mkdir()
    return Terminal(tmp_path)


def talk(running: Running, *answers: tuple[str, str]) -> None:
    """Answer questions in their order; one that is asked again was answered wrongly."""
    asked: dict[str, int] = {}
    for wanted, text in answers:
        asked[wanted] = asked.get(wanted, 0) + 1
        running.until(wanted, asked[wanted])
        running.answer(text)


def test_a_wrong_answer_is_explained_and_asked_again(terminal: Terminal) -> None:
    folder = terminal.folder
    (folder / "letter.txt").write_text("Dear Ana,")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "cat.jpg").write_bytes(b"\xff")
    line = f"{sys.executable} -m pdpp setup --no-service"
    with terminal.running(line) as running:
        talk(
            running,
            (FOLDER, "letter.txt"),
            (FOLDER, "pictures"),
            (FOLDER, "mine"),
            (CHOOSE, "short"),
            (AGAIN, "short"),
            (CHOOSE, GOOD),
            (AGAIN, "another one than before"),
            (CHOOSE, GOOD),
            (AGAIN, GOOD),
        )
        code, screen = running.end()
    assert code == 0, screen
    assert f"{folder / 'letter.txt'} is a file. Name a folder." in screen
    assert f"{folder / 'pictures'} holds other files." in screen
    assert "at least 12 characters" in screen
    assert "do not match" in screen
    assert f"pdpp serve --data {folder / 'mine'}" in screen
    assert [path.name for path in (folder / "pictures").iterdir()] == ["cat.jpg"]
    status = terminal.succeed(f"PDPP_DATA=mine {sys.executable} -m pdpp")
    assert "pdpp owner init" not in status


def test_ctrl_c_at_the_first_question_ends_it_and_leaves_nothing(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with terminal.running(f"exec {sys.executable} -m pdpp setup --no-service") as running:
        running.until(FOLDER)
        code, _ = running.interrupt()
    assert code == -signal.SIGINT
    assert list((terminal.folder / "home").iterdir()) == []
    # The interpreter forgets a signal between the prompt and the read, so the system acts on it.
    acts: list[object] = []
    before = signal.getsignal(signal.SIGINT)

    def prompt(*_: object, **__: object) -> str:
        acts.append(signal.getsignal(signal.SIGINT))
        return str(tmp_path / "mine")

    monkeypatch.setattr(click, "prompt", prompt)
    setup_command = importlib.import_module("pdpp.cli.setup")
    assert setup_command._asked_folder(tmp_path) == tmp_path / "mine"
    assert acts == [signal.SIG_DFL]
    assert signal.getsignal(signal.SIGINT) is before


def test_without_a_terminal_nothing_is_left_half_done(terminal: Terminal) -> None:
    code, screen = terminal.type(f"{sys.executable} -m pdpp setup --no-service < /dev/null")
    assert code == 64
    assert "--passphrase-file, or run this in a terminal" in screen
    assert "pdpp setup" in terminal.succeed(f"{sys.executable} -m pdpp")
