"""Browser history."""
