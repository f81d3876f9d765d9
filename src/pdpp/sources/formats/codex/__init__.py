"""Logs of Codex."""
