"""Kinds of values: how a setting is read from text or from TOML, and written down again."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pdpp.model.instant import DAY, SECOND

Value = str | int | float | bool | tuple[str, ...] | Path | None

_FASTEST = 1_000_000
_LONGEST_NAME = 200
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._-]+)*/?\Z", re.ASCII)
_SWITCHES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_NUMBER = re.compile(r"-?\d{1,18}\Z", re.ASCII)
_SIZE = re.compile(r"(\d{1,12}) ?([KMGT]iB|B)?\Z", re.ASCII)
_SIZES = {None: 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SPAN = re.compile(r"(\d{1,6}) ?(ms|s|m|h|d|w)\Z", re.ASCII)
_SPANS = {
    "ms": SECOND // 1_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3_600 * SECOND,
    "d": DAY,
    "w": 7 * DAY,
}


@dataclass(frozen=True, slots=True)
class SettingKind:
    """What a setting takes: in words, from a value of the types TOML may give, and back to TOML."""

    taken: str
    metavar: str
    parse: Callable[[Any], Value]
    natives: tuple[type, ...] = (str,)
    write: Callable[[Any], str] = json.dumps
    """Spells a value in a way that is TOML and JSON."""
    secret: bool = False
    """Whether a value is shown to nobody."""

    def read_text(self, text: str) -> Value:
        """Return the value that text from a flag or the environment stands for."""
        try:
            return self.parse(text)
        except (ValueError, OverflowError):
            raise ValueError(self.refusal(text)) from None

    def read_native(self, given: object) -> Value:
        """Return the value that a value of a file stands for; its type must be right too."""
        if type(given) not in self.natives:
            raise ValueError(self.refusal(given))
        try:
            return self.parse(given)
        except (ValueError, OverflowError):
            raise ValueError(self.refusal(given)) from None

    def plain(self, value: Value) -> str:
        """Return a value as a flag or a variable takes it."""
        spelled = json.loads(self.write(value))
        if isinstance(spelled, list):
            return ",".join(spelled)
        return spelled if isinstance(spelled, str) else json.dumps(spelled)

    def refusal(self, given: object) -> str:
        """Say that something is no value of this kind, without repeating a password in it."""
        quoted = "this" if self.secret or "@" in str(given) else repr(given)
        return f"{quoted} is not {self.taken}"


def whole(least: int, most: int) -> SettingKind:
    """Return the kind of whole numbers in a range."""

    def parse(given: str | int) -> int:
        if isinstance(given, str) and not _NUMBER.match(given):
            raise ValueError
        number = int(given)
        if not least <= number <= most:
            raise ValueError
        return number

    return SettingKind(f"a whole number from {least:,} to {most:,}", "N", parse, (int,))


def choice(*names: str) -> SettingKind:
    """Return the kind of one of a few words."""

    def parse(given: str) -> str:
        if given not in names:
            raise ValueError
        return given

    return SettingKind(f"one of {', '.join(names)}", "|".join(names), parse)


def _parse_switch(given: str | bool) -> bool:
    if isinstance(given, bool):
        return given
    if given.lower() not in _SWITCHES:
        raise ValueError
    return _SWITCHES[given.lower()]


def rate(unit: str) -> SettingKind:
    """Return the kind of how often something may happen in a unit of time."""

    def parse(given: str | float) -> float:
        text = given.removesuffix(f"/{unit}") if isinstance(given, str) else given
        number = float(text)
        if not 0 <= number <= _FASTEST:
            raise ValueError
        return number

    return SettingKind(
        f"a rate such as 50/{unit}; 0 sets no limit",
        f"N/{unit}",
        parse,
        (str, int, float),
        lambda number: f'"{number:g}/{unit}"',
    )


def _parse_size(given: str | int) -> int:
    match = _SIZE.match(str(given))
    if match is None or not (size := int(match[1]) * _SIZES[match[2]]):
        raise ValueError
    return size


def _write_size(size: int) -> str:
    name, unit = max(
        ((name, unit) for name, unit in _SIZES.items() if name and size % unit == 0),
        key=lambda unit: unit[1],
    )
    return f'"{size // unit} {name}"'


def _parse_span(given: str | int) -> int:
    match = _SPAN.match(given if isinstance(given, str) else f"{given}s")
    if match is None or not (span := int(match[1]) * _SPANS[match[2]]):
        raise ValueError
    return span


def _write_span(span: int) -> str:
    name, unit = next(
        (name, unit) for name, unit in reversed(_SPANS.items()) if span % unit == 0 and name != "w"
    )
    return f'"{span // unit}{name}"'


def _parse_origin(given: str) -> str:
    parts = urlsplit(given)
    beyond = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in ("http", "https") or not parts.hostname or beyond:
        raise ValueError
    usual = parts.port == {"http": 80, "https": 443}[parts.scheme]
    host = parts.netloc.lower()
    return f"{parts.scheme}://{host.removesuffix(f':{parts.port}') if usual else host}"


def _parse_database(given: str) -> str:
    parts = urlsplit(given)
    # A port that is no number is a sign of a password with characters that were to be encoded.
    known = parts.scheme in ("postgresql", "postgres") and (parts.port is None or parts.port > 0)
    if not known or not given.isprintable() or parts.fragment:
        raise ValueError
    return given


def without_password(database: str) -> str:
    """Return the address of a database as it may be shown: without what opens it."""
    parts = urlsplit(database)
    account, at, place = parts.netloc.rpartition("@")
    user = account.partition(":")[0]
    options = [(name, value) for name, value in parse_qsl(parts.query) if "password" not in name]
    return urlunsplit((parts.scheme, f"{user}{at}{place}", parts.path, urlencode(options), ""))


def _parse_bucket(given: str) -> str:
    # A key in the address would be in every place that shows it.
    if not _BUCKET.match(given):
        raise ValueError
    return given.rstrip("/")


def _parse_endpoint(given: str) -> str:
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError
    if parts.query or parts.fragment or not given.isprintable():
        raise ValueError
    return given.rstrip("/")


def _parse_networks(given: str | list[Any]) -> tuple[str, ...]:
    names = given.split(",") if isinstance(given, str) else given
    if not all(isinstance(name, str) for name in names):
        raise ValueError
    return tuple(str(ip_network(name.strip(), strict=False)) for name in names if name.strip())


def _parse_witness(text: str) -> str:
    if not text.startswith("https://") and not Path(text).is_absolute():
        raise ValueError("name a file with its whole path, or an https address")
    return text


def _parse_folder(given: str) -> Path:
    if not given:
        raise ValueError
    return Path(given).expanduser()


def _parse_host(given: str) -> str:
    if not given or not given.isprintable() or len(given) > 253:
        raise ValueError
    return given


def _parse_name(given: str) -> str:
    if not given or not given.isprintable() or len(given) > _LONGEST_NAME:
        raise ValueError
    return given


SWITCH = SettingKind("true or false", "true|false", _parse_switch, (bool,))
RATE = rate("s")
SIZE = SettingKind("a size such as 64 MiB", "SIZE", _parse_size, (str, int), _write_size)
SPAN = SettingKind(
    "a time such as 90s, 30m, 12h or 90d", "TIME", _parse_span, (str, int), _write_span
)
WITNESS = SettingKind("a file with its whole path, or an https address", "FILE|URL", _parse_witness)
ORIGIN = SettingKind("an address such as https://data.example.org", "URL", _parse_origin)
DATABASE = SettingKind(
    "the address of a PostgreSQL database such as postgresql://user@host/name",
    "URL",
    _parse_database,
    write=lambda database: json.dumps(without_password(database)),
)
BUCKET = SettingKind("a bucket such as s3://name/prefix, without a key in it", "URL", _parse_bucket)
ENDPOINT = SettingKind(
    "an address such as https://s3.example.org, without a key in it", "URL", _parse_endpoint
)
NETWORKS = SettingKind(
    "a list of addresses or networks such as 127.0.0.1, 10.0.0.0/8",
    "NETWORK,…",
    _parse_networks,
    (str, list),
    lambda names: json.dumps(list(names)),
)
FOLDER = SettingKind("a folder", "DIR", _parse_folder, write=lambda folder: json.dumps(str(folder)))
NAME = SettingKind("a name of 1 to 200 characters", "NAME", _parse_name)
SECRET = SettingKind(
    "a secret of 1 to 200 characters",
    "SECRET",
    _parse_name,
    write=lambda _: json.dumps("(not shown)"),
    secret=True,
)
HOST = SettingKind("the name or address of a network interface", "ADDRESS", _parse_host)
