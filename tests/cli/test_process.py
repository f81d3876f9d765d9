"""The process of a server: that it is settled for many short answers."""

import json
import subprocess
import sys

_SETTLED = """
import gc, json, sys
from pdpp.serving.process import tune_process
tune_process()
print(json.dumps([sys.getswitchinterval(), gc.get_threshold()[0], gc.get_freeze_count()]))
"""


def test_a_server_gives_short_turns_to_its_threads_and_seldom_looks_for_cycles() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _SETTLED], capture_output=True, text=True, timeout=60, check=True
    )
    turn, round_of, frozen = json.loads(run.stdout)
    assert turn <= 0.001
    assert round_of >= 10_000
    assert frozen > 10_000
