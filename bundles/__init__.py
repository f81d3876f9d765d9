"""Bundles: the server packed for the places where agents' hosts look for one.

``make bundles`` writes them to ``dist/bundles``; each starts ``pdpp mcp`` of the distribution
``pdpp-server``.
"""
