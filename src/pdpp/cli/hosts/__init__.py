"""Agents' hosts: the programs that run an agent, and how to add this server to each."""
