"""Backups of an iPhone: every file is called by a hash and lies in a folder called by its start."""

import hashlib
import re
from collections.abc import Iterable

from pdpp.sources.reading.tree import Tree

_HASHED = re.compile(r"(?:\A|/)[0-9a-f]{2}\Z")


def backup_name(domain: str, path: str) -> str:
    """Return what a backup calls a file: the SHA-1 of its domain and its path."""
    name = f"{domain}-{path}".encode("utf-8", "surrogatepass")
    return hashlib.sha1(name, usedforsecurity=False).hexdigest()


def backup_of(folder: str) -> str:
    """Return the folder of the backup that a folder of hashed files lies in, or the folder."""
    return _HASHED.sub("", folder)


def backup_folders(tree: Tree, folders: Iterable[str]) -> set[str]:
    """Return the folders of hashed files beside those of some folders that are such."""
    backups = {backup_of(folder) for folder in folders if _HASHED.search(folder)}
    every = {entry.name.rpartition("/")[0] for entry in tree.entries} if backups else set()
    return {found for found in every if _HASHED.search(found) and backup_of(found) in backups}
