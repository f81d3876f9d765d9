"""Slack exports."""
