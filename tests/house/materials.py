"""The bill of materials: every package that a running server stands on, as CycloneDX.

It is made from the pins and from what the installed packages say about themselves, so that it
cannot name anything that `requirements/run.txt` does not. The hashes of their files are there.
"""

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import Any

import pdpp

ROOT = Path(__file__).parents[2]
PINS = ROOT / "requirements" / "run.txt"
BILL = ROOT / "requirements" / "sbom.json"

_PIN = re.compile(r"^([a-z0-9._-]+)==([^\s;]+)", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SERVER = "pdpp-server"


def bill() -> str:
    """Return the bill as the text of its file."""
    pins = _pins()
    made = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _server()},
        "components": [_component(*pin) for pin in pins.items()],
        "dependencies": [
            {"ref": _SERVER, "dependsOn": _direct()},
            *({"ref": name, "dependsOn": _needs(name, pins)} for name in pins),
        ],
    }
    return json.dumps(made, indent=1) + "\n"


def _pins() -> dict[str, str]:
    return dict(_PIN.findall(PINS.read_text()))


def _server() -> dict[str, Any]:
    return {
        "type": "application",
        "bom-ref": _SERVER,
        "name": _SERVER,
        "version": pdpp.__version__,
        "licenses": [{"expression": "Apache-2.0"}],
    }


def _component(name: str, version: str) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": _licences(name),
    }


def _licences(name: str) -> list[dict[str, Any]]:
    """Return what a package says its licence is, in the order of how exactly it says it."""
    try:
        told = metadata(name).json
    except PackageNotFoundError:  # pinned for another platform
        return []
    if expression := told.get("license_expression"):
        return [{"expression": expression}]
    kinds = [line for line in told.get("classifier", []) if line.startswith("License :: ")]
    named = [str(kind).rpartition(" :: ")[2] for kind in kinds] or [str(told.get("license", ""))]
    return [{"license": {"name": name}} for name in named if name]


def _direct() -> list[str]:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return sorted(_canonical(entry) for entry in told["project"]["dependencies"])


def _needs(name: str, pinned: dict[str, str]) -> list[str]:
    try:
        entries = requires(name) or []
    except PackageNotFoundError:
        return []
    return sorted(
        {_canonical(entry) for entry in entries if "extra ==" not in entry} & pinned.keys()
    )


def _canonical(entry: str) -> str:
    found = _NAME.match(entry)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()
