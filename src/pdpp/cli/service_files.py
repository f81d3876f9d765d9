"""Service files: what each operating system takes to start the server when its owner logs in."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from xml.sax.saxutils import escape

NAME = "pdpp"
LABEL = "dev.pdpp.server"
"""What launchd knows the service by."""


class ServiceFile(NamedTuple):
    """The file of a service, the commands that begin, ask after and end it, and where it logs."""

    path: Path
    content: str
    start: tuple[tuple[str, ...], ...]
    status: tuple[str, ...]
    stop: tuple[tuple[str, ...], ...]
    logs: str


def systemd(command: Sequence[str], home: Path) -> ServiceFile:
    """Return a systemd user unit."""
    line = " ".join(_systemd_word(word) for word in command)
    content = f"""[Unit]
Description=PDPP personal data server
After=network.target

[Service]
ExecStart={line}
Restart=on-failure
RestartSec=5
UMask=0077
NoNewPrivileges=true

[Install]
WantedBy=default.target
"""
    control = ("systemctl", "--user")
    return ServiceFile(
        home / ".config" / "systemd" / "user" / f"{NAME}.service",
        content,
        ((*control, "daemon-reload"), (*control, "enable", "--now", f"{NAME}.service")),
        (*control, "--no-pager", "status", f"{NAME}.service"),
        ((*control, "disable", "--now", f"{NAME}.service"),),
        f"journalctl --user -u {NAME}",
    )


def _systemd_word(word: str) -> str:
    """Return a word as a unit file takes it: quoted, without what systemd would replace."""
    quoted = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{quoted}"' if any(c.isspace() or c in "\"'\\;" for c in word) else quoted


def launchd(command: Sequence[str], home: Path) -> ServiceFile:
    """Return a launchd agent of this user."""
    path = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    log = home / "Library" / "Logs" / "pdpp.log"
    words = "\n".join(f"    <string>{escape(word)}</string>" for word in command)
    content = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{words}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardErrorPath</key>
  <string>{escape(str(log))}</string>
  <key>StandardOutPath</key>
  <string>{escape(str(log))}</string>
</dict>
</plist>
"""
    return ServiceFile(
        path,
        content,
        (("launchctl", "load", "-w", str(path)),),
        ("launchctl", "list", LABEL),
        (("launchctl", "unload", "-w", str(path)),),
        str(log),
    )


def windows_task(command: Sequence[str], home: Path) -> ServiceFile:
    """Return a task of the Windows scheduler that runs when the user logs on."""
    from subprocess import list2cmdline

    program, *arguments = command
    path = home / "AppData" / "Local" / "pdpp" / "pdpp-task.xml"
    content = f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>PDPP personal data server</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>3</Count>
    </RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>{escape(program)}</Command>
      <Arguments>{escape(list2cmdline(arguments))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
    task = ("/TN", NAME)
    return ServiceFile(
        path,
        content,
        (
            ("schtasks", "/Create", "/F", *task, "/XML", str(path)),
            ("schtasks", "/Run", *task),
        ),
        ("schtasks", "/Query", *task),
        (("schtasks", "/End", *task), ("schtasks", "/Delete", "/F", *task)),
        "the Task Scheduler",
    )


SYSTEMS: Mapping[str, Callable[[Sequence[str], Path], ServiceFile]] = MappingProxyType(
    {"linux": systemd, "darwin": launchd, "win32": windows_task}
)


def service_file(command: Sequence[str], home: Path, platform: str = sys.platform) -> ServiceFile:
    """Return the service of this platform that runs a command at login."""
    make = SYSTEMS.get(platform)
    if make is None:
        known = ", ".join(json.dumps(name) for name in SYSTEMS)
        raise ValueError(f"services are made on {known}, not on {platform!r}")
    return make(command, home)
