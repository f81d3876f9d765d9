"""Google Keep."""
