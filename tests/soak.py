"""Soaks: whether a run attacks for long, as ``make soak`` does, or only as long as tests may."""

import os

SOAK = os.environ.get("PDPP_SOAK") == "1"
