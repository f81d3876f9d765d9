"""Logs of Claude Code."""
