"""Google Timeline."""
