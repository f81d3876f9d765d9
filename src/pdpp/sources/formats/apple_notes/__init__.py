"""The notes of a Mac or an iPhone."""
