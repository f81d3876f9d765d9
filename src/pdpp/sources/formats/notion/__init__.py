"""The export of Notion."""
