"""The benchmark of growth alone, between two sizes: what the same answers cost in a larger store.

A store of 10,000,000 records takes half an hour to fill and 15 GB. It stays for the next run.
"""

import argparse
from pathlib import Path

from bench.measures import growth, taking_turns
from bench.report import table, taken, tell
from bench.stock import open_stock


def main() -> None:
    """Fill both stores and print how much more the larger one costs."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000, help="records of the larger")
    parser.add_argument("--small", type=int, default=1_000_000, help="records of the smaller")
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where stores are kept")
    parser.add_argument("--rounds", type=int, default=9, help="how often each measure is taken")
    chosen = parser.parse_args()
    small, stock = (
        open_stock(chosen.folder, size, fresh=False, say=tell)
        for size in (chosen.small, chosen.records)
    )
    with taking_turns(stock, small, chosen.rounds) as bench:
        print(table(taken(growth(bench))))


if __name__ == "__main__":
    main()
