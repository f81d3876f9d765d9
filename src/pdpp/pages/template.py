"""Templates: the pages' HTML, in which every value is escaped."""

import base64
import hashlib
import re
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdpp.authz.requester import one_line
from pdpp.evidence.amount import counted, size_in_words
from pdpp.pages.icon import ICON

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_FOLDER = Path(__file__).with_name("templates")
_STATIC = Path(__file__).with_name("static")
_SCRIPTS = Path(__file__).with_name("scripts")
_MEDIA_TYPES = {".css": "text/css"}
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
_ZERO = re.compile(rb"(?<![\w.])0\.(?=\d)")
_AROUND = re.compile(rb"\s*([{};,])\s*")
_LONGEST_NAME = 200
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_OWN_ADDRESS = re.compile(r'\b(href|action|src)="/(?!/)')
_ADDRESS = re.compile(r'\b(href|action|src)="\{\{ (.+?) \}\}')
"""Addresses in templates: those that are written there, and those that are put in."""

_prefix: ContextVar[str] = ContextVar("prefix", default="")
"""The prefix of the page that is being made; macros of other templates see no context."""


def render(name: str, context: Mapping[str, Any], prefix: str = "") -> str:
    """Return a page; a name that the template uses and nobody gave is an error.

    ``prefix`` is the path below which the server is, where it shares a host name with others.
    """
    before = _prefix.set(prefix)
    try:
        return _environment().get_template(name).render(context)
    finally:
        _prefix.reset(before)


def placed(address: str) -> str:
    """Return an address of ours as a browser has to ask for it; others stay as they are."""
    is_ours = not address or (address.startswith("/") and not address.startswith("//"))
    return _prefix.get() + address if is_ours else address


def _with_prefix(source: str) -> str:
    """Return a template whose addresses are below the prefix of the server."""
    source = _ADDRESS.sub(r'\1="{{ (\2) | placed }}', source)
    return _OWN_ADDRESS.sub(r'\1="{{ prefix() }}/', source)


@cache
def _environment() -> "Environment":
    # Imported with the first page, so that starting the server does not wait for it.
    from jinja2 import DictLoader, Environment, StrictUndefined

    # Pages are held to a size, of which the indents of their templates would be a tenth. Values
    # are put in later and keep theirs.
    sources = {
        path.name: _with_prefix(_INDENT.sub("", path.read_text("utf-8")))
        for path in _FOLDER.iterdir()
    }
    environment = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = asset_path
    # Called, because a filter of a constant would be worked out once for all pages.
    environment.globals["prefix"] = _prefix.get
    environment.globals["script"] = script
    environment.globals["icon"] = _brand
    environment.filters["number"] = "{:,}".format
    environment.filters["counted"] = counted
    environment.filters["line"] = partial(one_line, most=_LONGEST_NAME)
    environment.filters["placed"] = placed
    environment.filters["size"] = size_in_words
    return environment


def assets() -> Mapping[str, tuple[str, bytes]]:
    """Return the files that pages load, by name, each with its media type."""
    return {
        path.name: (_MEDIA_TYPES[path.suffix], _lean_style(path.read_bytes()))
        for path in sorted(_STATIC.iterdir())
        if path.suffix in _MEDIA_TYPES
    }


def _lean_style(style: bytes) -> bytes:
    """Return a style sheet without its comments, line breaks and zeros before a point."""
    return _ZERO.sub(b".", _AROUND.sub(rb"\1", _COMMENT.sub(b"", style))).strip()


@cache
def asset_path(name: str) -> str:
    """Return the address of an asset, which changes when its content does."""
    digest = hashlib.sha256((_STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/assets/{name}?v={digest}"


@cache
def _brand() -> "Markup":
    """Return the icon as a part of the page, which saves the request for it."""
    from markupsafe import Markup

    hidden = 'width="30" height="30" aria-hidden="true"'
    return Markup(ICON.replace('role="img" aria-label="PDPP"', hidden))  # noqa: S704 - our own


@cache
def script(name: str) -> "Markup":
    """Return a script to be put into a page: that is one request less than a file of its own."""
    from markupsafe import Markup

    return Markup((_SCRIPTS / name).read_text("utf-8"))  # noqa: S704 - our own file


@cache
def script_source(name: str) -> str:
    """Return what lets a page run that very script and no other."""
    digest = hashlib.sha256((_SCRIPTS / name).read_bytes()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
