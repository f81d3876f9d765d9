"""The program, as ``python -m pdpp``."""

from pdpp.cli import main

main()
