"""What encryption costs: the same requests to the same records, plain and encrypted.

The stores are larger than what a connection holds in memory, and the requests go to places all
over them, so that pages are read and decrypted again and again.
"""

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from bench.client import get
from bench.declaration import moment, source, stream, text
from bench.measures import cost
from bench.process import serving
from bench.report import Row, print_alone
from bench.stock import grant_token
from bench.timing import Target, compare
from pdpp.authz.selection import Selection
from pdpp.encryption.data_key import DataKey
from pdpp.encryption.key_file import KeyFile
from pdpp.encryption.unlocking import PASSPHRASE_VARIABLE
from pdpp.model import instant
from pdpp.model.validation import parse_declaration
from pdpp.private import make_folder
from pdpp.store.batch import Line
from pdpp.store.sqlite.store import SqliteStore

GOAL = 1.3
_MOST = 100_000
_BATCH = 5_000
_PLACES = 200
_DAYS = 3_000
_FIRST_DAY = 17_532 * instant.DAY
"""2018-01-01."""
_PASSPHRASE = "measured and thrown away"  # noqa: S105 - of a store that is thrown away


def encrypted_rows(records: int, rounds: int) -> Iterator[Row]:
    """Yield what an encrypted store costs against a plain one."""
    count = min(_MOST, records)
    with TemporaryDirectory() as folder, ExitStack() as stack:
        plain, encrypted = Path(folder) / "plain", Path(folder) / "encrypted"
        tokens = {
            "plain": _fill(plain, None, count),
            "encrypted": _fill(encrypted, _key(encrypted), count),
        }
        yield Row(
            "encrypted store: write 1,000 records",
            tokens["encrypted"][1] / tokens["plain"][1],
            "×",
            GOAL,
            f"{tokens['encrypted'][1] * 1e3:.0f} ms; plain {tokens['plain'][1] * 1e3:.0f} ms",
        )
        os.environ[PASSPHRASE_VARIABLE] = _PASSPHRASE
        try:
            servers = {
                place.name: stack.enter_context(serving("product", place))
                for place in (plain, encrypted)
            }
        finally:
            del os.environ[PASSPHRASE_VARIABLE]
        for what in _requests("", count):
            targets = {
                name: Target(server, _requests(tokens[name][0], count)[what])
                for name, server in servers.items()
            }
            found = compare(targets, rounds)
            note = f"{cost(found['encrypted'])}; plain {cost(found['plain'])}"
            ratio = found["encrypted"].ratio(found["plain"])
            yield Row(f"encrypted store: {what}", ratio, "×", GOAL, note)


def _requests(token: str, count: int) -> dict[str, list[bytes]]:
    places = random.Random(7)
    days = [places.randrange(_DAYS) for _ in range(_PLACES)]
    page = "/v1/streams/letters/records?limit=25&filter%5Bsent_at%5D%5Blt%5D="
    return {
        "page of 25": [get(page + _day(day), token) for day in days],
        "one record": [
            get(f"/v1/streams/letters/records/letter-{day % count}", token) for day in days
        ],
        "search for a word": [get(f"/v1/search?q=word{day % 400}", token) for day in days],
    }


def _key(folder: Path) -> DataKey:
    key = DataKey.new()
    make_folder(folder)
    KeyFile.seal(key, _PASSPHRASE).write(folder)
    return key


def _fill(folder: Path, key: DataKey | None, count: int) -> tuple[str, float]:
    """Fill a store; return a token for it, and the processor time that 1,000 records took."""
    store = SqliteStore(folder, key=key)
    fields = {
        "id": text("The key"),
        "title": text("What it is about", "primary-title", search=True),
        "body": text("What it says", "body", search=True),
        "sent_at": moment("When it was sent", "event-time"),
    }
    letters = stream("letters", "Letters", "Letters sent", fields, time="sent_at")
    store.register(parse_declaration(source("letters", "Letters", [letters])))
    store.connect("home", "letters", "Home")
    feed = store.catalogue().feeds["home", "letters"]
    words, used = random.Random(11), 0.0
    for start in range(0, count, _BATCH):
        lines = [_line(at, words) for at in range(start, min(start + _BATCH, count))]
        before = process_time()
        store.write(feed, lines)
        used += process_time() - before
    while store.tend():
        pass
    token = grant_token(store, Selection())
    store.close()
    return token, used / count * 1_000


def _line(number: int, words: random.Random) -> Line:
    key = f"letter-{number}"
    said = " ".join(f"word{words.randrange(4_000)}" for _ in range(150))
    sent_at = _day(words.randrange(_DAYS))
    data = {"id": key, "title": said[:60], "body": said, "sent_at": sent_at}
    return Line(number, key, instant.now(), data)


def _day(number: int) -> str:
    return instant.to_text(_FIRST_DAY + number * instant.DAY)


if __name__ == "__main__":
    print_alone("bench.encrypted", __doc__, encrypted_rows, records=20_000)
