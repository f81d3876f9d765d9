"""Kindle: what was marked and noted in books."""
