"""Mutants that no test catches as it should; the hunt must say so of each."""

from typing import Any

from tests.promises.mutants.mutant import Mutant

NONE = ""
_CURSOR = "tests/resource/test_cursor.py"
_PADDED = f"{_CURSOR}::test_a_cursor_with_padding_or_great_length_is_refused"


def _failing(_: Any) -> Any:
    def open_cursor(*_: Any) -> Any:
        raise RuntimeError("broken")

    return open_cursor


HARMLESS, MISSING, CRUDE, LOST = MUTANTS = (
    Mutant(NONE, "breaks nothing", (), (_PADDED,)),
    Mutant(NONE, "names a test that does not exist", (), (f"{_PADDED}_at_all",)),
    Mutant(NONE, "fails", (("pdpp.service.cursor:Signer.open", _failing),), (_PADDED,)),
    Mutant(NONE, "breaks what is not there", (("pdpp.nothing:name", _failing),), (_PADDED,)),
)
