"""The file finder: which file of an export an address inside it means."""

from pdpp.sources.reading.tree import FileEntry, Tree, composed


class FileFinder:
    """Finds the file that an address in the export means.

    An address may lack the top folder, and an archive may have one more: of the files with the
    same last name the one counts whose name has the longest end in common. A file of that name in
    another folder is another file: phones call pictures of different years the same.
    """

    def __init__(self, tree: Tree) -> None:
        self._by_base: dict[str, list[FileEntry]] = {}
        for entry in tree.entries:
            self._by_base.setdefault(entry.base, []).append(entry)

    def find(self, address: object) -> FileEntry | None:
        """Return the file, or None where the export does not hold it."""
        if not isinstance(address, str) or not address or "://" in address:
            return None
        steps = composed(address).split("/")
        fitting = self._by_base.get(steps[-1], [])
        ends = [(_shared(entry.name.split("/"), steps), entry) for entry in fitting]
        best, entry = max(ends, key=lambda pair: pair[0], default=(0, None))
        if entry is None:
            return None
        # A file that was taken out of its folder has no folder to tell it by.
        needed = min(2, len(steps), entry.name.count("/") + 1)
        return entry if best >= needed else None


def _shared(name: list[str], steps: list[str]) -> int:
    count = 0
    for ours, theirs in zip(reversed(name), reversed(steps), strict=False):
        if ours != theirs:
            break
        count += 1
    return count
