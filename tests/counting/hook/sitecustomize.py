"""Counts the lines of a program that a test starts."""

import os
import sys
from pathlib import Path

if os.environ.get("COVERAGE_FOLDER"):
    sys.path.append(str(Path(__file__).parents[3]))
    from tests.counting.importing import count_imports

    count_imports(Path(os.environ["COVERAGE_FOLDER"]))
