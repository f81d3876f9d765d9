"""The ``pdpp`` program."""

import sys


def main() -> None:
    """Run the program on this process's arguments and leave with its exit code."""
    arguments = sys.argv[1:]
    try:
        if arguments[:1] == ["mcp"] and not {"config", "-h", "--help"} & set(arguments):
            from pdpp.cli.stdio import serve_stdio

            code = serve_stdio(arguments[1:])
        else:
            from pdpp.cli.program import run

            code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
