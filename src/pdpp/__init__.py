"""A personal data server: one person's records, read by agents under grants."""

__version__ = "0.1.0"
