"""SMS and calls of Android."""
