"""``pdpp export``: records and files saved elsewhere, checked and resumable."""
