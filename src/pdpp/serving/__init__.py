"""Serving: the process of a server, its workers, its data folder, and its care for slow clients."""

COLLECTOR_ROUNDS = (50_000, 20, 20)
"""When the garbage collector looks for cycles: starting, and reading or writing records, makes many
objects that drop by themselves, so that a round as often as usual finds nothing."""
