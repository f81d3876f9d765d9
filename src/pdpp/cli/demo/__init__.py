"""``pdpp demo``: a temporary server, an agent that reads from it, and what the agent sees."""
