"""The kit: what every source is tested with, from its reader alone to an agent.

A test of a source makes files in the real layout and calls these:

- ``look`` and ``read`` run the source by itself; ``told`` is what it says of everything else.
- ``Home`` is a data folder that the real program imports into; ``Home.records`` is what it holds.
- ``golden`` compares records with a file of expected ones.
- ``check_twice``, ``check_overlap``, ``check_cuts`` and ``check_hostile_…`` hold the promises.
- ``ask`` serves a home and lets an MCP client find a sentence and read around it.
"""

import json
import os
import random
import stat
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.cli.shell import Ended, pdpp, pdpp_here
from tests.engine import open_store
from tests.made_once import parse_once
from tests.soak import SOAK

from pdpp.model import instant
from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.item import START, Finding, Item, Skipped, Unknown
from pdpp.sources.keys import RecordKey
from pdpp.sources.reading.tree import Tree, open_tree
from pdpp.sources.registry import BUILT_IN
from pdpp.sources.source import ExportRefusal, OwnerChoices, Recognition, Source
from pdpp.store.batch import canonical
from pdpp.store.intake import Checker, Rejection
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
from pdpp.store.query import PageQuery
from pdpp.store.scope import owner_reaches

MUTANTS, NOISES = (400, 40) if SOAK else (40, 5)
"""In how many ways a document is changed, and at how many places noise is put into a file."""

GOLDEN = Path(__file__).with_name("golden")
Key = tuple[str, str]
Records = dict[Key, dict[str, Any]]

# A source by itself


def look(source: Source, path: Path, **settings: str) -> Recognition | ExportRefusal | None:
    """Return what a source says of a path."""
    return source.recognise(open_tree(path), OwnerChoices(settings))


def findings(source: Source, path: Path, **settings: str) -> list[Finding]:
    """Return everything a source yields of a path that it must recognise."""
    tree = open_tree(path)
    seen = source.recognise(tree, OwnerChoices(settings))
    assert isinstance(seen, Recognition), seen
    return list(_everything(source, tree, seen))


def _everything(source: Source, tree: Tree, seen: Recognition) -> Iterator[Finding]:
    for part in source.parts(tree, seen):
        try:
            yield from part.findings(START)
        except DamagedFile as problem:
            yield Skipped("damaged", f"{part.entry.name}: {problem.message}", cut=True)


def read(source: Source, path: Path, **settings: str) -> Records:
    """Return the records of a path by stream and key, each checked as ingest checks it."""
    found = [item for item in findings(source, path, **settings) if isinstance(item, Item)]
    check_items(source, found)
    return {(item.stream, item.key): item.data for item in found}


def told(source: Source, path: Path, **settings: str) -> list[Skipped | Unknown]:
    """Return what a source says of the things that are no records."""
    found = findings(source, path, **settings)
    return [item for item in found if isinstance(item, Skipped | Unknown)]


def check_items(source: Source, items: Iterable[Item]) -> None:
    """Check that every item fits the declaration of its source."""
    streams = parse_once(source.declaration()).streams
    for item in items:
        assert problem_of(streams[item.stream], item) is None, item
        assert item.data.get("id") == item.key
        if source.connector_key in BUILT_IN:
            assert type(item.key) is type(item.data["id"]) is RecordKey


def problem_of(stream: Any, item: Item) -> Rejection | None:
    """Return what ingest finds wrong with an item."""
    checker = Checker(stream, instant.now(), 8 << 20)
    data = read_data(canonical(item.data))
    return checker.name_problem(item.key, instant.now()) or checker.data_problem(data)


def golden(name: str, records: Records) -> None:
    """Compare records with the file of expected ones; ``GOLDEN=write`` writes it anew."""
    path = GOLDEN / f"{name}.json"
    found = {f"{stream}:{key}": data for (stream, key), data in sorted(records.items())}
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    assert found == json.loads(path.read_text())


# Through the program


@dataclass(frozen=True, slots=True)
class Home:
    """A data folder that the real program fills."""

    data: Path

    def bring(self, path: Path, *options: str) -> dict[str, Any]:
        """Import a path and return the report."""
        ended = self.run(path, "--yes", "--json", *options)
        assert ended.out, ended.err
        report: dict[str, Any] = json.loads(ended.out)
        return report

    def run(self, path: Path | str, *options: str) -> Ended:
        """Run ``pdpp import`` in this process."""
        return pdpp_here("import", path, *options, data=self.data)

    def seal_like(self, other: "Home") -> None:
        """Make this folder, so that imports into it give records the keys they have in another."""
        theirs, own = open_store(other.data), open_store(self.data)
        assert own.adopt_import_secret(theirs.import_secret())
        theirs.close()
        own.close()

    def accounts(self) -> list[str]:
        """Return the names of the accounts."""
        store = open_store(self.data)
        try:
            return [made.display_name for made in store.catalogue().connections.values()]
        finally:
            store.close()

    def records(self) -> Records:
        """Return everything that the folder holds."""
        store = open_store(self.data)
        try:
            return stored(store)
        finally:
            store.close()


def stored(store: Store) -> Records:
    """Return every record of a store by stream and key."""
    return dict(_held(store))


def _held(store: Store) -> Iterator[tuple[Key, dict[str, Any]]]:
    for reach in owner_reaches(store.catalogue()):
        after = None
        while True:
            page = store.page(PageQuery((reach,), 1_000, after=after))
            for record in page.records:
                yield (reach.stream.name, record.id), read_data(record.data)
            if page.next is None:
                break
            after = page.next


def counts(report: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of a report that are not zero."""
    return {name: count for name, count in report["counts"].items() if count}


def check_twice(path: Path, folder: Path, *options: str) -> Records:
    """Check that importing the same path again changes nothing; return its records."""
    home = Home(folder / "twice")
    first = home.bring(path, *options)
    before = home.records()
    assert before
    second = home.bring(path, *options)
    assert home.records() == before
    changes = {name: second["counts"][name] for name in ("new", "changed", "deleted")}
    assert changes == {"new": 0, "changed": 0, "deleted": 0}, second
    assert second["counts"]["read"] == first["counts"]["read"]
    assert (
        sum(second["counts"][name] for name in ("unchanged", "skipped", "unknown"))
        == (second["counts"]["read"])
    )
    return before


def check_overlap(first: Path, both: Path, folder: Path, *options: str) -> None:
    """Check that a part and then the whole come to the same as the whole alone."""
    step_by_step, at_once = Home(folder / "steps"), Home(folder / "once")
    at_once.seal_like(step_by_step)
    step_by_step.bring(first, *options)
    assert step_by_step.records()
    step_by_step.bring(both, *options)
    at_once.bring(both, *options)
    assert step_by_step.records() == at_once.records()


def check_cuts(
    source: Source,
    content: bytes,
    place: Callable[[bytes], Path],
    *,
    points: int = 25,
    torn: int = 0,
    name: str = "",
) -> None:
    """Check that a file cut anywhere in the middle loses only its tail and says so.

    ``place`` writes content where the source finds it and returns the path to import. So many
    records at the end may be ``torn`` where nothing tells a cut from a line without an end. What is
    left of a file called ``name`` may be nothing that the source knows: the report then lists it
    among the files that are not known, which nothing that is passed over on purpose is.
    """
    whole = list(read(source, place(content)))
    for number in range(1, points):
        at = len(content) * number // points
        if b"\n" in content[at - 1 : at + 1]:
            continue
        path = place(content[:at])
        if not isinstance(look(source, path), Recognition):
            continue
        if name and _is_unknown(source, path, name):
            continue
        found = findings(source, path)
        keys = [(item.stream, item.key) for item in found if isinstance(item, Item)]
        assert len(set(keys) - set(whole)) <= torn, f"cut at {at}"
        assert any(_says_cut(item) for item in found), f"cut at {at}"


def _is_unknown(source: Source, path: Path, name: str) -> bool:
    tree = open_tree(path)
    seen = source.recognise(tree, OwnerChoices())
    assert isinstance(seen, Recognition)
    if any(part.entry.name == name for part in source.parts(tree, seen)):
        return False
    patterns = source.passed_over
    base = name.rpartition("/")[2]
    fitting = (p for p in patterns if fnmatchcase(name if "/" in p else base, p))
    assert not patterns.get(next(fitting, "")), f"{name} is passed over in silence"
    return True


def _says_cut(finding: Finding) -> bool:
    if not isinstance(finding, Skipped | Unknown):
        return False
    words = ("may be cut off", "damaged")
    return getattr(finding, "cut", False) or any(word in finding.reason for word in words)


# Hostile input


def survives(source: Source, path: Path) -> list[Finding]:
    """Read a path that may hold anything; a source may refuse it or tell, never fail."""
    try:
        tree = open_tree(path)
        seen = source.recognise(tree, OwnerChoices())
    except ImportRefused:
        return []
    if not isinstance(seen, Recognition):
        return []
    found = list(_everything(source, tree, seen))
    for item in found:
        if isinstance(item, Item):
            json.dumps(item.data)
        elif isinstance(item, Skipped | Unknown):
            assert len(item.reason) < 200
    return found


def check_hostile_json(
    source: Source, document: Any, place: Callable[[bytes], Path], *, most: int = MUTANTS
) -> None:
    """Check a JSON document with each of its values replaced, and its text disturbed."""
    for mutant in _some(mutations(document), most):
        survives(source, place(json.dumps(mutant).encode()))
    for content in disturbed(json.dumps(document, ensure_ascii=False).encode()):
        survives(source, place(content))


def check_hostile_lines(
    source: Source, documents: Sequence[Any], place: Callable[[bytes], Path], *, most: int = MUTANTS
) -> None:
    """Check a file of JSON lines the same way, line by line."""
    lines = [json.dumps(document).encode() for document in documents]
    for number, document in enumerate(documents):
        for mutant in _some(mutations(document), most // len(documents) + 1):
            changed = [*lines[:number], json.dumps(mutant).encode(), *lines[number + 1 :]]
            survives(source, place(b"\n".join(changed) + b"\n"))
    for content in disturbed(b"\n".join(lines) + b"\n"):
        survives(source, place(content))


def check_hostile_text(source: Source, content: bytes, place: Callable[[bytes], Path]) -> None:
    """Check text of any other format, disturbed."""
    for changed in disturbed(content):
        survives(source, place(changed))


def _some(values: Iterable[Any], most: int) -> list[Any]:
    made = list(values)
    return made if len(made) <= most else random.Random(7).sample(made, most)


_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e300,
    "",
    "\x00\u202e/../\ud800",
    [],
    {},
    [[]],
    [None, 5, {"type": 5}],
    {"type": None, "id": []},
)


def mutations(value: Any) -> Iterator[Any]:
    """Yield a document with one value after another replaced by something odd or left out."""
    yield from _ODD
    if isinstance(value, dict):
        for name, inner in value.items():
            others = {other: held for other, held in value.items() if other != name}
            yield others
            yield from ({**value, name: changed} for changed in mutations(inner))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield value[:at] + value[at + 1 :]
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in mutations(inner))


def disturbed(content: bytes) -> Iterator[bytes]:
    """Yield content that is empty, cut, doubled, badly encoded, too deep or full of noise."""
    yield b""
    yield b"\xef\xbb\xbf" + content
    yield content.replace(b"\n", b"\r\n")
    yield content + content
    yield content + b"\x00" * 100
    yield b"\xff\xfe" + content.decode("utf-8", "replace").encode("utf-16-le")
    yield content + b"[" * 100_000
    yield content + b'{"a":' * 50_000
    chance = random.Random(11)
    for _ in range(NOISES):
        at = chance.randrange(len(content) or 1)
        yield content[:at] + bytes(chance.randrange(256) for _ in range(3)) + content[at + 3 :]
        yield content[:at] + b"\x00\xc3\x28" + content[at:]
        yield content[:at]


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write a zip in the ordinary way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def hostile_zips(folder: Path, files: Mapping[str, bytes]) -> Iterator[tuple[str, Path]]:
    """Yield an export's zip with something wrong in it, each under the name of what that is."""
    folder.mkdir(parents=True, exist_ok=True)
    first = next(iter(files))
    for name, extra in (
        ("traversal", "../../outside.json"),
        ("absolute", "/etc/outside.json"),
        ("drive", "C:\\outside.json"),
        ("backslashes", "..\\..\\outside.json"),
        ("nested zip", "inner.zip"),
    ):
        yield name, zipped(folder / f"{name}.zip", {**files, extra: b"PK\x03\x04" * 5})
    yield "link", _with_mode(folder / "link.zip", files, first, stat.S_IFLNK | 0o777)
    yield "device", _with_mode(folder / "device.zip", files, first, stat.S_IFCHR | 0o666)
    whole = zipped(folder / "whole.zip", files).read_bytes()
    for name, content in (
        ("cut", whole[: len(whole) // 2]),
        ("no end", whole[:-30]),
        ("noise", whole[:40] + bytes(60) + whole[100:]),
        ("lying size", _lying(whole)),
    ):
        path = folder / f"{name}.zip"
        path.write_bytes(content)
        yield name, path


def _with_mode(path: Path, files: Mapping[str, bytes], odd: str, mode: int) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode if name == odd else stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content)
    return path


def _lying(whole: bytes) -> bytes:
    """Return a zip whose list says that its first entry is a tenth as long as it is."""
    at = whole.index(b"PK\x01\x02") + 24
    size = struct.unpack_from("<L", whole, at)[0]
    return whole[:at] + struct.pack("<L", size // 10) + whole[at + 4 :]


def check_hostile_zip(source: Source, files: Mapping[str, bytes], folder: Path) -> None:
    """Check an export's zip with each thing wrong; nothing may appear outside the folder."""
    before = sorted(path.name for path in folder.parent.iterdir())
    for _, path in hostile_zips(folder / "zips", files):
        survives(source, path)
    assert sorted(path.name for path in folder.parent.iterdir()) == before


# To an agent


def ask(home: Home, folder: Path, words: str, sentence: str) -> None:
    """Serve a home; an MCP client under a grant finds words and reads the sentence around them."""
    from tests.mcp.client import estate
    from tests.mcp.sight import Agent
    from tests.serving import grant

    folder.mkdir(parents=True, exist_ok=True)
    store = open_store(home.data)
    with estate(store, folder) as made:
        client = made.client("http-modern", grant(made.store))
        for sight in ("content", "structured"):
            agent = Agent(client, sight)
            hits = agent.call("search", {"query": words})
            assert hits.ids, hits.visible
            assert sentence in agent.passage(agent.follow(hits.shown("read_record_field")))


def bring_and_ask(
    path: Path, folder: Path, words: str, sentence: str, *options: str
) -> dict[str, Any]:
    """Import a path with the real program in a process of its own, then ask; return the report."""
    home = Home(folder / "asked")
    ended = pdpp("import", path, "--yes", "--json", *options, data=home.data)
    assert ended.code == 0, ended
    ask(home, folder / "agent", words, sentence)
    report: dict[str, Any] = ended.document
    return report
