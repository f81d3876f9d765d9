"""Notes as Markdown files."""
