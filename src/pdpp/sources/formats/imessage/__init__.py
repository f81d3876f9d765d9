"""iMessage and SMS of Apple."""
