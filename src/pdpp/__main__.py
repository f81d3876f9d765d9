"""The program, as ``python -m pdpp``."""

from pdpp.cli import main

if __name__ == "__main__":
    main()
