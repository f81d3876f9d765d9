"""The ``pdpp`` program."""

import sys


def main() -> None:
    """Run the program on this process's arguments and leave with its exit code."""
    try:
        from pdpp.cli.program import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
