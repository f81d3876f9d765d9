"""Pictures and films of a Facebook archive: those in albums, and those that are in none.

Most were posted too, and the archive then names the same file twice. It is kept with its post.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp.sources.formats.facebook.picture_comments import OwnComments, comments_on
from pdpp.sources.formats.meta_files import attached, caption_of, shown_in
from pdpp.sources.formats.meta_service import fitting, read_values
from pdpp.sources.formats.meta_values import listed, mended
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.jsonstream import objects, read_each
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import ExportPart

_ALBUM = re.compile(r"(^|/)album/[^/]+\.json\Z")
_IN_NO_ALBUM = MappingProxyType(
    {
        "*uncategorized_photos.json": ("other_photos_v2.item", "picture"),
        "your_videos.json": ("videos_v2.item", "film"),
        "videos.json": ("videos_v2.item", "film"),
    }
)


class PostedFiles:
    """The addresses of the files that posts show; read when first asked for."""

    def __init__(self, posts: Iterable[FileEntry]) -> None:
        self._posts = tuple(posts)
        self._addresses: frozenset[str] | None = None

    def __contains__(self, address: object) -> bool:
        if self._addresses is None:
            posts = (post for entry in self._posts for post in objects(entry))
            self._addresses = frozenset(
                str(file["uri"]) for post in posts for file in shown_in(post) if file.get("uri")
            )
        return address in self._addresses


class _KeptElsewhere(NamedTuple):
    """What stands beside pictures and is kept with something else."""

    posted: PostedFiles
    own: OwnComments


def picture_parts(
    tree: Tree, posts: Iterable[FileEntry], comments: Iterable[FileEntry]
) -> Iterator[ExportPart]:
    """Return one part for each album, and for each list of what is in none."""
    finder, kept = FileFinder(tree), _KeptElsewhere(PostedFiles(posts), OwnComments(comments))
    for entry in tree.entries:
        if _ALBUM.search(entry.name):
            album = partial(_album, kept, finder)
            yield ExportPart(entry, partial(read_each, entry, album, "", noun="album"))
    for pattern, (path, noun) in _IN_NO_ALBUM.items():
        for entry in tree.named(pattern):
            reading = fitting(entry, (path, noun, partial(_picture, kept)))
            yield ExportPart(entry, partial(read_values, entry, reading, finder))


def _album(
    kept: _KeptElsewhere, finder: FileFinder, value: Mapping[str, Any], where: str
) -> Iterator[Finding]:
    photos = [photo for photo in listed(value, "photos") if isinstance(photo, dict)]
    times = [moment for photo in photos if (moment := epoch_text(photo.get("creation_timestamp")))]
    begun = min(times, default=epoch_text(value.get("last_modified_timestamp")))
    name = mended(value.get("name"))
    if begun is None or not name:
        yield Unknown("an album without a name or a time", where)
        return
    key = digest_key("album", name, begun)
    text = mended(value.get("description"))
    data = {"id": key, "title": name, "text": text or None, "kind": "album", "posted_at": begun}
    yield Item("posts", key, present(data))
    yield from comments_on(kept.own, value, where, key)
    for number, photo in enumerate(photos, 1):
        yield from _picture(kept, finder, photo, f"{where} picture {number}", post_id=key)


def _picture(
    kept: _KeptElsewhere, finder: FileFinder, value: Mapping[str, Any], where: str, **owner: str
) -> Iterator[Finding]:
    address, moment = value.get("uri"), epoch_text(value.get("creation_timestamp"))
    if moment is None:
        yield Unknown("a picture without a time", where)
    elif address in kept.posted:
        yield Skipped("a picture that is kept with its post", where)
    else:
        yield attached(finder, address, moment, where, caption=caption_of(value), **owner)
    yield from comments_on(kept.own, value, where, owner.get("post_id"))
