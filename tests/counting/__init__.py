"""Which lines and branches of the program the tests run, counted at a tenth of the usual price.

A tracer is told of every line of every library and takes three times the processor time of the
tests themselves. Here the program's modules are compiled with a mark before each statement, which
takes a few nanoseconds; what was marked is written down in the form of ``coverage``, which reports.
"""
