"""The first promise as a small model: what a grant shows of a world, and what that answers."""
