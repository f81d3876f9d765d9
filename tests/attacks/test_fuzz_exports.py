"""Exports with bytes flipped, cut, doubled and spliced: every source tells, and none fails."""

import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.attacks.dose import dose
from tests.attacks.mutation import Cut, Edit, cuts, edited, edits, spoilt
from tests.cli.shell import pdpp_here
from tests.sources.formats import test_slack as slack
from tests.sources.kit import survives, zipped
from tests.sources.samples import every_sample

from pdpp.sources.item import Item, Skipped
from pdpp.sources.registry import BUILT_IN, load

Files = dict[str, bytes]


@cache
def exports() -> dict[str, Files]:
    """Return a good export of every source, the first of its samples, by name of file."""
    samples = reversed(every_sample().values())
    return {sample.source: dict(sample.files) for sample in samples}


def place(folder: Path, files: Files) -> Path:
    """Write an export and return its folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_exports_that_are_spoilt_are_good(tmp_path: Path, name: str) -> None:
    assert survives(load(name), place(tmp_path, exports()[name]))


def attack(
    name: str, folder: Path, spoil: Callable[[bytes], bytes], number: int, ending: str = ""
) -> None:
    """Let a source read an export with one of its files of an ending spoilt."""
    files = dict(exports()[name])
    fitting = sorted(file for file in files if file.endswith(ending))
    chosen = fitting[number % len(fitting)]
    files[chosen] = spoil(files[chosen])
    survives(load(name), place(folder, files))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_file_with_spoilt_bytes_is_told_and_harms_nothing(tmp_path: Path, name: str) -> None:
    other = b"".join(exports()[name].values())

    @settings(max_examples=dose(40))
    @given(cuts)
    def read(changes: list[Cut]) -> None:
        attack(name, tmp_path, lambda good: spoilt(good, changes, other), changes[0].at)

    read()


@pytest.mark.parametrize("name", ["chatgpt", "claude_ai", "slack", "telegram"])
def test_a_document_of_another_shape_is_told_and_harms_nothing(tmp_path: Path, name: str) -> None:
    exports()  # What they need is imported before examples are made, also if this test runs alone.

    @settings(max_examples=dose(40))
    @given(edits)
    def read(changes: list[Edit]) -> None:
        def spoil(good: bytes) -> bytes:
            return json.dumps(edited(json.loads(good), changes)).encode()

        attack(name, tmp_path, spoil, changes[0].place, ".json")

    read()


@pytest.mark.parametrize("name", ["chatgpt", "markdown"])
def test_an_archive_with_spoilt_bytes_is_told_and_harms_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / "export.zip"
    content = zipped(path, exports()[name]).read_bytes()

    @settings(max_examples=dose(60))
    @given(cuts)
    def read(changes: list[Cut]) -> None:
        path.write_bytes(spoilt(content, changes))
        survives(load(name), path)

    read()
    assert [entry.name for entry in tmp_path.iterdir()] == ["export.zip"]


def test_the_program_tells_of_a_spoilt_export_in_a_line_or_a_report(tmp_path: Path) -> None:
    chosen = sorted(exports())

    @settings(max_examples=dose(20))
    @given(cuts)
    def bring(changes: list[Cut]) -> None:
        name = chosen[changes[0].at % len(chosen)]
        folder = tmp_path / name
        for file, content in exports()[name].items():
            place(folder, {file: spoilt(content, changes)})
        ended = pdpp_here("import", folder, "--yes", "--json", data=tmp_path / "data")
        assert ended.code in (0, 1), ended
        assert "Traceback" not in ended.err
        report = json.loads(ended.out or ended.err)
        assert "counts" in report or report["error"]["code"]

    bring()


@pytest.mark.parametrize("damaged", ["users.json", "channels.json"])
def test_a_damaged_list_of_a_slack_export_loses_none_of_its_days(
    tmp_path: Path, damaged: str
) -> None:
    files = dict(exports()["slack"])
    files[damaged] = files[damaged][:-20]
    found = survives(load("slack"), place(tmp_path, files))
    assert any(isinstance(item, Item) and item.stream == "messages" for item in found)
    assert any(isinstance(item, Skipped) and item.cut for item in found)


@pytest.mark.parametrize("members", [5, True, "U1", {"U1": 1}])
def test_members_of_a_slack_conversation_that_are_no_list_are_none(
    tmp_path: Path, members: object
) -> None:
    rooms = [{"id": "G1", "members": members}, *slack.MANY]
    files = {**exports()["slack"], "mpims.json": json.dumps(rooms).encode()}
    found = survives(load("slack"), place(tmp_path, files))
    assert any(isinstance(item, Item) and item.stream == "messages" for item in found)


def test_a_zip_that_says_it_is_larger_than_anything_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"{number}/conversations.json", b"[" + b" " * 5_000_000 + b"]")
    assert path.stat().st_size < 500_000
    for name in BUILT_IN:
        survives(load(name), path)
