"""``python -m bundles [FOLDER]``: write every bundle, and pack the one that has a packer."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from bundles import contents

PACKER = contents.ROOT / "tests" / "hosts" / "node_modules" / ".bin" / "mcpb"


def write(path: Path, content: str | dict[str, Any]) -> None:
    """Write one file of a bundle."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
    path.write_text(text, encoding="utf-8")


def write_bundles(folder: Path) -> None:
    """Write the files of every bundle into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    desktop = folder / "claude-desktop"
    write(desktop / "manifest.json", contents.mcpb_manifest())
    write(desktop / "pyproject.toml", contents.mcpb_project())
    write(desktop / "server" / "main.py", contents.MCPB_MAIN)
    plugin = folder / "claude-code-plugin"
    write(plugin / ".claude-plugin" / "plugin.json", contents.plugin_manifest())
    write(plugin / "README.md", contents.PLUGIN_README)
    write(plugin / ".mcp.json", contents.plugin_servers())
    write(plugin / "skills" / "personal-data" / "SKILL.md", contents.SKILL)
    write(folder / "server.json", contents.registry_entry())
    write(folder / "links.md", contents.links_page())


def pack(folder: Path, packer: Path = PACKER) -> Path | None:
    """Validate and pack the bundle for Claude Desktop with the official packer, where it is."""
    if not packer.exists():
        return None
    target = folder / f"pdpp-{contents.project()['version']}.mcpb"
    source = folder / "claude-desktop"
    for action in (["validate", str(source / "manifest.json")], ["pack", str(source), str(target)]):
        subprocess.run([str(packer), *action], check=True)  # noqa: S603 - the pinned packer
    return target


def main() -> None:
    """Write the bundles and say where they are."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else contents.ROOT / "dist" / "bundles")
    write_bundles(folder)
    packed = pack(folder)
    without = "not packed: the packer comes with npm ci in tests/hosts"
    sys.stdout.write(f"Bundles are in {folder}; {packed or without}\n")


if __name__ == "__main__":
    main()
