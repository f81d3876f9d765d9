"""Telegram Desktop exports."""
