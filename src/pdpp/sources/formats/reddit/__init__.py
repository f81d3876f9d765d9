"""Reddit."""
