"""Google activity."""
