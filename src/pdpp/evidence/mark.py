"""Marks: what stands around a match in a preview."""

OPEN, CLOSE = "<mark>", "</mark>"
