"""Notes as Markdown files: an Obsidian vault or any other folder of them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote

from pdpp.evidence.amount import counted
from pdpp.sources.formats.markdown import canvas
from pdpp.sources.formats.markdown.frontmatter import split_front
from pdpp.sources.formats.markdown.textbundle import TextBundle, bundle_of
from pdpp.sources.item import Attachment, Finding, Item, Skipped, present
from pdpp.sources.keys import digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.textfile import decoded, plain_head
from pdpp.sources.reading.times import local_text, zone_named
from pdpp.sources.reading.tree import FileEntry, Tree, common_folder, is_hidden
from pdpp.sources.source import (
    AccountKnowledge,
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
)

_NOTES = (".md", ".markdown", canvas.SUFFIX)
_LARGEST = 8 << 20
_MOST_LINKS = 2_000
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_WIKI = re.compile(
    # In a table the bar before another name is written with a backslash.
    r"(!?)\[\[([^\[\]|#\n]{1,300}?)\\?(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]"
)
_TARGET = r"(?:<([^<>\n]{1,500})>|((?:[^()\s<>]|\([^()\s<>]*\)){1,500}))"
_LINK = re.compile(rf"(!?)\[[^\[\]\n]*\]\({_TARGET}(?:\s+[\"'][^\"'\n]*[\"'])?\)")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:|#|//")
_IMAGE = re.compile(r"""<img\s[^<>]*?src=["']([^"'<>\n]{1,500})["']""", re.IGNORECASE)
_SHOWN = re.compile(r"!\[|<img\s", re.IGNORECASE)
_TAG = re.compile(r"(?:(?<=\s)|^)#([^\W\d_][\w/-]{0,100})", re.MULTILINE)
_HEADING = re.compile(r"^#\s+(.+?)\s*#*$", re.MULTILINE)
_ARCHIVE = re.compile(r"\.(?:zip|tgz|tar|tar\.gz)\Z", re.IGNORECASE)
_DAY = re.compile(r"(\d{4})([-_])(\d{2})\2(\d{2})(?!\d)")
_JOPLIN_NAME = re.compile(r"[0-9a-f]{32}\.md")
_JOPLIN_TYPE = re.compile(rb"^type_: \d+\s*\Z", re.MULTILINE)
_FROM_JOPLIN = (
    "export from Joplin as “MD - Markdown + Front Matter” and import that folder, to have "
    "titles, notebooks, times, tags and files"
)
_LOGSEQ_OLDER = re.compile(r"(?:\A|/)logseq/(?:bak|\.recycle|version-files)/")
_FEW = 5
_CREATED = ("created", "date", "created_at", "created at", "date created")
_UPDATED = ("updated", "modified", "updated_at", "last modified", "date modified")


class Markdown(Source):
    """A folder of notes, with the pictures and files they show."""

    connector_key = "markdown"
    in_place = True
    named_by_place = True
    nests = True
    passed_over = MappingProxyType(
        {
            ".obsidian/*": "settings of Obsidian",
            "*/.obsidian/*": "settings of Obsidian",
            ".trash/*": "notes that were thrown away",
            ".git/*": "the history of the folder",
            "*/.git/*": "the history of the folder",
            **{
                f"{above}logseq/{folder}/*": "an older or deleted note that Logseq keeps"
                for above in ("", "*/")
                for folder in ("bak", ".recycle", "version-files")
            },
            "*.edn": "settings of Logseq",
        }
    )
    label = "Markdown notes"
    settings = MappingProxyType(
        {"time_zone": "Zone of times that name none, such as Europe/Lisbon."}
    )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return each vault by itself, and the notes that lie in none of them."""
        return sorted({*_vaults(tree), ""})

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:
        """Look for notes; a vault of Obsidian shows itself by its settings."""
        notes = _notes(tree)
        if archives := [] if notes else tree.named("*.jex"):
            words = f"{archives[0].name} is an archive of Joplin; {_FROM_JOPLIN}"
            return ExportRefusal(words, lies_among_others=True)
        if not notes or all(b"\x00" in plain_head(entry) for entry in notes[:5]):
            return None
        vault = any(".obsidian" in entry.name.split("/") for entry in tree.entries)
        others = sum(not is_hidden(entry) for entry in tree.entries) - len(notes)
        zone_named(choices.given.get("time_zone"))
        joplin = all(_is_joplin_item(entry) for entry in notes[:_FEW])
        remarks = [f"the notes are as Joplin keeps them; {_FROM_JOPLIN}"] if joplin else []
        remark = f"of {counted(others, 'other file')} the notes bring in those that they refer to"
        return Recognition(
            Confidence.CERTAIN if vault else Confidence.LIKELY,
            f"{'an Obsidian vault' if vault else 'Markdown files'}, {counted(len(notes), 'note')}",
            account=f"Notes ({tree.called})",
            owner_known=False,
            records=len(notes),
            notes=(*remarks, remark) if others else tuple(remarks),
            detail={"time_zone": choices.given.get("time_zone"), "place": ""},
        )

    def in_account(self, recognition: Recognition, known: AccountKnowledge) -> Recognition:
        """Return what was seen with where it lies in the folder that its account holds."""
        return replace(recognition, detail={**recognition.detail, "place": known.place})

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each note."""
        folder = _NoteFolder(tree, **recognition.detail)
        return [ExportPart(entry, partial(_read, folder, entry)) for entry in _notes(tree)]

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the files that a note shows."""
        folder = _NoteFolder(tree, **recognition.detail)
        return (
            file.name
            for note in _notes(tree)
            for name in _shown_files(_text(note) or "")
            if (file := folder.find(note, name))
        )

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the vaults, and of other folders the files that a note shows."""
        return [*_vaults(tree), *self.sent(tree, recognition)]


def _notes(tree: Tree) -> list[FileEntry]:
    """Return the notes, without those of which Logseq keeps an older text."""
    return [
        entry
        for entry in tree.entries
        if entry.suffix in _NOTES and not is_hidden(entry) and not _LOGSEQ_OLDER.search(entry.name)
    ]


def _is_joplin_item(entry: FileEntry) -> bool:
    """Tell whether a file is one of Joplin's raw export: a note, a notebook, a tag or a file."""
    return bool(_JOPLIN_NAME.fullmatch(entry.base) and _JOPLIN_TYPE.search(entry.head()))


def _vaults(tree: Tree) -> set[str]:
    """Return the folders that are vaults of Obsidian and lie in no other."""
    marks = (entry.name.split("/") for entry in tree.entries)
    vaults = {"/".join(at[: at.index(".obsidian")]) for at in marks if ".obsidian" in at}
    if "" in vaults:
        return {""}
    return {at for at in vaults if not any(at.startswith(f"{other}/") for other in vaults)}


def _top(tree: Tree) -> str:
    """Return what stands before the names that notes have in their own folder.

    A note is known by its place there: it is the same note wherever the vault lies, and whether it
    comes as a folder or as an archive of one.
    """
    vaults = _vaults(tree)
    if len(vaults) == 1:
        top = vaults.pop()
        inside = all(note.name.startswith(f"{top}/") for note in _notes(tree))
        return f"{top}/" if top and inside else ""
    if vaults or tree.kind != "zip":
        return ""
    steps = common_folder(entry.name for entry in tree.entries if not is_hidden(entry)).split("/")
    archive = next((at for at, step in enumerate(steps, 1) if _ARCHIVE.search(step)), 0)
    return "".join(f"{step}/" for step in steps[: archive + 1] if step)


class _NoteFolder:
    """The files of a folder, found as notes name them; it has a ``place`` in the account's own."""

    def __init__(self, tree: Tree, *, time_zone: str | None, place: str) -> None:
        self.tree = tree
        self._top = _top(tree)
        self._place = place
        self.is_vault = bool(_vaults(tree))
        self.zone = zone_named(time_zone)
        self._by_base: dict[str, FileEntry] = {}
        for entry in tree.entries:
            if not is_hidden(entry):
                self._by_base.setdefault(entry.base.lower(), entry)

    def find(self, note: FileEntry, name: str) -> FileEntry | None:
        """Return the file that a note shows: beside it, from the top, or anywhere by its name."""
        beside = self.tree.beside(note, name) or self.tree.get(self._top + name)
        return beside or self._by_base.get(name.rpartition("/")[2].lower())

    def name_of(self, entry: FileEntry) -> str:
        """Return the name of a file in the folder of notes."""
        return self._place + entry.name.removeprefix(self._top)


class _References(NamedTuple):
    """What a note refers to: other notes, files that it shows, others that it names, and tags."""

    links: list[str]
    files: list[str]
    named: list[str]
    tags: list[str]


def _text(entry: FileEntry) -> str | None:
    """Return what a note says; None where it is too large for one, or a canvas that is broken."""
    with entry.open() as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        return None
    if entry.suffix == canvas.SUFFIX:
        return canvas.canvas_text(content)
    return decoded(content)


def _read(folder: _NoteFolder, entry: FileEntry) -> Iterator[Finding]:
    text = _text(entry)
    if text is None:
        is_canvas = entry.suffix == canvas.SUFFIX
        reason = "a canvas that cannot be read" if is_canvas else "a note too large"
        yield Skipped(reason, entry.name)
        return
    if text and not text.strip("\0"):
        # A program or a disk that failed left them in place of the text.
        yield Skipped("a note of nothing but zeros", entry.name, cut=True)
        return
    yield from account(_note(folder, entry, text), entry.name, "note")


def _note(folder: _NoteFolder, entry: FileEntry, text: str) -> Iterator[Finding]:
    bundle = bundle_of(folder.tree, entry) or TextBundle(entry.base.rpartition(".")[0])
    if bundle.in_trash:
        yield Skipped("a note that was thrown away", entry.name)
        return
    front = split_front(text)
    if not front.readable:
        yield Skipped("properties that are not plain YAML; they stay in the text", entry.name)
    visible_text = _references(front.rest)
    place = folder.name_of(entry)
    key = digest_key("bear", bundle.id) if bundle.id else safe_key(digest_key(place))
    day = _DAY.match(bundle.name)
    # Some programs and people write the names of properties with a capital letter.
    told = {name.lower(): value for name, value in front.values.items()}
    written_dates = [*(told.get(name) for name in _CREATED), bundle.created]
    named_day = "-".join(day.group(1, 3, 4)) if day else None
    created, floating = _moment(folder, [*written_dates, named_day])
    changed_dates = [*(told.get(name) for name in _UPDATED), bundle.updated]
    updated, _ = _moment(folder, changed_dates)
    tags = _unique([*_listed(told, "tags", "tag"), *visible_text.tags])
    data: dict[str, object] = {
        "id": key,
        "title": _title(told, front.rest, bundle.name),
        "body": front.rest.strip(),
        "path": place,
        "folder": place.rpartition("/")[0],
        "tags": tags,
        "tag_names": ", ".join(tags),
        "aliases": _listed(told, "aliases", "alias"),
        "links": visible_text.links,
        "properties": front.values or None,
        "created_at": created,
        "floating": floating,
        "updated_at": updated,
    }
    yield Item("notes", key, {"body": "", **present(data, "", [])})
    inside = f"{entry.name.rpartition('/')[0]}/" if bundle.id else ""
    for name in visible_text.files:
        yield from _attachment(folder, entry, key, name, inside)
    shown = {folder.find(entry, name) for name in visible_text.files}
    for name in visible_text.named:
        if folder.is_vault and (file := folder.find(entry, name)) not in {None, *shown}:
            shown.add(file)
            yield from _attachment(folder, entry, key, name, inside)


def _title(front: dict[str, Any], text: str, stem: str) -> str:
    if isinstance(front.get("title"), str) and front["title"].strip():
        return str(front["title"]).strip()
    heading = _HEADING.search(text[:4_096])
    return heading.group(1) if heading and heading.start() < 200 else stem or "(no title)"


def _shown_files(text: str) -> list[str]:
    """Return the files that a note shows; of most notes one look tells that there are none."""
    return _references(split_front(text).rest).files if _SHOWN.search(text) else []


def _references(text: str) -> _References:
    """Find what a note refers to, outside of its code."""
    prose = _CODE.sub(" ", text)
    wiki = [(shown, target.strip()) for shown, target in _WIKI.findall(prose)]
    written = [(shown, quoted or plain) for shown, quoted, plain in _LINK.findall(prose)]
    written += [("!", target) for target in _IMAGE.findall(prose)]
    local = [
        (shown, unquote(target.partition("#")[0]))
        for shown, target in written
        if not _ADDRESS.match(target)
    ]
    links: list[str] = []
    files: list[str] = []
    named: list[str] = []
    for shown, target in (*wiki, *local):
        is_file = "." in target and not target.endswith(_NOTES)
        (files if is_file and shown else links).append(target)
        named += [target] if is_file and not shown else []
    return _References(
        _unique(links)[:_MOST_LINKS],
        _unique(files)[:_MOST_LINKS],
        _unique(named)[:_MOST_LINKS],
        _unique(_TAG.findall(prose))[:_MOST_LINKS],
    )


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _listed(front: dict[str, object], *names: str) -> list[str]:
    """Return a property that is a list, or words with commas between."""
    listed: object = next((front[name] for name in names if name in front), [])
    if isinstance(listed, str):
        listed = listed.split(",")
    values = listed if isinstance(listed, list) else []
    return [text for value in values if (text := str(value).strip().lstrip("#"))]


def _moment(folder: _NoteFolder, values: Iterable[object]) -> tuple[str | None, bool | None]:
    """Return the first of some texts that is a time, and whether it floats."""
    for text in values:
        if isinstance(text, str):
            try:
                return local_text(datetime.fromisoformat(text), folder.zone)
            except ValueError:
                continue
    return None, None


def _attachment(
    folder: _NoteFolder, note: FileEntry, key: str, name: str, inside: str
) -> Iterator[Finding]:
    """Yield a file of a note, which is known by its place, or by that ``inside`` a bundle."""
    entry = folder.find(note, name)
    if entry is None:
        yield Skipped("a file that a note shows and the folder lacks", note.name)
        return
    media_type = entry.media_type
    place = folder.name_of(entry)
    is_inside = inside and entry.name.startswith(inside)
    known_by = entry.name.removeprefix(inside) if is_inside else place
    own = safe_key(key, digest_key(known_by)[:12])
    data = {
        "id": own,
        "note_id": key,
        "name": entry.base,
        "path": place,
        "media_type": media_type,
    }
    yield Item("attachments", own, data, (Attachment("file", entry.open_exact, media_type),))
