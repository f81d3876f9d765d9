"""The guided walk of ``pdpp demo``: a throw-away server, an agent, and what it gets to see."""
