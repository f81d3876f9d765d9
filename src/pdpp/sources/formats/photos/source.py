"""Photos in a folder: when, where and with what each was taken. The pictures stay there."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.photos.exif import HEAD_BYTES, PhotoTags, read_exif
from pdpp.sources.formats.photos.sidecar import Sidecar, Sidecars, sidecar_patterns
from pdpp.sources.item import Attachment, Finding, Item, Skipped, present
from pdpp.sources.keys import RecordKey, SeenKeys
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.times import local_text, zone_named
from pdpp.sources.reading.tree import FileEntry, Tree, is_hidden
from pdpp.sources.source import Confidence, ExportPart, FileSource, OwnerChoices, Recognition

_PICTURES = frozenset(
    {".jpg", ".jpeg", ".heic", ".heif", ".avif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
    | {".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw"}
    | {".hif"}
)
_TAGS_LATE = frozenset({".heic", ".heif", ".hif", ".avif"})
"""Pictures whose tags some cameras write behind the picture itself."""
_BESIDE = frozenset({".xmp", ".aae", ".thm", ".mov", ".mp4", ".m4v", ".avi", ".3gp", ".ini", ".db"})
_ABOUT_ALBUM = (
    *("metadata*.json", "Metadaten*.json", "métadonnées*.json", "metadat*.json", "metadad*.json"),
    *("metagegevens*.json", "メタデータ*.json", "元数据*.json", "메타데이터*.json"),
)
_SIDECARS = tuple(sidecar_patterns((*_PICTURES, *_BESIDE)))
_YEAR = re.compile(r"\b(?:19|20)\d\d\Z")
_SAMPLE = 50
_ZONES = timedelta(hours=26)
"""Two clocks that show the same moment are never further apart."""
_KEPT = "keep"


class Photos(FileSource):
    """Pictures: a folder of nothing else, photos among other files, or what the owner calls so."""

    connector_key = "photos"
    parts_depend = True
    collects = True
    endings = _PICTURES
    unpicked = ("picture without a camera's time", "pictures without a camera's time")
    label = "Photos in a folder"
    settings = MappingProxyType(
        {
            "time_zone": "Zone of times that name none, such as Europe/Lisbon.",
            "files": "Write keep to copy the pictures themselves too.",
        }
    )
    passed_over = MappingProxyType(
        {
            **{f"*{ending}": "a film" for ending in (".mov", ".mp4", ".m4v", ".avi", ".3gp")},
            **{f"*{ending.upper()}": "a film" for ending in (".mov", ".mp4", ".m4v", ".avi")},
            **{f"*.{name}": "notes of a program on a picture" for name in ("xmp", "aae", "AAE")},
            "*.thm": "a small copy of a film's first picture",
            "*.db": "notes of a program on a folder",
            "*.ini": "notes of a program on a folder",
            **dict.fromkeys(_ABOUT_ALBUM, "what Google Photos notes on an album"),
            **dict.fromkeys(_SIDECARS, "what Google Photos notes on a picture, read with it"),
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look whether a camera wrote the pictures.

        Chats and notes have pictures among their files too: what holds anything else is taken only
        when the owner says so.
        """
        pictures = _pictures(tree)
        if not pictures or not (choices.chosen or _is_album(tree, pictures)):
            return None
        zone_named(choices.given.get("time_zone"))
        given = {name: choices.given.get(name) for name in ("time_zone", "files")}
        return Recognition(
            Confidence.LIKELY,
            counted(len(pictures), "picture"),
            account="Photos",
            identity="Photos",
            owner_known=False,
            records=len(pictures),
            notes=("times, places and cameras come in; the pictures stay where they are",),
            detail=given,
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each picture."""
        keeps = recognition.detail["files"] == _KEPT
        reader = _PhotoReader(tree, recognition.detail["time_zone"], keeps)
        # Takeout puts a picture into the folder of its year and into its albums: the album counts.
        pictures = sorted(_pictures(tree), key=_lies_in_year)
        return [ExportPart(entry, partial(reader.read, entry)) for entry in pictures]

    def pick(self, tree: Tree) -> list[FileEntry]:
        """Return the pictures of albums, and elsewhere those that a camera took.

        Downloads are full of drawings that nobody photographed.
        """
        folders: dict[str, list[FileEntry]] = {}
        for entry in tree.entries:
            if not is_hidden(entry):
                folders.setdefault(entry.name.rpartition("/")[0], []).append(entry)
        picked: list[FileEntry] = []
        sidecars = Sidecars(tree.entries)
        for entries in folders.values():
            folder = Tree(tree.path, tree.kind, tuple(entries))
            pictures = _pictures(folder)
            album = pictures and _is_album(folder, pictures)
            picked += pictures if album else filter(partial(_is_taken, sidecars), pictures)
        return picked


def _pictures(tree: Tree) -> list[FileEntry]:
    return [
        entry
        for entry in tree.entries
        if entry.suffix in _PICTURES and not entry.base.startswith("._")
    ]


def _is_album(tree: Tree, pictures: list[FileEntry]) -> bool:
    others = [
        entry
        for entry in tree.entries
        if entry.suffix not in _PICTURES | _BESIDE and not entry.base.startswith(".")
    ]
    if others:
        return False
    step = max(1, len(pictures) // _SAMPLE)
    return any(map(partial(_is_taken, Sidecars(())), pictures[::step][:_SAMPLE]))


def _is_taken(sidecars: Sidecars, entry: FileEntry) -> bool:
    """Tell whether a picture, or what stands beside it, says when a camera took it."""
    try:
        taken = _tags(entry, entry.head(HEAD_BYTES)).taken
    except DamagedFile:
        return False
    return taken is not None or sidecars.of(entry).taken is not None


def _tags(entry: FileEntry, head: bytes) -> PhotoTags:
    """Return the tags of a picture, from its beginning or else from its end."""
    tags = read_exif(head)
    late = entry.suffix in _TAGS_LATE and entry.size > HEAD_BYTES
    if tags.picture or not late:
        return tags
    with entry.open(entry.size - HEAD_BYTES) as stream:
        return read_exif(stream.read(HEAD_BYTES))


def _lies_in_year(entry: FileEntry) -> bool:
    """Tell whether a picture lies in a folder such as ``Photos from 2024``, in any language."""
    return _YEAR.search(entry.name.rpartition("/")[0]) is not None


class _PhotoReader:
    """Reads pictures; one that lies in two folders comes once."""

    def __init__(self, tree: Tree, zone: str | None, keeps: bool) -> None:
        self._tree = tree
        self._sidecars = Sidecars(tree.entries)
        self._zone = zone_named(zone)
        self._keeps = keeps
        self._seen = SeenKeys()

    def read(self, entry: FileEntry) -> Iterator[Finding]:
        """Yield what a picture says of itself."""
        yield from account(self._photo(entry), entry.name, "picture")

    def _photo(self, entry: FileEntry) -> Iterator[Finding]:
        head = entry.head(HEAD_BYTES)
        if not head:
            yield Skipped("a picture that is empty", entry.name)
            return
        # Names of files change with every copy: a picture is known by its own bytes.
        digest = hashlib.sha256(head + entry.size.to_bytes(8, "big")).hexdigest()
        key = RecordKey(digest[:32])
        if not self._seen.first(key):
            yield Skipped("a picture that stands twice", entry.name)
            return
        data: dict[str, object] = {
            "id": key,
            "name": entry.base,
            "album": self._tree.folder_of(entry),
            **self._told(_tags(entry, head), self._sidecars.of(entry)),
            "media_type": entry.media_type,
            "size_bytes": entry.size,
        }
        files = (Attachment("file", entry.open_exact, entry.media_type),) if self._keeps else ()
        yield Item("photos", key, present(data), files)

    def _told(self, tags: PhotoTags, beside: Sidecar) -> dict[str, object]:
        """Return what the tags say, and what the owner corrected or added in Google Photos."""
        place, taken = beside.coordinates or tags.coordinates, _taken(tags.taken, beside.taken)
        moment, floating = local_text(taken, self._zone) if taken is not None else (None, None)
        iso, width, height = tags.number(0x8827), tags.number(0xA002), tags.number(0xA003)
        return {
            "description": beside.description or tags.text(0x010E),
            "people": beside.people or None,
            "taken_at": moment,
            "floating": floating or None,
            "latitude": place[0] if place else None,
            "longitude": place[1] if place else None,
            "altitude_metres": tags.altitude,
            "camera": _camera(tags.text(0x010F), tags.text(0x0110)),
            "lens": tags.text(0xA434),
            "artist": tags.text(0x013B),
            "iso": int(iso) if iso is not None else None,
            "f_number": tags.number(0x829D),
            "exposure_seconds": tags.number(0x829A),
            "focal_length_mm": tags.number(0x920A),
            "width": int(width) if width is not None else None,
            "height": int(height) if height is not None else None,
        }


def _taken(told: datetime | None, beside: datetime | None) -> datetime | None:
    """Return the camera's time, which is local; not where the owner set another day later."""
    if told is None or beside is None:
        return told or beside
    moment = told if told.tzinfo is not None else told.replace(tzinfo=UTC)
    return told if abs(moment - beside) <= _ZONES else beside


def _camera(make: str | None, model: str | None) -> str | None:
    """Return maker and model, the maker once."""
    if make and model and not model.lower().startswith(make.lower()):
        return f"{make} {model}"
    return model or make
