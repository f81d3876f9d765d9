"""The process of a server: that it is settled for many short answers."""

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

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


_MANY_THREADS = """
import ctypes, sys, threading
from pdpp.serving.process import tune_process
tune_process()
together = threading.Barrier(5)
def take() -> None:
    together.wait()
    kept = [bytearray(100_000) for _ in range(20)]
    together.wait()
threads = [threading.Thread(target=take) for _ in range(4)]
for thread in threads:
    thread.start()
together.wait()
together.wait()
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(library.fopen(sys.argv[1].encode(), b"w"))
library.malloc_info(0, file)
library.fclose(file)
"""


@pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(ctypes.CDLL(None), "malloc_info"),
    reason="another C library does not tell its pools",
)
def test_what_a_thread_of_a_server_gives_back_is_there_for_all_threads(tmp_path: Path) -> None:
    file = tmp_path / "pools.xml"
    command = [sys.executable, "-c", _MANY_THREADS, str(file)]
    subprocess.run(command, timeout=60, check=True)
    assert file.read_text().count("<heap nr=") == 1


_TAKEN_AGAIN = """
import sys
from resource import RUSAGE_SELF, getrusage
from pdpp.serving.memory import keep_memory
if sys.argv[1] == "keeps":
    keep_memory()
for _ in range(50):
    bytearray(8_000_000)
before = getrusage(RUSAGE_SELF).ru_minflt
for size in range(6, 31, 2):
    bytearray(size * 1_000_000)
print(getrusage(RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(ctypes.CDLL(None), "malloc_info"),
    reason="another C library gives memory back as it likes",
)
def test_a_program_that_imports_takes_memory_again_that_it_had() -> None:
    """A page that comes from the system anew is a fault."""

    def faults(how: str) -> int:
        command = [sys.executable, "-c", _TAKEN_AGAIN, how]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return int(run.stdout)

    assert 3 * faults("keeps") < faults("as usual")
