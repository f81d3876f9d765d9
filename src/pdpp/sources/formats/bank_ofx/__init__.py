"""Bank statements as OFX or QFX files."""
