"""Calendars as ICS files."""
