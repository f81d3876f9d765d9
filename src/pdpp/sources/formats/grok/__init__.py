"""Grok exports."""
