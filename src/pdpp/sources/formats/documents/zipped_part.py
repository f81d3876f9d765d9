"""Parts of documents that are zips."""

import zipfile

from pdpp.model.errors import DamagedFile

_LARGEST_PART = 64 << 20


def zipped_part(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a part of a document; nothing where the document has none of that name."""
    if name not in archive.NameToInfo:
        return b""
    if archive.getinfo(name).file_size > _LARGEST_PART:
        raise DamagedFile("a part of it is too large")
    return archive.read(name)
