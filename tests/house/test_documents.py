"""What the documents say about the project, compared with the project."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import pdpp

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
PIN = re.compile(r"^([a-z0-9._-]+)==(\S+)", re.MULTILINE)
LISTED = re.compile(r"^- `([^`]+)`: \S", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = re.compile(r"\bmake ([a-z-]+)")
ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def declared(group: str) -> set[str]:
    groups = pyproject()["dependency-groups"]
    entries = pyproject()["project"]["dependencies"] if group == "run" else groups[group]
    return {match.group().lower() for entry in entries if (match := NAME.match(entry))}


def pinned(group: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / "requirements" / f"{group}.txt").read_text()))


def explained(heading: str) -> set[str]:
    text = (ROOT / "docs" / "dependencies.md").read_text()
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return set(LISTED.findall(section))


def relative_links(document: Path) -> list[str]:
    links = LINK.findall(document.read_text())
    paths = [link.partition("#")[0] for link in links if not ABSOLUTE.match(link)]
    return [path for path in paths if path]


@pytest.mark.parametrize(
    ("heading", "group"),
    [("To run the server", "run"), ("To develop it", "dev"), ("To audit it", "audit")],
)
def test_every_dependency_has_its_reason_and_every_reason_its_dependency(
    heading: str, group: str
) -> None:
    assert explained(heading) == declared(group)


@pytest.mark.parametrize("group", ["run", "dev", "audit"])
def test_every_declared_dependency_is_pinned(group: str) -> None:
    assert declared(group) <= pinned(group).keys()


def test_development_runs_on_the_versions_the_server_runs_on() -> None:
    assert pinned("run").items() <= pinned("dev").items()


@pytest.mark.parametrize("requirements", REQUIREMENTS, ids=lambda path: path.name)
def test_every_pin_has_a_hash_and_no_pin_has_an_address(requirements: Path) -> None:
    text = requirements.read_text()
    pins = re.split(r"\n(?=\S)", text.strip())
    assert all(PIN.match(pin) and "--hash=sha256:" in pin for pin in pins)
    assert "://" not in text


def test_the_readme_names_make_run_and_make_test_first() -> None:
    commands = COMMAND.findall((ROOT / "README.md").read_text())
    assert commands[:2] == ["run", "test"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_points_at_a_file(document: Path) -> None:
    broken = [link for link in relative_links(document) if not (document.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_make_command_in_a_document_is_a_target(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"`make ([a-z-]+)|^make ([a-z-]+)", document.read_text(), re.MULTILINE)
    assert {first or second for first, second in named} <= targets


def test_the_architecture_links_every_decision() -> None:
    architecture = ROOT / "docs" / "architecture.md"
    decisions = {path.resolve() for path in (ROOT / "docs" / "decisions").glob("*.md")}
    links = relative_links(architecture) if architecture.exists() else []
    linked = {(architecture.parent / link).resolve() for link in links}
    assert not architecture.exists() or decisions <= linked


def newest_changes() -> tuple[str, str, str]:
    """Return the newest version of the changelog, what its heading adds, and its text."""
    section = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1]
    heading, _, text = section.partition("\n")
    version, _, remark = heading.partition(" ")
    return version, remark, text


def numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def test_the_changelog_begins_with_the_version_of_the_package_or_the_next_one() -> None:
    version, remark, _ = newest_changes()
    own = pyproject()["project"]["version"]
    assert own == pdpp.__version__
    assert numbers(version) > numbers(own) if remark == "(not yet released)" else version == own


def test_every_change_stands_under_a_group() -> None:
    opening, *groups = newest_changes()[2].split("\n### ")
    assert not re.search(r"^- ", opening, re.MULTILINE)
    assert [group.partition("\n")[0] for group in groups if "\n- " not in group] == []
