"""Sentences that nobody understood, which are not to come back."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READ = ("*.py", "*.html", "*.js", "*.md")
RETIRED = (
    "one that starts a program is given the line",
    "changes no byte of any answer on any rung",
    "it stands in the window where you started",
    "nobody but you can claim it",
    "after this page was drawn",
    "this is what it means now",
    "more match than were ranked",
    "pdpp_data says it too",
    "unless given, your platform's folder",
    "fetch with an id as it is shown",
    "what each path is, is recognised",
    "the one that holds now",
    "start it at login no more",
    "none that this server knows of",
    "may read nothing any more",
    "are nowhere kept",
    "needs a tick of its own",
    "asks nobody whether there is",
    "you neither",
    "though there is one",
    "unless given, new",
    "unless given, never",
    "how long a stretch is",
    "whose word on the caller",
    "those come in that a note shows",
)


def texts() -> dict[Path, str]:
    """Return every text of the program and its documents, on one line and in small letters."""
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
    for folder in (ROOT / "src", ROOT / "docs"):
        files += [path for kind in READ for path in folder.rglob(kind)]
    return {path: " ".join(path.read_text("utf-8").split()).lower() for path in files}


@pytest.fixture(scope="module")
def written() -> dict[Path, str]:
    found = texts()
    assert len(found) > 500
    return found


@pytest.mark.parametrize("sentence", RETIRED)
def test_a_retired_sentence_stands_nowhere(written: dict[Path, str], sentence: str) -> None:
    # Python joins the halves of a text that is too long for its line.
    halves = {path: text.replace('" "', "") for path, text in written.items()}
    assert [str(path.relative_to(ROOT)) for path, text in halves.items() if sentence in text] == []
