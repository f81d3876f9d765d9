"""The table of hosts: what each takes to know a server, and the command of its own that adds it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pdpp.cli.hosts.launch import NAME, Launch

Entry = Callable[[Launch], dict[str, Any]]
Write = Callable[[dict[str, Any]], str]
Command = Callable[[Launch], list[str]]


@dataclass(frozen=True, slots=True)
class AgentHost:
    """One program that runs agents.

    ``where`` is the file that the block goes into, ``entry`` what the file says of one server and
    ``members`` the names above it. ``remote`` says whether the host takes an address, ``added_to``
    which file its own command writes where that is another one.
    """

    label: str
    where: str
    entry: Entry
    members: tuple[str, ...] = ("mcpServers",)
    write: Write = lambda document: json.dumps(document, indent=2)
    remote: bool = True
    fixed: tuple[tuple[str, Any], ...] = ()
    add: Command | None = None
    remove: tuple[str, ...] = ()
    added_to: str | None = None

    def block(self, launch: Launch) -> str:
        """Return what is pasted into the file, whole."""
        document: dict[str, Any] = {NAME: self.entry(launch)}
        for member in reversed(self.members):
            document = {member: document}
        return self.write({**dict(self.fixed), **document})


def _plain(launch: Launch) -> dict[str, Any]:
    if launch.url is not None:
        return {"url": launch.url}
    return {"command": launch.program, "args": launch.arguments}


def _typed(launch: Launch) -> dict[str, Any]:
    return {"type": "stdio" if launch.url is None else "http", **_plain(launch)}


def _gemini(launch: Launch) -> dict[str, Any]:
    return _plain(launch) if launch.url is None else {"httpUrl": launch.url}


def _opencode(launch: Launch) -> dict[str, Any]:
    if launch.url is not None:
        return {"type": "remote", "url": launch.url, "enabled": True}
    return {"type": "local", "command": list(launch.command), "enabled": True}


def _copilot(launch: Launch) -> dict[str, Any]:
    kind = "local" if launch.url is None else "http"
    return {"type": kind, **_plain(launch), "tools": ["*"]}


def _zed(launch: Launch) -> dict[str, Any]:
    return _plain(launch) if launch.url is not None else {"source": "custom", **_plain(launch)}


def _goose(launch: Launch) -> dict[str, Any]:
    common = {"name": NAME, "enabled": True, "timeout": 300}
    if launch.url is not None:
        return {**common, "type": "streamable_http", "uri": launch.url}
    return {**common, "type": "stdio", "cmd": launch.program, "args": launch.arguments}


def _continue(launch: Launch) -> dict[str, Any]:
    if launch.url is not None:
        return {"name": NAME, "type": "streamable-http", "url": launch.url}
    return {"name": NAME, **_plain(launch)}


def _toml(document: dict[str, Any]) -> str:
    """Return Codex's table; strings and lists of strings are written alike in TOML and JSON."""
    [(section, servers)] = document.items()
    [(name, entry)] = servers.items()
    lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
    return "\n".join([f"[{section}.{name}]", *lines])


def _yaml(document: dict[str, Any]) -> str:
    """Return YAML in blocks; every scalar and list is written as JSON, which is YAML too."""
    return "\n".join(_yaml_lines(document, ""))


def _yaml_lines(document: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for name, value in document.items():
        if isinstance(value, dict):
            lines += [f"{indent}{name}:", *_yaml_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {json.dumps(value)}")
    return lines


def _yaml_list(document: dict[str, Any]) -> str:
    """Return Continue's file, in which the servers are a list."""
    rest = {name: value for name, value in document.items() if name != "mcpServers"}
    first, *others = _yaml_lines(document["mcpServers"][NAME], "    ")
    head = _yaml_lines(rest, "")
    return "\n".join([*head, "mcpServers:", f"  - {first.strip()}", *others])


def _claude_add(launch: Launch) -> list[str]:
    # Without the user scope the server is known in one folder only.
    start = ["claude", "mcp", "add", "--scope", "user"]
    if launch.url is not None:
        return [*start, "--transport", "http", NAME, launch.url]
    return [*start, NAME, "--", *launch.command]


def _codex_add(launch: Launch) -> list[str]:
    if launch.url is not None:
        return ["codex", "mcp", "add", NAME, "--url", launch.url]
    return ["codex", "mcp", "add", NAME, "--", *launch.command]


def _gemini_add(program: str) -> Command:
    def add(launch: Launch) -> list[str]:
        start = [program, "mcp", "add", "-s", "user"]
        if launch.url is not None:
            return [*start, "-t", "http", NAME, launch.url]
        return [*start, NAME, *launch.command]

    return add


def _copilot_add(launch: Launch) -> list[str]:
    if launch.url is not None:
        return ["copilot", "mcp", "add", "--transport", "http", NAME, launch.url]
    return ["copilot", "mcp", "add", NAME, "--", *launch.command]


def _vscode_add(launch: Launch) -> list[str]:
    return ["code", "--add-mcp", json.dumps({"name": NAME, **_typed(launch)})]


HOSTS: Mapping[str, AgentHost] = MappingProxyType(
    {
        "claude-code": AgentHost(
            "Claude Code",
            ".mcp.json in a project, or the same member of ~/.claude.json",
            _typed,
            add=_claude_add,
            remove=("claude", "mcp", "remove", "--scope", "user", NAME),
        ),
        "claude-desktop": AgentHost(
            "Claude Desktop",
            "claude_desktop_config.json (Settings, Developer, Edit Config)",
            _plain,
            remote=False,
        ),
        "codex": AgentHost(
            "Codex",
            "~/.codex/config.toml",
            _plain,
            members=("mcp_servers",),
            write=_toml,
            add=_codex_add,
            remove=("codex", "mcp", "remove", NAME),
        ),
        "gemini-cli": AgentHost(
            "Gemini CLI",
            "~/.gemini/settings.json",
            _gemini,
            add=_gemini_add("gemini"),
            remove=("gemini", "mcp", "remove", "-s", "user", NAME),
        ),
        "cursor": AgentHost("Cursor", "~/.cursor/mcp.json", _plain),
        "vscode": AgentHost(
            "VS Code",
            ".vscode/mcp.json",
            _typed,
            members=("servers",),
            add=_vscode_add,
            # Its own command adds to the profile of the user, not to a folder.
            added_to="the user's mcp.json (command MCP: Open User Configuration)",
        ),
        "opencode": AgentHost(
            "opencode",
            "~/.config/opencode/opencode.json",
            _opencode,
            members=("mcp",),
            fixed=(("$schema", "https://opencode.ai/config.json"),),
        ),
        "copilot-cli": AgentHost(
            "Copilot CLI",
            "~/.copilot/mcp-config.json",
            _copilot,
            add=_copilot_add,
            remove=("copilot", "mcp", "remove", NAME),
        ),
        "qwen-code": AgentHost(
            "Qwen Code",
            "~/.qwen/settings.json",
            _gemini,
            add=_gemini_add("qwen"),
            remove=("qwen", "mcp", "remove", "-s", "user", NAME),
        ),
        "continue": AgentHost(
            "Continue",
            "~/.continue/mcpServers/pdpp.yaml",
            _continue,
            write=_yaml_list,
            fixed=(("name", NAME), ("version", "0.0.1"), ("schema", "v1")),
        ),
        "zed": AgentHost("Zed", "~/.config/zed/settings.json", _zed, members=("context_servers",)),
        "goose": AgentHost(
            "Goose",
            "~/.config/goose/config.yaml",
            _goose,
            members=("extensions",),
            write=_yaml,
        ),
        "json": AgentHost("any client that takes JSON", "the client's own file", _plain),
    }
)
