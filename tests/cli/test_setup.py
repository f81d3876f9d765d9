"""``pdpp setup`` in a terminal, with answers that people give by mistake."""

import sys
from pathlib import Path

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


def test_without_a_terminal_nothing_is_left_half_done(terminal: Terminal) -> None:
    code, screen = terminal.type(f"{sys.executable} -m pdpp setup --no-service < /dev/null")
    assert code == 64
    assert "--passphrase-file, or run this in a terminal" in screen
    assert "pdpp setup" in terminal.succeed(f"{sys.executable} -m pdpp")
