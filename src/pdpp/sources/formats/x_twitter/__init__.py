"""X (Twitter)."""
