"""The ``pdpp`` program."""

import gc
import os
import sys

from pdpp.serving import COLLECTOR_ROUNDS

_COMMANDS = {"config", "install", "uninstall", "-h", "--help"}
"""What ``pdpp mcp`` does beside serving an agent, which begins as fast as it can."""


def main() -> None:
    """Run the program on this process's arguments and leave with its exit code."""
    _open_closed_streams()
    arguments = sys.argv[1:]
    try:
        gc.set_threshold(*COLLECTOR_ROUNDS)
        if arguments[:1] == ["mcp"] and not _COMMANDS & set(arguments):
            from pdpp.cli.stdio import serve_stdio

            code = serve_stdio(arguments[1:])
        else:
            from pdpp.cli.program import run

            code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    if arguments[:1] == ["read"]:
        _leave_at_once(code)
    sys.exit(code)


def _open_closed_streams() -> None:
    """Read nothing, and write nowhere, where the program was started with closed streams.

    A file that is opened later would otherwise take the number of a stream, and be written into.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _leave_at_once(code: int) -> None:
    """Leave without taking the interpreter apart, which takes as long as a read does.

    A read keeps nothing that is written at the end; what it printed is out before it leaves.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return
    os._exit(code)
