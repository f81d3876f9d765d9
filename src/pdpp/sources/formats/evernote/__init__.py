"""Notebooks of Evernote."""
