"""Facebook."""
