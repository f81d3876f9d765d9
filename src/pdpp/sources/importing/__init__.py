"""Importing: recognise an export, read it, write its records, report, and remember."""
