"""``pdpp read``: the commands with which a person reads what a grant opens."""
