"""A mutant: one small break of the real code, and the tests that must notice it."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import Any

Make = Callable[[Any], Any]
"""Makes what stands in for a real thing, from the real thing."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A promise, what breaks it, and the tests that hold it.

    ``breaks`` names things of the program as ``module:name.name``; each is replaced by what is
    made of it. A test is a node of pytest, and at least one of them must fail.
    """

    promise: str
    name: str
    breaks: tuple[tuple[str, Make], ...]
    tests: tuple[str, ...]

    def apply(self) -> None:
        """Break this process for good."""
        for target, make in self.breaks:
            module, _, path = target.partition(":")
            *outer, name = path.split(".")
            owner = reduce(getattr, outer, import_module(module))
            setattr(owner, name, make(operator.attrgetter(name)(owner)))
