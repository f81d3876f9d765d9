"""What a process of tests makes once where the program makes it anew, the same every time.

Tests open thousands of stores and put hundreds of applications together.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest

from pdpp import app
from pdpp.encryption.data_key import DataKey
from pdpp.model.declaration import Declaration
from pdpp.model.validation import parse_declaration
from pdpp.pages.template import assets
from pdpp.resource.openapi import openapi_document
from pdpp.sources.importing import task
from pdpp.store.sqlite import database, schema
from pdpp.store.tables import feeds


def make_once(patch: pytest.MonkeyPatch) -> None:
    """Make each of these once until the patch is undone."""
    patch.setattr(feeds, "parse_declaration", parse_once)
    patch.setattr(task, "parse_declaration", parse_once)
    patch.setattr(database, "_create", _databases(database._create, schema.create))
    patch.setattr(app, "assets", cache(assets))
    patch.setattr(app, "openapi_document", _documents(openapi_document))


_parsed: dict[bytes, Declaration] = {}


def parse_once(document: object) -> Declaration:
    """Parse a declaration that was not parsed before: 2 to 5 ms for each."""
    try:
        content = orjson.dumps(document)
    except orjson.JSONEncodeError:  # it is no declaration, and told so
        return parse_declaration(document)
    if content not in _parsed:
        _parsed[content] = parse_declaration(document)
    return _parsed[content]


def _databases(
    create: Callable[[Path, DataKey | None], None], tables: Callable[..., None]
) -> Callable[[Path, DataKey | None], None]:
    """Create the tables of a store without a key once, and copy the file: 4 ms less for each."""

    @cache
    def content() -> bytes:
        with TemporaryDirectory() as folder:
            made = Path(folder) / "made"
            create(made, None)
            return made.read_bytes()

    def copy(path: Path, key: DataKey | None) -> None:
        if key is not None or schema.create is not tables:
            create(path, key)
            return
        building = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        handle = os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content())
        with suppress(FileExistsError):  # another thread of the test was first
            os.link(building, path)
        building.unlink()

    return copy


def _documents(make: Callable[[str], dict[str, Any]]) -> Callable[[str], Mapping[str, Any]]:
    """Describe the routes once; only the address differs from server to server: 2 ms for each."""
    described = cache(lambda: make(""))

    def document(origin: str) -> Mapping[str, Any]:
        return {**described(), "servers": [{"url": origin}]}

    return document
