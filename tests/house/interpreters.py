"""Other Pythons of this machine, and the wheels that the built one needs on each.

``python -m tests.house.interpreters`` collects the wheels, as ``make test`` does; what is there
already is not asked for again.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINS = ROOT / "requirements" / "run.txt"
WHEELS = Path(sys.prefix) / "wheels"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""The versions that the wheel is tried on, each where it is installed."""


def wheels_for(version: str) -> Path:
    """Return the folder for the wheels of a version; its name changes with the pinned packages."""
    pins = hashlib.sha256(PINS.read_bytes()).hexdigest()[:12]
    return WHEELS.with_name(f"wheels-{version}-{pins}")


def other_interpreters() -> dict[str, Path]:
    """Return a Python of each version that works here and is not the one of these tests."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    places = {version: _interpreter(version) for version in VERSIONS if version != own}
    return {version: place for version, place in places.items() if place is not None}


def _interpreter(version: str) -> Path | None:
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [str(path) for path in sorted(kept.glob(f"{version}.*/bin/python"))]
    places += filter(None, [shutil.which(f"python{version}")])
    # A program of that name may only say that such a version is not chosen, and a Python of the
    # system may lack what makes environments.
    check = f"import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
    for place in places:
        command = [place, "-c", check]
        if not subprocess.run(command, check=False, capture_output=True).returncode:
            return Path(place)
    return None


def collect(version: str) -> None:
    """Download the wheels of a version, whole or not at all."""
    folder = wheels_for(version)
    if folder.is_dir():
        return
    print(f"Collecting what the wheel needs on Python {version}", flush=True)
    for old in WHEELS.parent.glob(f"wheels-{version}*"):
        shutil.rmtree(old)
    part = folder.with_name(f"part-{version}")
    shutil.rmtree(part, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--quiet"]
    chosen = ["--require-hashes", "--only-binary", ":all:", "--python-version", version]
    subprocess.run([*pip, *chosen, "-r", str(PINS), "-d", str(part)], check=True)
    part.rename(folder)


if __name__ == "__main__":
    for name in other_interpreters():
        collect(name)
