"""The log of a server, one line each, as JSON for machines or as text for people."""

import json
import logging
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

from pdpp.evidence.fence import HIDDEN, visible

_QUIET = ("uvicorn", "asyncio")
_SECRET = re.compile(
    r"\b(pdpp_[a-z]+_|(?:brw_|code_|dev_|rev_|ses_|request_uri:)(?=[\w-]{43}(?![\w-])))[\w-]{16,}",
    re.ASCII,
)
"""Tokens, and by their exact length what lives for minutes or hours."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How much is logged and in which form."""

    level: str = "warning"
    form: str = "auto"
    access: bool = False


def configure_logging(options: LogOptions, stream: TextIO | None = None) -> None:
    """Send the log of this process to standard error, in the chosen form."""
    target = sys.stderr if stream is None else stream
    text = options.form == "text" or (options.form == "auto" and target.isatty())
    handler = logging.StreamHandler(target)
    handler.setFormatter(TextFormatter() if text else JsonFormatter())
    level = options.level.upper()
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("pdpp.access").setLevel("INFO" if options.access else "WARNING")
    for name in _QUIET:
        logging.getLogger(name).setLevel(level if level in ("DEBUG", "ERROR") else "WARNING")


class JsonFormatter(logging.Formatter):
    """Writes an entry as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_members(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        written = json.dumps(line, ensure_ascii=False, default=str)
        return _without_secrets(HIDDEN.sub(_escaped, written))


class TextFormatter(logging.Formatter):
    """Writes an entry as a line that nothing in it can end or forge, and a trace below it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        members = "".join(f" {name}={value}" for name, value in _members(record).items())
        line = f"{_time(record)} {record.levelname} {record.name}: {record.getMessage()}{members}"
        line = visible(line, lines=False)
        if record.exc_info:
            line += "\n" + visible(self.formatException(record.exc_info))
        return _without_secrets(line)


def _escaped(hidden: re.Match[str]) -> str:
    """Return a character as JSON may write it, where it steers a terminal or cannot be encoded."""
    code = ord(hidden[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else json.dumps(hidden[0])[1:-1]


def _members(record: logging.LogRecord) -> Mapping[str, Any]:
    """Return the members that an entry has beside its message."""
    members = getattr(record, "members", None)
    return members if isinstance(members, dict) else {}


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _without_secrets(line: str) -> str:
    """Return a line in which a secret of ours, should an error quote one, cannot be read."""
    return _SECRET.sub(r"\1…", line)
