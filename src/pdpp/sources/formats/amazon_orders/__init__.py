"""Amazon: what was ordered."""
