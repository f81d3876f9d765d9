"""How many worlds are made: a thousand in every run, more in a soak."""

import os

from tests.promises.sights import SIGHTS

SOAK = os.environ.get("PDPP_SOAK") == "1"
WORLDS = 5_000 if SOAK else 1_000
WORLDS_OF_EACH = WORLDS // (2 * len(SIGHTS))
"""For each sight, once as a grant and once as a package."""
