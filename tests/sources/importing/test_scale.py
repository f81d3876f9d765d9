"""Large exports in little memory: 30,000 messages always, a million in a soak."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.exports import chatgpt, claude_code
from tests.cli.shell import environment
from tests.soak import SOAK
from tests.sources.kit import Home

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read the Linux way"),
]

MANY, MEGABYTES = (1_000_000, 300) if SOAK else (30_000, 240)
"""Of both processes. Few messages are allowed less: an import that held them all would take 300."""

DEADLINE_SECONDS = 1_800

MEASURED = (
    "import re, resource, sys\n"
    "from pathlib import Path\n"
    "from pdpp.cli.program import run\n"
    "code = run(sys.argv[1:])\n"
    "status = Path('/proc/self/status').read_text()\n"
    "own = int(re.search(r'VmHWM:\\s+(\\d+)', status)[1])\n"
    "beside = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
    "print((own + beside) // 1024, file=sys.stderr)\n"
    "sys.exit(code)\n"
)


def bring(path: Path, home: Home) -> tuple[dict[str, Any], int]:
    """Import a path in a process of its own; return the report and its megabytes at the most."""
    where = ["--data", str(home.data)]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "import", str(path), "--yes", "--json", *where],
        capture_output=True,
        env={k: v for k, v in environment().items() if not k.startswith("COV")},
        timeout=DEADLINE_SECONDS,
        check=True,
    )
    return json.loads(done.stdout), int(done.stderr)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of very many messages."""
    return claude_code(tmp_path_factory.mktemp("log"), MANY)


def test_very_many_messages_are_imported_in_little_memory(log: Path, tmp_path: Path) -> None:
    report, megabytes = bring(log, Home(tmp_path / "data"))
    assert report["counts"]["new"] == MANY + 1
    assert megabytes < MEGABYTES


def test_one_large_document_is_imported_in_little_memory(tmp_path: Path) -> None:
    path = chatgpt(tmp_path, MANY // 5)
    assert path.stat().st_size > MANY * 100
    report, megabytes = bring(path, Home(tmp_path / "data"))
    assert report["counts"]["new"] == MANY // 5 + MANY // 100
    assert megabytes < MEGABYTES
