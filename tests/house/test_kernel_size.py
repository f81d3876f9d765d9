"""The protocol kernel stays a small package that stands on its own."""

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import pdpp.mcp.kernel

MOST_LINES = 515
_FOLDER = Path(pdpp.mcp.kernel.__file__).parent
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_OWN = "pdpp.mcp.kernel"
_STDIO = ("rpc", "protocol", "dispatch", "connection")


def _spoken(source: str) -> Iterator[int]:
    """Yield the lines of docstrings and of texts that stand beside a name as its comment."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _code_lines(source: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    held = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(held - set(_spoken(source)))


def _imported(module: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse((_FOLDER / f"{module}.py").read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not str(node.module).startswith(_OWN):
            found.add(str(node.module))
    return found


def test_lines_of_code_are_counted_without_words_about_them() -> None:
    source = '"""A module."""\n\nA = 1\n"""About A."""\n\n\n# why\ndef f():\n    """Do."""\n'
    source += "    return (\n        A\n    )\n"
    assert _code_lines(source) == 5


def test_the_kernel_is_a_small_package() -> None:
    sizes = {path.name: _code_lines(path.read_text()) for path in _FOLDER.glob("*.py")}
    assert len(sizes) > 4
    assert sum(sizes.values()) <= MOST_LINES, sizes


def test_the_kernel_knows_of_the_rest_only_how_a_client_leaves() -> None:
    modules = [path.stem for path in _FOLDER.glob("*.py")]
    ours = {name for module in modules for name in _imported(module) if "pdpp" in name}
    assert ours == {"pdpp.disconnect"}


@pytest.mark.parametrize("module", _STDIO)
def test_what_stdio_needs_of_the_kernel_is_in_the_standard_library(module: str) -> None:
    light = {"binascii", "collections.abc", "json", "logging", "queue", "threading", "typing"}
    assert _imported(module) <= light
