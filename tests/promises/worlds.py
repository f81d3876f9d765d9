"""How many worlds are made: three hundred in every run, five thousand in a soak."""

from tests.promises.sights import SIGHTS
from tests.soak import SOAK

WORLDS = 5_000 if SOAK else 300
WORLDS_OF_EACH = WORLDS // (2 * len(SIGHTS))
"""For each sight, once as a grant and once as a package."""
