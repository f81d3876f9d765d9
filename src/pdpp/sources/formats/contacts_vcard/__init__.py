"""Contacts as vCard files."""
