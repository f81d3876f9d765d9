"""A process that dances on and on until somebody kills it; each token is told once it was given.

It is started as ``python -m tests.oauth.killed FOLDER`` and writes lines of JSON: a client, then
each pair of tokens as the server handed it out.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.oauth.dance import dancing


def tell(kind: str, told: dict[str, Any]) -> None:
    """Write a line at once."""
    sys.stdout.write(json.dumps({"kind": kind, **told}) + "\n")
    sys.stdout.flush()


def main(folder: Path) -> None:
    """Connect once, then refresh for ever."""
    with dancing(folder) as dance:
        party = dance.register()
        tell("client", {"client_id": party.client_id})
        tokens = dance.connect(party)
        while True:
            tell("tokens", tokens)
            tokens = dance.refresh(party, tokens["refresh_token"]).json()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
