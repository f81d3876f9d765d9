"""The credential cache: what a program on this machine may read elsewhere, kept privately.

Files are written in the form of the reference implementation, so that its programs and ours share
them: ``{provider_url, credential: {access_token, token_type, expires_at, refresh_token, …}}``. A
flat form with ``token``, ``token_kind`` and a number as ``expires_at`` is read too.
"""

import json
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

USUAL_PORT = 7377
HERE = f"http://127.0.0.1:{USUAL_PORT}"
"""The address of a server with default settings."""

OWNER_VARIABLES = ("PDPP_OWNER_TOKEN", "PDPP_OWNER_SECRET", "PDPP_CONTROL_TOKEN")
_OWNER_PREFIX = "pdpp_owner_"
_SOON_SECONDS = 60
_LONGEST_SECONDS = 100 * 365 * 86_400
_RENAMED = ("provider_url", "token", "expires_at")
"""Members that the file has elsewhere, or in another form."""


class CredentialError(Exception):
    """A credential that cannot be used; the message is one line with the command that fixes it."""

    exit_code = 78


class OwnerCredentialError(CredentialError):
    """An owner's credential where a grant's belongs."""

    exit_code = 77


class Credential(NamedTuple):
    """A token for one provider, and how it is renewed."""

    provider_url: str
    token: str
    token_kind: str
    grant_id: str | None = None
    package_id: str | None = None
    refresh_token: str | None = None
    expires_at: float | None = None
    client_id: str | None = None
    token_endpoint: str | None = None

    def expired(self, now: float) -> bool:
        """Tell whether the token has ended or is about to."""
        return self.expires_at is not None and self.expires_at - _SOON_SECONDS <= now


def provider_origin(text: str) -> str:
    """Return a provider's address in the one form it is kept under.

    The address that agents are given, which ends with ``/mcp``, names its server too.
    """
    return plain_address(text).removesuffix("/mcp")


def plain_address(text: str) -> str:
    """Return an address as it is compared: its host in small letters, without a last slash."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or not _is_plain(parts):
        raise ValueError(f"{text!r} is not an address such as https://data.example.org")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def _is_plain(parts: SplitResult) -> bool:
    """Tell whether an address is only that: nobody's name, no question, a port that exists."""
    try:
        parts.port  # noqa: B018 - reading it is the check
    except ValueError:
        return False
    return not (parts.username or parts.password or parts.query or parts.fragment)


def is_loopback(address: str) -> bool:
    """Tell whether an address is one of this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Cache:
    """A folder of credentials, one file a provider.

    A command must name the folder's ``root`` to use it, except where it finds it by itself.
    """

    def __init__(self, folder: Path, *, named: bool = False) -> None:
        self._folder = folder
        self._named = named

    @property
    def root(self) -> Path:
        """Return the folder that ``--cache-root`` names."""
        return self._folder.parent.absolute()

    def connect_command(self, provider_url: str) -> str:
        """Return the command that puts a credential into this very folder, ready to paste."""
        words = ["pdpp", "connect", provider_url, *self.root_option()]
        if sys.platform == "win32":  # pragma: no cover
            from subprocess import list2cmdline

            return list2cmdline(words)
        import shlex  # Most programs print no command.

        return shlex.join(words)

    def root_option(self) -> list[str]:
        """Return what a command needs beside its other words to use this folder."""
        return ["--cache-root", str(self.root)] if self._named else []

    def path(self, provider_url: str) -> Path:
        """Return the file of a provider."""
        parts = urlsplit(provider_origin(provider_url))
        host = (parts.hostname or "").replace(":", "-")
        name = f"{host}_{parts.port}" if parts.port is not None else host
        return self._folder / f"{name}{_path_mark(parts.path)}.json"

    def providers(self) -> list[Credential]:
        """Return every credential that can be read."""
        credentials = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                credentials.append(_read(path))
            except (OSError, ValueError, TypeError):
                continue
        return credentials

    def load(self, provider_url: str) -> Credential:
        """Return the credential for a provider, or say which command makes one."""
        connect = f"run: {self.connect_command(provider_origin(provider_url))}"
        path = self.path(provider_url)
        try:
            credential = _read(path)
        except FileNotFoundError:
            raise CredentialError(f"not connected to {provider_url}; {connect}") from None
        except (OSError, ValueError, TypeError):
            raise CredentialError(f"the credential in {path} cannot be read; {connect}") from None
        refuse_owner(credential.token, credential.token_kind, connect)
        if credential.provider_url != provider_origin(provider_url):
            raise CredentialError(f"the credential in {path} is for another provider; {connect}")
        return credential

    def store(self, credential: Credential) -> Path:
        """Write a credential, whole or not at all, for this user's eyes only."""
        from pdpp.private import write_file  # Most programs never write.

        refuse_owner(credential.token, credential.token_kind)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # ``mkdir`` leaves a folder that was there already as open as it was.
        os.chmod(self._folder, 0o700)
        path = self.path(credential.provider_url)
        write_file(path, json.dumps(_file_form(credential)).encode())
        return path

    def forget(self, provider_url: str) -> bool:
        """Remove the credential for a provider; tell whether there was one."""
        path = self.path(provider_url)
        there = path.exists()
        path.unlink(missing_ok=True)
        return there

    @contextmanager
    def locked(self, provider_url: str) -> Iterator[None]:
        """Hold the one lock under which a provider's credential is renewed."""
        path = self.path(provider_url).with_suffix(".lock")
        # The lock is a file of its own: the credential is replaced by a rename, and a lock on the
        # old file would be held on nothing.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
            yield
        finally:
            os.close(descriptor)


def _path_mark(path: str) -> str:
    """Return what tells providers at paths of one host apart: owners may share a server."""
    if not path:
        return ""
    from hashlib import sha256  # Most providers have a host of their own.

    readable = "".join(c if c.isascii() and c.isalnum() else "-" for c in path.strip("/"))[:40]
    # A digest too: some file systems do not tell capital letters apart.
    return f"~{readable}-{sha256(path.encode()).hexdigest()[:16]}"


def _lock(descriptor: int) -> None:
    if os.name == "nt":  # pragma: no cover
        import msvcrt

        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
            except OSError:
                time.sleep(0.05)
            else:
                return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _file_form(credential: Credential) -> dict[str, Any]:
    """Return a credential as it is written."""
    ours = {k: v for k, v in credential._asdict().items() if k not in _RENAMED and v is not None}
    members = {"access_token": credential.token, "token_type": "Bearer", **ours}
    if credential.expires_at is not None:
        members["expires_at"] = _moment_text(credential.expires_at)
    return {"provider_url": credential.provider_url, "credential": members}


def _flat(document: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a credential in either form."""
    nested = document.get("credential")
    if not isinstance(nested, dict):
        return document
    flat = {"token_kind": "client", **nested, "provider_url": document.get("provider_url")}
    flat["token"] = nested.get("access_token")
    if isinstance(nested.get("expires_at"), str):
        flat["expires_at"] = _moment(nested["expires_at"])
    return flat


def _moment_text(moment: float) -> str:
    from datetime import UTC, datetime

    text = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _moment(text: str) -> float:
    from datetime import UTC, datetime

    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _read(path: Path) -> Credential:
    document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict):
        raise ValueError("a credential is an object")
    flat = _flat(document)
    credential = Credential(**{k: v for k, v in flat.items() if k in Credential._fields})
    texts = (credential.provider_url, credential.token, credential.token_kind)
    if not all(isinstance(text, str) and text for text in texts):
        raise ValueError("a credential needs provider_url, token and token_kind")
    if not is_token(credential.token):
        raise ValueError("a token is one printable word")
    if credential.expires_at is not None and not isinstance(credential.expires_at, int | float):
        raise ValueError("expires_at is a number")
    return credential


def is_token(text: str) -> bool:
    """Tell whether a text can stand in a header as a bearer token."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def token_end(now: float, lifetime: object) -> float | None:
    """Return when a token ends; None where nothing is told that could be a time."""
    if isinstance(lifetime, int | float) and 0 <= lifetime <= _LONGEST_SECONDS:
        return now + lifetime
    return None


def is_owners(token: str) -> bool:
    """Tell whether a token is an owner's by its look."""
    return token.startswith(_OWNER_PREFIX)


def refuse_owner(token: str, kind: str, connect: str = "run: pdpp connect URL") -> None:
    """Refuse an owner's token: agents read under a grant."""
    if kind == "owner" or is_owners(token):
        raise OwnerCredentialError(
            f"owner credentials are not for agents; remove this one and {connect}"
        )


def refuse_owner_environment(
    environment: Mapping[str, str], connect_command: str = "pdpp connect URL"
) -> None:
    """Refuse to start where the environment carries an owner's credential."""
    for name, value in environment.items():
        owners = name in OWNER_VARIABLES and value
        if owners or (name.startswith("PDPP_") and is_owners(value)):
            raise OwnerCredentialError(
                f"{name} holds an owner credential, which is not for agents; unset it and run: "
                f"{connect_command}"
            )


def open_cache(root: str | None, environment: Mapping[str, str], provider: str | None) -> Cache:
    """Return the cache that a program uses; see ``cache_folder``.

    What is not the user's own folder must be named in a command that is pasted: the environment
    and the working directory of an agent's host are not those of the user's terminal.
    """
    folder = cache_folder(root, environment, provider)
    return Cache(folder, named=folder != Path.home() / ".pdpp" / "clients")


def cache_folder(root: str | None, environment: Mapping[str, str], provider: str | None) -> Path:
    """Return the folder of the cache: the one chosen, the working directory's, else the user's.

    The working directory may be somebody else's project. A folder there counts only if nobody but
    this user can put a credential into it; else a stranger could choose which server is read.
    """
    chosen = root or environment.get("PDPP_CACHE_ROOT")
    if chosen:
        return Path(chosen).expanduser() / "clients"
    here = Path.cwd() / ".pdpp" / "clients"
    personal = Path.home() / ".pdpp" / "clients"
    there = here.is_dir() if provider is None else Cache(here).path(provider).exists()
    if not there or here == personal:
        return personal
    problem = _why_not_private(here.parent, stat.S_IWGRP | stat.S_IWOTH)
    problem = problem or _why_not_private(here, stat.S_IRWXG | stat.S_IRWXO)
    if problem is None:
        return here
    sys.stderr.write(f"note: {here} is not used: {problem}\n")
    return personal


def _why_not_private(folder: Path, others: int) -> str | None:
    """Return why a folder may not be this user's own; ``others`` are the rights others must lack.

    A folder that came with somebody's repository is the user's, and others can open it.
    """
    if os.name == "nt":  # pragma: no cover
        return "folders of the working directory are not used on Windows"
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        return f"{folder.name} is not a folder"
    if facts.st_uid != os.getuid():
        return f"{folder.name} belongs to another user"
    if facts.st_mode & others:
        return f"others can use {folder.name}; if it is yours: chmod 700 {folder}"
    return None


def document_of(credential: Credential) -> dict[str, Any]:
    """Return what may be shown of a credential: everything but its secrets."""
    members = credential._asdict()
    return {
        k: v for k, v in members.items() if v is not None and k not in ("token", "refresh_token")
    }
