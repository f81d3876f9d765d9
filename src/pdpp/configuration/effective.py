"""The effective settings: a file, then the environment, then flags, each over the one before."""

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.throttle import GuessPace
from pdpp.configuration.database import DatabaseAddress
from pdpp.configuration.kind import Value
from pdpp.configuration.setting import PREFIX, Setting
from pdpp.configuration.table import FILE_NAME, LIFETIMES, LIMITS, SETTINGS
from pdpp.model.errors import Misconfigured
from pdpp.model.instant import SECOND
from pdpp.receipts.recorder import ReceiptPolicy
from pdpp.service.settings import Settings
from pdpp.store.bucket import BucketAddress

CONFIG_VARIABLE = "PDPP_CONFIG"
DEFAULT = "default"

_BURST_SECONDS = 3
_PARTS = MappingProxyType({"receipts": ReceiptPolicy, "login": GuessPace, "all_logins": GuessPace})
"""Fields of ``Settings`` that are values of several settings each."""
_OF_BUCKET = ("blobs", "blobs_endpoint", "blobs_region", "blobs_key_id", "blobs_key_secret")
"""The settings of a bucket, in the order in which its address has them."""
_OTHER_VARIABLES = frozenset(
    {
        CONFIG_VARIABLE,
        "PDPP_CACHE_ROOT",
        "PDPP_PROVIDER_URL",
        "PDPP_STORE_PASSPHRASE",
        "PDPP_STORE_PASSPHRASE_FILE",
    }
)


class Chosen(NamedTuple):
    """The value of a setting and where it came from."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """Every setting with its value, the file that was read, and what a person should hear of."""

    chosen: Mapping[str, Chosen]
    file: Path | None
    remarks: tuple[str, ...]

    def __getitem__(self, name: str) -> Any:
        return self.chosen[name].value

    def database(self) -> DatabaseAddress | None:
        """Return the database that holds the records, None where a file does."""
        url = self["database"]
        bucket = _bucket(self)
        if url is None:
            if bucket is not None:
                raise Misconfigured("blobs names a bucket, which only a server with database uses")
            return None
        return DatabaseAddress(url, self["owner"], self["database_read"], self._read_lag(), bucket)

    def _read_lag(self) -> float:
        """Return how many seconds a replica may be behind, 0 where there is none."""
        lag: float = self["database_read_lag"] / SECOND
        return 0.0 if self["database_read"] is None else lag

    def settings(self, address: str) -> Settings:
        """Return the settings of the resource server that listens on an address."""
        limits = {setting.field or setting.name: self[setting.name] for setting in LIMITS}
        for name in ("inline_seconds", "read_seconds", "job_lease_seconds"):
            limits[name] /= SECOND
        for name, kind in _PARTS.items():
            own = [field for field in limits if field.startswith(f"{name}.")]
            limits[name] = kind(**{field.partition(".")[2]: limits.pop(field) for field in own})
        rate: float = self["rate_limit"]
        return Settings(
            origin=self["public_url"] or address,
            public=self["public_url"] is not None,
            trusted_proxies=self["trusted_proxy"],
            client_documents=self["client_documents"],
            lifetimes=self.lifetimes(),
            requests_per_second=rate,
            read_lag_seconds=self._read_lag(),
            request_burst=self["request_burst"] or max(1, ceil(rate * _BURST_SECONDS)),
            **limits,
        )

    def lifetimes(self) -> Lifetimes:
        """Return the lifetimes of what the authorization server hands out."""
        lives = {
            setting.field or setting.name.removesuffix("_life"): self[setting.name]
            for setting in LIFETIMES
        }
        return Lifetimes(**lives)


def configure(
    flags: Mapping[str, Value], environment: Mapping[str, str], own_folder: Path
) -> Configuration:
    """Return what holds, from flags by setting, variables by name, and the file they lead to.

    ``flags`` may hold ``config``, the file to read; unless it or PDPP_CONFIG says so, a file in
    the data folder is read where there is one.
    """
    variables = dict(_from_environment(environment))
    given = {
        name: Chosen(value, SETTINGS[name].option)
        for name, value in flags.items()
        if name != "config" and value is not None
    }
    over = variables | given
    path = flags.get("config") or environment.get(CONFIG_VARIABLE)
    if path:
        file: Path | None = Path(str(path)).expanduser()
    else:
        folder = over["data"].value if "data" in over else own_folder
        file = folder / FILE_NAME
        file = file if file.is_file() else None
    written = {} if file is None else dict(_from_file(file, own=not path))
    defaults = {name: Chosen(setting.default, DEFAULT) for name, setting in SETTINGS.items()}
    defaults["data"] = Chosen(own_folder, DEFAULT)
    return Configuration(defaults | written | over, file, tuple(_remarks(environment)))


def configured_database(folder: Path, environment: Mapping[str, str]) -> DatabaseAddress | None:
    """Return the database that holds the records of a data folder, None where none does.

    Looks at few settings alone, so that a mistake in another one stops no command but the server.
    """
    values = _configured(folder, environment, ("database", "owner"))
    if values["database"] is None:
        return None
    bucket = configured_bucket(folder, environment)
    return DatabaseAddress(values["database"], values["owner"], bucket=bucket)


def configured_bucket(folder: Path, environment: Mapping[str, str]) -> BucketAddress | None:
    """Return the bucket that has the large blobs of a data folder, None where there is none."""
    return _bucket(_configured(folder, environment, _OF_BUCKET))


def _configured(
    folder: Path, environment: Mapping[str, str], names: Sequence[str]
) -> dict[str, Any]:
    """Return some settings, from the environment or the file of a data folder."""
    path = Path(environment.get(CONFIG_VARIABLE) or folder / FILE_NAME).expanduser()
    text = _text(path) if path.is_file() else ""
    document = _document(path, text)
    values = {}
    for setting in (SETTINGS[name] for name in names):
        chosen = _from_variable(setting, environment)
        if chosen is not None:
            values[setting.name] = chosen.value
        elif setting.name in document:
            where = f"{path}, line {_line(text, setting.name)}"
            values[setting.name] = _read(setting, document[setting.name], where, path.parent)
        else:
            values[setting.name] = setting.default
    return values


def _bucket(values: "Mapping[str, Any] | Configuration") -> BucketAddress | None:
    address = values["blobs"]
    if address is None:
        return None
    name, _, prefix = address.removeprefix("s3://").partition("/")
    return BucketAddress(name, prefix, *(values[option] for option in _OF_BUCKET[1:]))


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Chosen]]:
    for setting in SETTINGS.values():
        chosen = _from_variable(setting, environment)
        if chosen is not None:
            yield setting.name, chosen


def _from_variable(setting: Setting, environment: Mapping[str, str]) -> Chosen | None:
    text = environment.get(setting.variable)
    if not text:
        return None
    try:
        return Chosen(setting.kind.read_text(text), setting.variable)
    except ValueError as problem:
        raise Misconfigured(f"{setting.variable}: {problem}") from None


def _remarks(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield what looks like a misspelt setting; other programs' variables are none of ours."""
    known = {setting.variable for setting in SETTINGS.values()} | _OTHER_VARIABLES
    for name in sorted(environment.keys() - known):
        if name.startswith(PREFIX) and (meant := nearest(name, known)):
            yield f"{name} is no setting and has no effect; did you mean {meant}?"


def nearest(name: str, known: Iterator[str] | set[str] | Mapping[str, Any]) -> str | None:
    """Return the name that somebody most likely meant."""
    return next(iter(difflib.get_close_matches(name, known, 1, cutoff=0.75)), None)


def _from_file(path: Path, *, own: bool) -> Iterator[tuple[str, Chosen]]:
    """Yield the settings of a file; one inside the data folder cannot say where that is."""
    text = _text(path)
    for name, given in _document(path, text).items():
        where = f"{path}, line {_line(text, name)}"
        setting = SETTINGS.get(name)
        if setting is None:
            raise Misconfigured(f"{where}: {_unknown(name, given)}")
        if own and name == "data":
            raise Misconfigured(f"{where}: a file in the data folder cannot move it; use --data")
        yield name, Chosen(_read(setting, given, where, path.parent), where)


def _document(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise Misconfigured(f"{path} is not TOML: {problem}") from None


def _read(setting: Setting, given: object, where: str, folder: Path) -> Value:
    try:
        value = setting.kind.read_native(given)
    except ValueError as problem:
        raise Misconfigured(f"{where}: {setting.name}: {problem}") from None
    return folder / value if isinstance(value, Path) else value


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Misconfigured(f"{path} is not UTF-8") from None
    except OSError as problem:
        raise Misconfigured(f"cannot read {path}: {(problem.strerror or '').lower()}") from None


def _unknown(name: str, given: object) -> str:
    if isinstance(given, dict):
        return f"{name!r} is a table; settings stand alone, outside any table"
    meant = nearest(name, SETTINGS)
    hint = f"did you mean {meant!r}?" if meant else "pdpp config show lists them"
    return f"there is no setting {name!r}; {hint}"


def _line(text: str, name: str) -> int:
    """Return the line on which a name is set, as well as it can be told."""
    spelling = re.compile(rf"""\s*\[?\s*["']?{re.escape(name)}["']?\s*[].=]""")
    for number, line in enumerate(text.splitlines(), 1):
        if spelling.match(line):
            return number
    return 1
