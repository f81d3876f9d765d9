"""``pdpp read``: what a person reads of what a grant opens."""
