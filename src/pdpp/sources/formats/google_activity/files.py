"""Files of activities: what was given to Gemini and said to the Assistant, beside the list."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pdpp.sources.item import Attachment, Finding, Item, Skipped
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.tree import FileEntry, Tree

_LISTS = ("attachedFiles", "audioFiles")
_MARKS = "-\u2013 "
"""What stands before the name of a file in the lines below an activity."""
MEMBERS = frozenset({*_LISTS, "imageFile"})
"""Members of an activity that name files."""
_LIST_MARKS = (b"File", b'"url":', (b'"url": "http', b'"url":"http'))
_PAGE_MARKS = (b' src="', b'href="', (b'href="http',))
"""What names a file, how a link begins, and how one that leads to the web does."""
_CHUNK = 1 << 20


def is_address(link: object) -> bool:
    """Tell whether a link leads to the web, and not to a file beside the list."""
    return isinstance(link, str) and ("://" in link or link.startswith("//"))


def files_named(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that an activity names, each with the name that it had."""
    named: dict[str, str] = {}
    for line in value.get("subtitles") or ():
        if isinstance(line, dict) and line.get("url") and not is_address(line["url"]):
            named[unquote(str(line["url"]))] = str(line.get("name") or "").strip(_MARKS)
    listed = [name for each in _LISTS for name in value.get(each) or ()]
    for name in (*listed, value.get("imageFile")):
        if isinstance(name, str) and name:
            named.setdefault(unquote(name), "")
    return named


def file_beside(tree: Tree, entry: FileEntry, name: str) -> FileEntry | None:
    """Return the file that a list names."""
    return tree.beside(entry, name) or tree.beside(entry, unquote(name))


def file_items(
    tree: Tree, entry: FileEntry, activity: Item, named: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield the files of an activity that are in the export."""
    # A page links a file and shows it, each time spelt in another way.
    given: set[str] = set()
    for number, (name, shown) in enumerate(named.items(), 1):
        file = file_beside(tree, entry, name)
        if file is None:
            yield Skipped("a file that is not in the export", f"{entry.name}: {name[:80]}")
            continue
        if file.name in given:
            continue
        given.add(file.name)
        key = digest_key("file", activity.key, str(number))
        data = {
            "id": key,
            "activity_id": activity.key,
            "name": shown or file.base,
            "media_type": file.media_type,
            "done_at": activity.data["done_at"],
        }
        yield Item("files", key, data, (Attachment("file", file.open_exact, file.media_type),))


def may_name_files(entry: FileEntry) -> bool:
    """Tell whether a list or a page may name files: counting spares reading it twice."""
    naming, link, addresses = _PAGE_MARKS if entry.suffix == ".html" else _LIST_MARKS
    local, before = 0, b""
    with entry.open() as stream:
        while chunk := stream.read(_CHUNK):
            text = before + chunk  # a mark may begin in one piece and end in the next
            if naming in text:
                return True
            local += text.count(link) - before.count(link)
            for address in addresses if local else ():
                local -= text.count(address) - before.count(address)
            before = text[1 - len(max(addresses, key=len)) :]
    return local != 0
