"""The check of scenario markers, seen from a test run of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REFUSED = "test_it: a scenario marker takes one id from S001 to S100"
SCENARIOS = [f'scenario("S{number}")' for number in ["001", "010", "099", "100"]]
OTHERS = [
    'scenario("S000")',
    'scenario("S101")',
    'scenario("s001")',
    'scenario("S1")',
    'scenario("S001", "S002")',
    'scenario("S001", note="x")',
    "scenario",
]


def run_marked(folder: Path, markers: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    scenario(id): a promise\n")
    for number, marker in enumerate(markers):
        body = f"@pytest.mark.{marker}\ndef test_it() -> None:\n    pass\n"
        (folder / f"test_marked_{number}.py").write_text(f"import pytest\n\n\n{body}")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COV", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env=environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_markers_with_a_scenario_id_are_collected(tmp_path: Path) -> None:
    outcome = run_marked(tmp_path, SCENARIOS)
    assert outcome.returncode == pytest.ExitCode.OK, outcome.stdout
    assert f"{len(SCENARIOS)} passed" in outcome.stdout


def test_every_other_marker_stops_the_run(tmp_path: Path) -> None:
    outcome = run_marked(tmp_path, OTHERS)
    assert outcome.returncode != pytest.ExitCode.OK
    assert outcome.stdout.splitlines().count(REFUSED) == len(OTHERS)


def test_a_run_in_several_processes_stops_with_the_same_words(tmp_path: Path) -> None:
    outcome = run_marked(tmp_path, OTHERS[:1], "-p", "xdist", "-n", "1")
    assert outcome.returncode != pytest.ExitCode.OK
    assert REFUSED in outcome.stdout.splitlines()
