"""Tracks as GPX files."""
