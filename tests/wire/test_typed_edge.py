"""What a server answers is read once, at the edge; behind it nobody looks into an answer."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest

import pdpp
from pdpp.wire.verbatim import Verbatim

SOURCE = Path(pdpp.__file__).parent
BEHIND = (
    "mcp/tools",
    "mcp/drawing",
    "mcp/resources.py",
    "client/client.py",
    "client/asynchronous.py",
    "client/listing.py",
    "client/blob.py",
    "cli/reading",
    "cli/exporting",
)
UNTYPED = ("mcp/tools", "mcp/drawing", "mcp/resources.py")
"""Where no value may be of any type: what cannot be named cannot be checked."""

ANSWERS = frozenset({"raw", "sent", "envelope", "document", "body"})
LOOKS = frozenset({"get", "items", "keys", "values", "pop"})
READERS = ("pdpp.wire.members", "pdpp.wire.answer.body_of")


def modules(*places: str) -> Iterator[Path]:
    for place in places:
        path = SOURCE / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def is_answer(node: ast.expr) -> bool:
    """Tell whether an expression is an answer, or the JSON of one."""
    match node:
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return False
        case ast.Attribute(attr=name):
            return name in ANSWERS
        case ast.Call(func=ast.Attribute(value=inner, attr="as_json")):
            return is_answer(inner)
    return False


def looks(tree: ast.AST) -> Iterator[int]:
    """Yield the lines on which something looks into an answer, or reads one."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=inner) if is_answer(inner):
                yield node.lineno
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in LOOKS:
                if is_answer(inner) or (isinstance(inner, ast.Name) and inner.id == "reader"):
                    yield node.lineno
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[inner]):
                if is_answer(inner):
                    yield node.lineno
            case ast.For(iter=inner) | ast.comprehension(iter=inner) if is_answer(inner):
                yield inner.lineno
            case ast.Dict(keys=keys, values=values):
                spread = [v for k, v in zip(keys, values, strict=True) if k is None]
                yield from (value.lineno for value in spread if is_answer(value))
            case ast.ImportFrom(module=str(module), names=names):
                imported = {module, *(f"{module}.{one.name}" for one in names)}
                if imported & set(READERS):
                    yield node.lineno


def names_any(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "Any":
            yield node.lineno


def test_nothing_behind_the_edge_looks_into_an_answer() -> None:
    seen = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in modules(*BEHIND)
        for line in looks(ast.parse(path.read_text()))
    ]
    assert seen == []


def test_behind_the_edge_of_the_adapter_everything_has_a_type() -> None:
    seen = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in modules(*UNTYPED)
        for line in names_any(ast.parse(path.read_text()))
    ]
    assert seen == []


def test_an_answer_that_is_sent_on_cannot_be_indexed() -> None:
    """The type checker refuses to index an object, and every module is checked strictly."""
    assert get_type_hints(Verbatim.as_json)["return"] is object
    public = {name for name in vars(Verbatim) if not name.startswith("_")}
    assert public == {"only", "without", "with_members", "last", "as_json"}
    assert not {"__getitem__", "__iter__", "__contains__"} & set(vars(Verbatim))


@pytest.mark.parametrize(
    "line",
    [
        'answer.body.get("data")',
        'answer.body["data"]',
        '"data" in answer.body',
        'item.raw.get("url")',
        'page.raw["data"]',
        "for row in page.raw: pass",
        "[row for row in page.envelope]",
        "{**connector.envelope}",
        'view.page.envelope.as_json()["data"]',
        "row.envelope.items()",
        "from pdpp.wire.members import text_in",
        "from pdpp.wire.answer import body_of",
        "reader.get(path, params)",
    ],
)
def test_a_look_into_an_answer_is_seen(line: str) -> None:
    assert list(looks(ast.parse(line))) == [1]


@pytest.mark.parametrize(
    "line", ["self.body.get(1)", "record.data[name]", "hit.sent.as_json()", "Any = 1"]
)
def test_what_is_typed_may_be_looked_at(line: str) -> None:
    assert list(looks(ast.parse(line))) == []


def test_parts_of_an_answer_are_left_out_and_put_in_by_name() -> None:
    sent = Verbatim({"a": 1, "b": [2], "c": None})
    assert sent.only("c", "d").as_json() == {"c": None}
    assert sent.without("b").with_members({"a": 3}).as_json() == {"a": 3, "c": None}
    assert sent.as_json() == {"a": 1, "b": [2], "c": None}
    assert sent == Verbatim({"a": 1, "b": [2], "c": None}) != Verbatim()
    assert "2" not in repr(sent)
