"""Encryption at rest: the key of a store, how it is kept, and files that only it opens."""
