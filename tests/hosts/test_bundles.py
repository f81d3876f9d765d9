"""The bundles say what the code does, and the official packers take them."""

import base64
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from bundles import contents
from bundles.__main__ import PACKER, pack, write_bundles
from tests.hosts.conftest import Home, needed
from tests.hosts.registry import complaints

from pdpp.cli.program import run
from pdpp.mcp.tools.definition import SIGNATURES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("bundles") / "out"
    write_bundles(target)
    return target


def test_the_bundle_for_claude_desktop_is_packed_by_the_official_packer(folder: Path) -> None:
    needed("mcpb")
    packed = pack(folder, PACKER)
    assert packed is not None
    with zipfile.ZipFile(packed) as archive:
        assert set(archive.namelist()) == {"manifest.json", "pyproject.toml", "server/main.py"}
        manifest = json.loads(archive.read("manifest.json"))
    assert {tool["name"] for tool in manifest["tools"]} == set(SIGNATURES)
    assert contents.DISTRIBUTION in (folder / "claude-desktop" / "pyproject.toml").read_text()


def test_the_plugin_is_one_that_claude_code_accepts(folder: Path, home: Home) -> None:
    needed("claude")
    said = home.run("claude", "plugin", "validate", str(folder / "claude-code-plugin"))
    assert "Validation passed" in said
    skill = (folder / "claude-code-plugin/skills/personal-data/SKILL.md").read_text()
    description = re.search(r"^description: (.*)$", skill, re.MULTILINE)
    assert description is not None
    assert len(description[1]) <= 1_024
    for word in ("mail", "calendar", "payments", "photos", "notes"):
        assert word in description[1]


def test_the_registry_entry_names_the_distribution(folder: Path) -> None:
    entry = json.loads((folder / "server.json").read_text())
    [package] = entry["packages"]
    assert package["identifier"] == contents.project()["name"] == "pdpp-server"
    assert package["identifier"] in contents.project()["scripts"]
    assert entry["version"] == package["version"] == contents.project()["version"]
    assert len(entry["description"]) <= 100
    # The registry takes a package for ours if the page of the package names the entry.
    assert f"mcp-name: {entry['name']} " in (contents.ROOT / "README.md").read_text()


def test_the_registry_entry_keeps_the_registrys_rules(folder: Path) -> None:
    assert complaints(json.loads((folder / "server.json").read_text())) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("name",), "pdpp-server"),
        (("name",), "io.github.pdpp/pdpp/server"),
        (("name",), None),
        (("description",), "x" * 101),
        (("description",), ""),
        (("title",), "x" * 101),
        (("version",), "latest"),
        (("version",), "^1.2.3"),
        (("version",), 1),
        (("$schema",), "https://example.org/server.schema.json"),
        (("homepage",), "https://example.org"),
        (("packages", 0, "registryType"), "PyPI"),
        (("packages", 0, "identifier"), None),
        (("packages", 0, "version"), "1.x"),
        (("packages", 0, "transport"), None),
        (("packages", 0, "transport"), {"type": "streamable-http"}),
        (("packages", 0, "registryBaseUrl"), "https://mirror.example/simple"),
        (("packages", 0, "packageArguments", 0), {"type": "positional"}),
        (("packages", 0, "packageArguments", 1, "name"), None),
        (("packages", 0, "packageArguments", 1, "default"), 7377),
        (("packages", 0, "packageArguments", 1, "format"), "url"),
        (("packages", 0, "packageArguments", 1, "required"), True),
    ],
)
def test_an_entry_that_breaks_a_rule_is_noticed(
    folder: Path, place: tuple[str | int, ...], value: object
) -> None:
    entry = json.loads((folder / "server.json").read_text())
    target: Any = entry
    for step in place[:-1]:
        target = target[step]
    if value is None:
        del target[place[-1]]
    else:
        target[place[-1]] = value
    assert complaints(entry)


def test_the_registry_entry_starts_the_adapter_with_words_it_knows(folder: Path) -> None:
    entry = json.loads((folder / "server.json").read_text())
    [package] = entry["packages"]
    for written in ("{name}={value}", "{name} {value}"):
        words: list[str] = []
        for argument in package["packageArguments"]:
            value = argument.get("value") or argument["default"]
            form = written if argument["type"] == "named" else "{value}"
            words += form.format(name=argument.get("name"), value=value).split()
        command = [sys.executable, "-m", "pdpp", *words, "--cache-root", str(folder / "none")]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert ended.returncode == 78
        assert b"not connected to http://127.0.0.1:7377" in ended.stderr


def test_the_links_hold_a_command_that_the_program_knows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (folder / "links.md").read_text()
    cursor, vscode = re.findall(r"\((\S+)\)", page)
    config = parse_qs(urlsplit(cursor).query)["config"][0]
    first = json.loads(base64.b64decode(config))
    second = json.loads(unquote(vscode.partition("?")[2]))
    for entry in (first, second):
        assert [entry["command"], *entry["args"][:4]] == contents.uvx()
    assert run(["mcp", "--help"]) == 0
    assert "--provider-url" in capsys.readouterr().out


_INSTALLS = re.compile(
    r"""(pip|pipx|uv\ tool|uv\ pip)\ install(?:\ -\S+)*\ ["']?pdpp(?!-server)\b""", re.VERBOSE
)


def test_no_text_installs_somebody_elses_package(folder: Path) -> None:
    roots = ["README.md", "CHANGELOG.md", "docs", "src", "bundles", "Makefile", "pyproject.toml"]
    paths = [contents.ROOT / root for root in roots]
    files = [file for path in [*paths, folder] for file in (path, *path.rglob("*"))]
    texts = [file for file in files if file.is_file() and file.suffix not in (".pyc", ".mcpb")]
    assert {".html", ".md", ".py", ".json"} <= {file.suffix for file in texts}
    for file in texts:
        assert not _INSTALLS.search(file.read_text(encoding="utf-8", errors="replace")), file


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("pip install pdpp", True),
        ("pip install -U 'pdpp[meaning]'", True),
        ("uv tool install pdpp", True),
        ("pip install pdpp-server", False),
        ("pip install 'pdpp-server[meaning]'", False),
    ],
)
def test_the_wrong_package_is_known_where_it_stands(line: str, wrong: bool) -> None:
    assert bool(_INSTALLS.search(line)) == wrong
