"""Measures the server: how fast, how big, and against what a bare server could do at best."""
