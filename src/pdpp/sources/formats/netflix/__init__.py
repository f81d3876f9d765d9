"""Netflix: what was watched."""
