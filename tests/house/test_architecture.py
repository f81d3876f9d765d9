"""The page about the architecture, compared with the code."""

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "pdpp"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")

PICTURE = PAGE.split("```\n", 2)[1]
DRAWN = re.compile(r"(\w+)(?: \{([\w ]+)\})?")
ROW = re.compile(r"^\| `([\w.]+)/?` \|", re.MULTILINE)
PLACE = re.compile(r"`(pdpp(?:\.\w+)+)(?::([\w.]+))?`")
WORD = re.compile(r"^\| (\w+) \| (.+) \|$", re.MULTILINE)
MOST_WORDS = 25


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}", 1)[1].split("\n## ", 1)[0]


def packages_in(folder: Path) -> set[str]:
    """Return the names of the packages in a folder that have code."""
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def modules_in(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}


def test_the_rows_of_the_picture_are_those_of_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    held = [{name.strip().removeprefix("pdpp.") for name in row.split("|")} for row in layers]
    drawn = [{name for name, _ in DRAWN.findall(line)} for line in PICTURE.splitlines()]
    assert drawn == held


def test_the_picture_names_every_package_and_no_other() -> None:
    drawn = DRAWN.findall(PICTURE)
    assert {name for name, _ in drawn} == packages_in(SOURCE) | modules_in(SOURCE)
    for name, inside in drawn:
        assert set(inside.split()) == packages_in(SOURCE / name), name


def test_the_page_names_every_part_that_both_engines_share() -> None:
    (parts,) = re.findall(r"`store/tables` is what both engines share \{([\w ]+)\}", PAGE)
    assert set(parts.split()) == packages_in(SOURCE / "store" / "tables")


def test_the_table_explains_every_package_once() -> None:
    explained = [name.removesuffix(".py") for name in ROW.findall(PAGE)]
    assert sorted(explained) == sorted(packages_in(SOURCE) | modules_in(SOURCE))


@pytest.mark.parametrize("place", PLACE.findall(PAGE), ids=":".join)
def test_every_place_that_is_named_exists(place: tuple[str, str]) -> None:
    thing: object = import_module(place[0])
    for name in filter(None, place[1].split(".")):
        thing = getattr(thing, name)


def test_a_search_is_followed_from_the_socket_to_the_engine() -> None:
    passed = [module for module, _ in PLACE.findall(section("How a search runs"))]
    assert passed[0].startswith("pdpp.serving.")
    assert {module.split(".")[1] for module in passed} >= {"serving", "app", "resource", "store"}
    assert any(module.startswith("pdpp.store.tables.search") for module in passed)


# Words


def parts_of(name: str) -> list[str]:
    """Return the words that a name is made of."""
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z0-9]+", name)]


class Named(NamedTuple):
    """The names that the code gives."""

    all: frozenset[str]
    """Every part of every name that anything has."""
    definitions: tuple[tuple[str, str], ...]
    """Every module, class and function as its name and its place."""
    public_classes: dict[str, list[str]]
    """The modules of each public class at the top of one."""


@cache
def named() -> Named:
    """Return the names in the source, of which each module is parsed and walked once."""
    stored: set[str] = set()
    definitions: list[tuple[str, str]] = []
    classes: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place, tree = str(path.relative_to(SOURCE)), ast.parse(path.read_text("utf-8"))
        definitions += [(path.stem, place), (path.parent.name, place)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Store):
                    stored.add(node.id)
            elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                definitions.append((node.name, f"{place}:{node.lineno}"))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(place)
    every = stored | {name for name, _ in definitions}
    parts = frozenset(part for name in every for part in parts_of(name))
    return Named(parts, tuple(definitions), classes)


def test_the_glossary_is_short_and_every_word_of_it_is_in_the_code() -> None:
    words = dict(WORD.findall(section("Words of this house")))
    del words["word"]
    assert 0 < len(words) <= MOST_WORDS
    assert [word for word in words if not {word, f"{word}s"} & named().all] == []


METAPHORS = frozenset(
    {
        "card",
        "chart",
        "crew",
        "dance",
        "desk",
        "door",
        "drawer",
        "entrance",
        "escort",
        "farewell",
        "glance",
        "journey",
        "keyring",
        "letter",
        "manner",
        "office",
        "patience",
        "porch",
        "presence",
        "rail",
        "rails",
        "sheet",
        "shelf",
        "slip",
        "tally",
        "vigil",
        "voice",
        "warrant",
        "wish",
    }
)
"""Private words for ordinary things that were once in the code."""


def test_no_module_class_or_function_is_named_by_a_metaphor() -> None:
    metaphors = [pair for pair in named().definitions if METAPHORS & set(parts_of(pair[0]))]
    assert metaphors == []


SAME_CONCEPT = frozenset({"Blob", "Excerpt", "Hit", "Record", "Stream"})
"""The same thing on both sides of the wire: the reading side may not import the serving one."""


def test_a_public_class_name_is_unique() -> None:
    classes = named().public_classes
    shared = {name: where for name, where in classes.items() if len(where) > 1}
    assert {name: where for name, where in shared.items() if name not in SAME_CONCEPT} == {}
    assert shared.keys() >= SAME_CONCEPT


def defined_by(statement: ast.stmt) -> list[str]:
    """Return the names that a statement at the top of a module gives to something of its own."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [] if statement.decorator_list else [statement.name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def test_the_program_holds_nothing_that_only_tests_use() -> None:
    written = {path: path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    texts = [*written.values(), *(path.read_text("utf-8") for path in SOURCE.rglob("*.html"))]
    times = Counter(word for text in texts for word in re.findall(r"\w+", text))
    unused = [
        (path.relative_to(SOURCE).as_posix(), name)
        for path, text in written.items()
        for statement in ast.parse(text).body
        for name in defined_by(statement)
        if times[name] == 1 and not name.startswith("__")
    ]
    assert unused == []
