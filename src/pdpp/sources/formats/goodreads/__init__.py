"""Goodreads: the books of your shelves."""
