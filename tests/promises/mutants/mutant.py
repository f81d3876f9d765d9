"""A mutant: one small break of the real code, and the tests that must notice it."""

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import Any

_OURS = ("pdpp.", "tests.")
Make = Callable[[Any], Any]
"""Makes what stands in for a real thing, from the real thing."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A promise, what breaks it, and the tests that hold it.

    ``breaks`` names things of the program as ``module:name.name``; each is replaced by what is
    made of it. A test is a node of pytest, and at least one of them must fail. The tests of an
    ``embedded`` one are about files of the embedded engine, so that no other engine can catch it.
    """

    promise: str
    name: str
    breaks: tuple[tuple[str, Make], ...]
    tests: tuple[str, ...]
    embedded: bool = False

    def apply(self) -> None:
        """Break this process for good."""
        for target, make in self.breaks:
            module, _, path = target.partition(":")
            *outer, name = path.split(".")
            owner = reduce(getattr, outer, import_module(module))
            real = operator.attrgetter(name)(owner)
            broken = make(real)
            setattr(owner, name, broken)
            if isinstance(owner, ModuleType) and getattr(real, "__module__", "") == module:
                _replace(real, broken)


def _replace(real: Any, broken: Any) -> None:
    """Put a broken thing in the place of the real one wherever it was imported from its module."""
    for module in [module for name, module in sys.modules.items() if name.startswith(_OURS)]:
        for name, value in list(vars(module).items()):
            if value is real:
                setattr(module, name, broken)
