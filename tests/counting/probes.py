"""Probes: a mark before each statement of a module, and what each mark says was run."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias, TypedDict

MARKS = "__marks__"
"""The list in which a module's probes put a 1."""

Arc: TypeAlias = tuple[int, int]
_ENTRY = -1
_LOAD, _STORE = ast.Load(), ast.Store()


class _Place(TypedDict):
    """Where a node stands; to copy it from node to node takes three times as long."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


@dataclass(frozen=True, slots=True)
class Probe:
    """What was run when a probe was reached.

    ``leaves`` is a line with a branch that was left by another way than to the line beside it.
    """

    lines: tuple[int, ...] = ()
    arcs: tuple[Arc, ...] = ()
    leaves: Arc | None = None


_NOTHING = Probe()


@dataclass(slots=True)
class Probed:
    """A module with its probes."""

    tree: ast.Module
    probes: list[Probe] = field(default_factory=list)


def probe(source: bytes | str) -> Probed:
    """Return a module with a probe before each statement and on each way out of a branch."""
    probed = Probed(ast.parse(source))
    _Prober(probed.probes).visit_body(probed.tree)
    return probed


def arcs_of(
    probes: Sequence[Probe], marks: Sequence[int], possible: frozenset[Arc]
) -> Iterator[Arc]:
    """Yield the arcs that marks stand for; ``possible`` are those that the code has."""
    for reached, mark in zip(probes, marks, strict=True):
        if mark:
            yield from ((_ENTRY, line) for line in reached.lines)
            yield from reached.arcs
            if reached.leaves is not None:
                line, inside = reached.leaves
                yield from ((a, b) for a, b in possible if a == line and b != inside)


class _Prober:
    """Puts probes into the bodies of a tree."""

    def __init__(self, probes: list[Probe]) -> None:
        self._probes = probes

    def visit_body(self, owner: ast.AST, name: str = "body", entering: Probe = _NOTHING) -> None:
        """Put probes into one body; ``entering`` is what else its first statement says."""
        body: list[ast.stmt] = getattr(owner, name)
        probed: list[ast.stmt] = []
        for at, statement in enumerate(body):
            if not _is_silent(statement, at):
                reached = Probe((*_lines(statement), *entering.lines), entering.arcs)
                probed.append(self._mark(reached, statement))
                entering = _NOTHING
            elif isinstance(statement, ast.ImportFrom):
                entering = Probe((*entering.lines, statement.lineno), entering.arcs)
            self._visit(statement)
            probed.append(statement)
        setattr(owner, name, probed)

    def _mark(self, reached: Probe, place: ast.stmt) -> ast.stmt:
        at: _Place = {
            "lineno": place.lineno,
            "col_offset": place.col_offset,
            "end_lineno": place.end_lineno,
            "end_col_offset": place.end_col_offset,
        }
        number = ast.Constant(len(self._probes), **at)
        marked = ast.Subscript(ast.Name(MARKS, _LOAD, **at), number, _STORE, **at)
        self._probes.append(reached)
        return ast.Assign([marked], ast.Constant(1, **at), **at)

    def _visit(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
                self._branch(statement)
            case ast.Match():
                self._match(statement)
            case ast.Try() | ast.TryStar():
                self._try(statement)
            case ast.With() | ast.AsyncWith() | ast.ClassDef():
                self.visit_body(statement)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.visit_body(statement)
            case _:
                pass

    def _branch(self, statement: ast.If | ast.For | ast.AsyncFor | ast.While) -> None:
        line, inside = statement.lineno, _first_line(statement.body)
        self.visit_body(statement, "body", Probe(arcs=((line, inside),)))
        if statement.orelse and isinstance(statement, ast.If):
            self.visit_body(
                statement, "orelse", Probe(arcs=((line, _first_line(statement.orelse)),))
            )
            return
        self.visit_body(statement, "orelse")
        leaving = self._mark(Probe(leaves=(line, inside)), statement)
        statement.orelse.insert(0, leaving)

    def _match(self, statement: ast.Match) -> None:
        cases = statement.cases
        lines = [case.pattern.lineno for case in cases]
        inside = [_first_line(case.body) for case in cases]
        for at, case in enumerate(cases):
            entered = (lines[at], inside[at])
            passed = pairwise(lines[: at + 1])
            self.visit_body(case, "body", Probe(tuple(lines[: at + 1]), (*passed, entered)))
        last = cases[-1]
        if last.guard is not None or not _takes_all(last.pattern):
            leaves = (lines[-1], inside[-1])
            mark = self._mark(Probe(tuple(lines), tuple(pairwise(lines)), leaves), last.body[0])
            pattern = ast.copy_location(ast.MatchAs(), last.pattern)
            cases.append(ast.match_case(pattern, None, [mark]))

    def _try(self, statement: ast.Try | ast.TryStar) -> None:
        self.visit_body(statement)
        lines = [handler.lineno for handler in statement.handlers]
        for at, handler in enumerate(statement.handlers):
            entered = (lines[at], _first_line(handler.body))
            passed = pairwise(lines[: at + 1])
            self.visit_body(handler, "body", Probe(tuple(lines[: at + 1]), (*passed, entered)))
        self.visit_body(statement, "orelse")
        self.visit_body(statement, "finalbody")


def _is_silent(statement: ast.stmt, at: int) -> bool:
    """Tell whether a statement leaves nothing that runs, or has to stay the first one."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return at == 0 and isinstance(statement.value.value, str)
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Global | ast.Nonlocal)


def _lines(statement: ast.stmt) -> tuple[int, ...]:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return (*(decorator.lineno for decorator in decorators), statement.lineno)


def _first_line(body: Sequence[ast.stmt]) -> int:
    return next(
        (
            _lines(statement)[0]
            for at, statement in enumerate(body)
            if not _is_silent(statement, at)
        ),
        0,
    )


def _takes_all(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return any(map(_takes_all, pattern.patterns))
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _takes_all(pattern.pattern)
    )
