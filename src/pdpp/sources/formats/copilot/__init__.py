"""GitHub Copilot."""
