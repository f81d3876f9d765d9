"""Bank statements as CSV tables."""
