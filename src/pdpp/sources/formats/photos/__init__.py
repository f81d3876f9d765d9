"""Photos in folders, by what they say of themselves."""
