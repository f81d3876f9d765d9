"""Agents' hosts: the programs that run an agent, and how each is told of this server."""
