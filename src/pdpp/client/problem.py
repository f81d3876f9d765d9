"""Problems: an error that a server told becomes the error of our own tree with its code."""

from collections.abc import Iterator

from pdpp.model import errors
from pdpp.model.errors import PdppError
from pdpp.wire.answer import ServerError


def typed(error: ServerError) -> PdppError:
    """Return the error of the tree that has the server's code, else what the server told."""
    kind = next((kind for kind in _tree(PdppError) if kind.code == error.code), None)
    if kind is None:
        return error
    problem = kind(error.message, param=error.param, headers=error.headers)
    problem.type, problem.status, problem.detail = error.type, error.status, error.detail
    return problem


def _tree(kind: type[PdppError]) -> Iterator[type[PdppError]]:
    """Yield the errors of the model below one of them that a server answers with."""
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__ and child not in errors.ELSEWHERE:
            yield child
            yield from _tree(child)
