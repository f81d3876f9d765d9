"""Programs that tests start, forked from a process that has imported the program already.

Half a second of processor time is gone before a command opens a store, nearly all of it for
imports, and the tests start the program hundreds of times. What is forked is a process of its own
with its own arguments, environment, folder and streams; signals, exit codes and locks are real.
"""
