"""The page on sources of one's own, done word for word: its plugin is installed and imports."""

import json
import re
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import Ended, pdpp
from tests.sources.kit import Home, ask, counts, zipped

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-source.md"
RIDES: dict[str, Any] = {
    "ride_export": 3,
    "rides": [
        {
            "id": 7,
            "to": "Lighthouse",
            "started": "2026-05-01T08:00:00Z",
            "metres": 21_300,
            "note": "Head wind on the mole, and seals on the rocks behind it.",
            "picture": "img/seal.jpg",
        },
        {"id": 8, "to": "Market", "started": "2026-05-02T08:00:00Z", "picture": "img/none.jpg"},
        {"id": 9, "to": "Nowhere", "started": "soon"},
        {"to": "No number", "started": "2026-05-02T08:00:00Z"},
    ],
}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Install the page's plugin as an installer does; return the environment that has it."""
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL))
    project = tomllib.loads(blocks["toml"])["project"]
    site = tmp_path_factory.mktemp("site")
    [(name, target)] = project["entry-points"]["pdpp.sources"].items()
    (site / f"{target.partition(':')[0]}.py").write_text(blocks["python"])
    about = site / f"pdpp_rides-{project['version']}.dist-info"
    about.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (about / "METADATA").write_text(metadata)
    (about / "entry_points.txt").write_text(f"[pdpp.sources]\n{name} = {target}\n")
    return {"PYTHONPATH": str(site)}


def bring(path: Path, home: Home, plugin: Mapping[str, str]) -> Ended:
    return pdpp("import", path, "--yes", "--json", data=home.data, env=plugin)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    files = {"rides.json": json.dumps(RIDES).encode(), "img/seal.jpg": b"\xff\xd8 a seal"}
    return zipped(tmp_path / "rides.zip", files)


def test_the_plugin_of_the_page_imports_its_export(
    plugin: Mapping[str, str], export: Path, tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    report = bring(export, home, plugin).document
    assert counts(report) == {"read": 4, "new": 2, "unknown": 2}
    assert report["source"]["name"] == "Ride export"
    assert [case["reason"] for case in report["unknown"]] == [
        "a ride without a time",
        "a shape that is not known",
    ]
    records = home.records()
    pictures = [ride.get("picture", {}).get("size_bytes") for ride in records.values()]
    assert sorted(pictures, key=str) == [9, None]
    again = bring(export, home, plugin).document
    assert counts(again) == {"read": 4, "unchanged": 2, "unknown": 2}
    ask(home, tmp_path / "agent", "seals", "Head wind on the mole, and seals on the rocks")


def test_without_the_plugin_its_export_is_not_known(export: Path, tmp_path: Path) -> None:
    ended = pdpp("import", export, "--yes", data=tmp_path / "data")
    assert "rides.zip is not known" in ended.failed()


def test_what_the_page_offers_is_where_it_says() -> None:
    rows = re.findall(r"^\| (`[a-z_.`, ]+`) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    offered = {}
    for modules, use in rows:
        found = [import_module(f"pdpp.sources.{name}") for name in re.findall("`(.+?)`", modules)]
        for name in re.findall(r"`(\w+)`", use):
            offered[name] = any(hasattr(module, name) for module in found)
    assert len(offered) > 10
    assert [name for name, is_there in offered.items() if not is_there] == []
