"""The exports of Spotify: the extended history of every play, and the shorter account data."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from types import MappingProxyType

from pdpp.evidence.amount import counted
from pdpp.sources.formats.spotify.rows import (
    read_play,
    read_playlist,
    read_recent_play,
    read_saved,
    read_search,
    read_spoken_search,
)
from pdpp.sources.item import Finding
from pdpp.sources.keys import SeenKeys, digest_key
from pdpp.sources.reading.jsonstream import JsonElement, entry_elements, objects, read_each
from pdpp.sources.reading.structure import candidates, json_paths
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_SHAPES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "plays": frozenset({"item.ts", "item.ms_played", "item.spotify_track_uri"}),
        "recent plays": frozenset({"item.endTime", "item.msPlayed"}),
        "searches": frozenset({"item.searchTime", "item.searchQuery"}),
        "spoken searches": frozenset({"item.voiceSearchQuery", "item.time"}),
        "playlists": frozenset({"playlists.item.name", "playlists.item.items"}),
        "library": frozenset({"tracks", "albums", "shows"}),
    }
)
"""What a file holds, by the members that it has."""
_EVERY_PATH = frozenset().union(*_SHAPES.values())
_NAMES = (
    *("Streaming*History*.json", "endsong*.json", "endvideo*.json"),
    *("Playlist*.json", "YourLibrary*.json", "SearchQueries*.json", "VoiceInput*.json"),
)
_HISTORIES: Mapping[str, str] = MappingProxyType(
    {
        "Streaming_History_*.json": "plays",
        "endsong*.json": "plays",
        "endvideo*.json": "plays",
        "StreamingHistory*.json": "recent plays",
    }
)
_LIBRARY_PARTS = (
    *("tracks", "albums", "shows", "episodes", "bannedTracks", "bannedArtists"),
    *("artists", "books", "other"),
)

RowReader = Callable[[SeenKeys, object, str], Iterator[Finding]]


class Spotify(Source):
    """The zips that Spotify mails: one of the extended history, one of the account data."""

    connector_key = "spotify"
    owner_files = ("Userdata*.json",)
    parts_depend = True
    label = "Spotify export"
    passed_over = MappingProxyType(
        {
            "ReadMeFirst*": "an explanation of the files",
            "Userdata*.json": "details of the account",
            "Identity*.json": "details of the account",
            "Identifiers*.json": "details of the account",
            "UserAddress*.json": "details of the account",
            "DuoNewFamily*.json": "details of the account",
            "FamilyPlan*.json": "details of the account",
            "Payments*.json": "details of payments",
            "Inferences*.json": "guesses of the service about you",
            "Marquee*.json": "guesses of the service about you",
            "YourSoundCapsule*.json": "sums that the service made",
            "Wrapped*.json": "sums that the service made",
            "Follow*.json": "names of people who follow each other",
            "MessageData*.json": "messages inside the service",
            "UserPrompts*.json": "what was said to the service's assistant",
            "PodcastInteractivity*.json": "answers to polls of podcasts",
        }
    )

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look at the members of the files, whatever they are called."""
        entries = candidates(tree, *_NAMES)
        shapes = {entry.name: shape for entry in entries if (shape := _shape(entry))}
        if not shapes or set(shapes.values()) <= {"library"}:
            return None
        for entry in entries:
            if entry.name not in shapes and (shape := _shape_by_name(entry)):
                shapes[entry.name] = shape
        kinds = [kind for kind in _SHAPES if kind in shapes.values()]
        owner = _owner(tree)
        return Recognition(
            Confidence.CERTAIN,
            f"{', '.join(kinds)}, {counted(len(shapes), 'file')}",
            account=f"Spotify ({owner})" if owner else "Spotify",
            identity=owner or _first_play(tree, shapes),
            owner_known=bool(owner),
            detail={"shapes": shapes},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        seen = SeenKeys()
        for name, shape in recognition.detail["shapes"].items():
            entry = tree.get(name)
            if entry is not None:
                yield ExportPart(entry, partial(_READERS[shape], seen, entry))


def _shape(entry: FileEntry) -> str | None:
    """Return what a file holds."""
    there = json_paths(entry, _EVERY_PATH)
    return next((kind for kind, paths in _SHAPES.items() if paths <= there), None)


def _shape_by_name(entry: FileEntry) -> str | None:
    """Return what a file must hold that is empty or breaks off before it shows anything."""
    for pattern, shape in _HISTORIES.items():
        if fnmatchcase(entry.base, pattern):
            return shape
    return None


def _owner(tree: Tree) -> str:
    """Return the name of the account, where the export tells it."""
    for entry in tree.named("Userdata*.json"):
        for element in entry_elements(entry, "username"):
            if isinstance(element, JsonElement) and isinstance(element.value, str):
                return element.value
    return ""


def _first_play(tree: Tree, shapes: Mapping[str, str]) -> str:
    """Return what the exports of one account begin with: the oldest play of the first file."""
    for entry in tree.these(sorted(shapes)):
        for row in objects(entry):
            facts = [row.get(name) for name in ("username", "ts", "spotify_track_uri", "endTime")]
            return digest_key(*map(str, facts))
    return ""


def _rows(
    reader: RowReader, noun: str, path: str, seen: SeenKeys, entry: FileEntry
) -> Iterator[Finding]:
    return read_each(entry, partial(reader, seen), path, noun=noun)


def _library(seen: SeenKeys, entry: FileEntry) -> Iterator[Finding]:
    for part in _LIBRARY_PARTS:
        reader = partial(read_saved, part, seen)
        noun = f"entry of {part}"
        yield from read_each(entry, reader, f"{part}.item", noun=noun, always=False)


_READERS: Mapping[str, Callable[[SeenKeys, FileEntry], Iterator[Finding]]] = MappingProxyType(
    {
        "plays": partial(_rows, read_play, "play", "item"),
        "recent plays": partial(_rows, read_recent_play, "play", "item"),
        "searches": partial(_rows, read_search, "search", "item"),
        "spoken searches": partial(_rows, read_spoken_search, "search", "item"),
        "playlists": partial(_rows, read_playlist, "playlist", "playlists.item"),
        "library": _library,
    }
)
