"""How many pairs of worlds are made: 60 in every run, five thousand in a soak."""

import os

from tests.promises.sights import SIGHTS
from tests.soak import SOAK

_USUAL = 300 if "MUTANT_NAME" in os.environ else 60
"""The model looks at a thousand pairs in every run; a mutant must be caught by these alone."""

WORLDS = 5_000 if SOAK else _USUAL
WORLDS_OF_EACH = WORLDS // (2 * len(SIGHTS))
"""For each sight, once as a grant and once as a package."""
