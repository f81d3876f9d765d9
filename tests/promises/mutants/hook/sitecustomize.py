"""Breaks every process that a broken test starts, as the test itself is broken."""

import os
import sys
import traceback
from pathlib import Path

if "MUTANT_NAME" in os.environ:
    sys.path.append(str(Path(__file__).parents[4]))
    try:
        from tests.promises.mutants.table import MUTANTS

        MUTANTS[os.environ["MUTANT_NAME"]].apply()
    except Exception:  # noqa: BLE001 - an error here is told and passed over unless we end
        traceback.print_exc()
        os._exit(70)
