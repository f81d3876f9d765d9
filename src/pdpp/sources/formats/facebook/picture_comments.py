"""Comments below pictures and albums, which stand inside these and name who wrote them.

Those of the owner stand among the owner's comments too, and are kept there.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.meta_files import caption_of, number_in
from pdpp.sources.formats.meta_values import listed, mapped, mended
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.jsonstream import JsonElement, entry_elements
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry

_LISTS = ("comments_v2.item", "comments.item")


class OwnComments:
    """What the owner wrote below posts and pictures; read when first asked for."""

    def __init__(self, files: Iterable[FileEntry]) -> None:
        self._files = tuple(files)
        self._written: frozenset[tuple[Any, str]] | None = None

    def __contains__(self, comment: object) -> bool:
        if self._written is None:
            self._written = frozenset(self._read())
        return comment in self._written

    def _read(self) -> Iterator[tuple[Any, str]]:
        for entry in self._files:
            for path in _LISTS:
                with suppress(DamagedFile):  # Told when its turn comes.
                    for element in entry_elements(entry, path):
                        value = element.value if isinstance(element, JsonElement) else None
                        for comment in (mapped(each, "comment") for each in listed(value, "data")):
                            yield comment.get("timestamp"), mended(comment.get("comment"))


def comments_on(
    own: OwnComments, thing: Mapping[str, Any], where: str, post_id: str | None = None
) -> Iterator[Finding]:
    """Yield the comments below a picture, a film or an album."""
    address = str(thing.get("uri") or "")
    about = caption_of(thing) or mended(thing.get("name")) or address.rpartition("/")[2]
    for number, comment in enumerate(listed(thing, "comments"), 1):
        place = f"{where} comment {number}"
        moment = comment.get("timestamp") if isinstance(comment, dict) else None
        written = epoch_text(moment)
        if written is None:
            yield Unknown("a comment without a time", place)
            continue
        text, author = mended(comment.get("comment")), mended(comment.get("author"))
        if (moment, text) in own:
            yield Skipped("a comment that is kept among those you wrote", place)
            continue
        shown = number_in(address) or address
        key = digest_key("picture comment", str(moment), author, text, shown)
        data = {
            "id": key,
            "author": author,
            "text": text or "[a picture]",
            "title": about,
            "post_id": post_id,
            "written_at": written,
        }
        yield Item("picture_comments", key, present(data, ""))
