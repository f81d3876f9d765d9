"""The names of the streams, asked for once however many clients' requests want them."""

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, cast

from pdpp.mcp.reading.network import NamesInTime
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.stream_name import StreamName


class Asked:
    """A reader that counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0

    async def stream_names(self) -> Sequence[StreamName]:
        self.times += 1
        return ()


def test_requests_at_one_time_ask_once_and_none_fails() -> None:
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            for _ in range(100):
                asked, together = Asked(), Barrier(8)
                names = NamesInTime(cast("GrantReader", cast("Any", asked)))

                def ask(names: NamesInTime = names, together: Barrier = together) -> object:
                    together.wait()
                    return names()

                answers = [threads.submit(ask) for _ in range(8)]
                assert [tuple(cast("Any", done.result())) for done in answers] == [()] * 8
                assert asked.times == 1
    finally:
        sys.setswitchinterval(switch)
