"""Which sources there are."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pdpp.model.errors import ImportRefused
from pdpp.model.validation import parse_declaration
from pdpp.sources import registry
from pdpp.sources.registry import BUILT_IN, BrokenPlugin
from pdpp.sources.source import Source

PLUGINS = {
    "good": "from pdpp.sources import Source\n\n\nclass Good(Source):\n"
    "    connector_key = 'good'\n    label = 'Good'\n"
    "    def recognise(self, tree, wishes): return None\n"
    "    def parts(self, tree, found): return []\n\n\nREADY = Good()\n",
    "failing": "raise RuntimeError('no licence')\n",
    "other": "THING = 5\n",
}
POINTS = (
    "[pdpp.sources]\n"
    "good = plugin_good:Good\n"
    "ready = plugin_good:READY\n"
    "failing = plugin_failing:X\n"
    "other = plugin_other:THING\n"
    "codex = plugin_good:Good\n"
)


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Plugins on the path, as an installer leaves them."""
    for name, code in PLUGINS.items():
        (tmp_path / f"plugin_{name}.py").write_text(code)
    about = tmp_path / "plugins-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plugins\nVersion: 1\n")
    (about / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in PLUGINS:
        sys.modules.pop(f"plugin_{name}", None)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_source_has_its_name_and_a_sound_declaration(name: str) -> None:
    source = registry.load(name)
    assert source.connector_key == name
    assert source.label
    declaration = parse_declaration(source.declaration())
    assert declaration.connector_key == name
    for stream in declaration.streams.values():
        assert stream.label
        assert stream.detail
        assert all(field.description for field in stream.fields.values()), stream.name


def test_a_source_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ImportRefused, match=r"there is no source 'myspace'; there are .*codex"):
        registry.load("myspace")


@pytest.mark.usefixtures("plugins")
def test_a_plugin_is_a_source_like_any_other() -> None:
    assert "good" in registry.names()
    assert registry.load("good").label == "Good"


def test_a_plugin_that_is_installed_meanwhile_is_seen_and_gone_when_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "late" not in registry.names()
    about = tmp_path / "late-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[pdpp.sources]\nlate = plugin_late:Late\n")
    assert "late" in registry.names()
    about.rename(tmp_path / "elsewhere")
    assert "late" not in registry.names()


@pytest.mark.usefixtures("plugins")
def test_a_plugin_that_fails_is_told_and_stops_none_of_the_others() -> None:
    found = list(registry.every())
    broken = {each.name: each.problem for each in found if isinstance(each, BrokenPlugin)}
    assert broken == {
        "failing": "RuntimeError: no licence",
        "other": "it is not a pdpp.sources.Source",
        "ready": "its connector_key is 'good'",
    }
    whole = [each.connector_key for each in found if isinstance(each, Source)]
    assert whole == [*BUILT_IN, "good"]


@pytest.mark.usefixtures("plugins")
def test_a_broken_plugin_that_is_chosen_is_refused_with_its_reason() -> None:
    with pytest.raises(ImportRefused, match="'failing' cannot be used: RuntimeError: no licence"):
        registry.load("failing")


@pytest.mark.usefixtures("plugins")
def test_a_plugin_cannot_take_the_place_of_a_built_in_source() -> None:
    assert type(registry.load("codex")).__module__ == "pdpp.sources.formats.codex.source"


def test_asking_for_one_source_imports_no_other_and_no_parser() -> None:
    script = (
        "import sys\nfrom pdpp.sources import registry\nregistry.load('claude_code')\n"
        "heavy = {'icalendar', 'selectolax', 'yaml', 'pdpp.sources.formats.codex.source'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
