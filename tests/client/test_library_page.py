"""The page about the library, run word for word."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

from tests.serving import World

from pdpp import client as library

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "library.md"
ADDRESS = "http://127.0.0.1:7377"
BLOCKS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", PAGE.read_text(), re.DOTALL)


def test_every_example_runs_and_prints_what_the_page_shows(demo: World, token: str) -> None:
    names: dict[str, Any] = {"token": token}
    assert len(BLOCKS) == 10
    try:
        for code, expected in BLOCKS:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(code.replace(ADDRESS, demo.server.url), names)  # noqa: S102 - our own page
            assert said.getvalue() == expected, code
    finally:
        names["client"].close()


def test_the_page_names_everything_the_library_exports() -> None:
    section = PAGE.read_text().split("## Names")[1]
    named = set(re.findall(r"`([A-Z]\w+)`", section))
    assert named == set(library.__all__)
