"""The export of Apple Health."""
