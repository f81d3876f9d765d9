"""Every format in every layout keeps the same promises.

Each sample is recognised by its own source alone, folder or zip, and renamed; everything in it is
counted as the census counts it; twice, zipped and renamed it changes nothing; an earlier export and
then this one are this one; cut and spoilt it is told; and an agent finds a sentence of it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp_here
from tests.engine import open_store
from tests.made_once import parse_once
from tests.mcp.client import estate
from tests.mcp.sight import SIGHTS, Agent
from tests.serving import grant
from tests.soak import SOAK
from tests.sources.kit import (
    Home,
    check_cuts,
    check_hostile_json,
    check_hostile_text,
    check_hostile_zip,
    check_overlap,
    read,
    zipped,
)
from tests.sources.samples import every_sample
from tests.sources.samples.sample import FormatSample

from pdpp.sources.importing.discovery import discover
from pdpp.sources.importing.recognition import recognise_export
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.registry import BUILT_IN, every, load
from pdpp.sources.source import OwnerChoices, Source

SAMPLES = every_sample()
MOST_MUTANTS = 200 if SOAK else 15
MOST_CUTS = 25
FEW = 5
"""How often each other layout of a format is cut and spoilt."""


def first_of(samples: Iterable[FormatSample]) -> dict[str, FormatSample]:
    """Return the first layout of each format."""
    return {sample.source: sample for sample in reversed([*samples])}


FIRST = first_of(SAMPLES.values())
"""The layout of each format that is tried in every way; in a soak all of them are."""
FIRST_EARLIER = first_of(sample for sample in SAMPLES.values() if sample.earlier is not None)
FIRST_CUT = first_of(sample for sample in SAMPLES.values() if sample.cut)
TEXTS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xml", ".txt", ".html", ".md", ".gpx")


def is_text(name: str, held: bytes) -> bool:
    """Tell whether a file is one that some program of Windows may have written as UTF-16."""
    return name.endswith(TEXTS) and held[:1].isascii()


WITH_TEXT = [
    name for name, sample in SAMPLES.items() if any(is_text(*file) for file in sample.files.items())
]


def is_tried_whole(sample: FormatSample, first: Mapping[str, FormatSample] = FIRST) -> bool:
    """Tell whether a layout is tried in every way, and not only in the one that is all at once."""
    return SOAK or first[sample.source] is sample


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> FormatSample:
    """One sample after the other."""
    return SAMPLES[request.param]


def test_there_is_a_sample_for_every_source() -> None:
    assert {sample.source for sample in SAMPLES.values()} == set(BUILT_IN)


@pytest.mark.parametrize("source", sorted(BUILT_IN))
def test_no_format_misses_a_check(source: str) -> None:
    """Some layout of each format must be counted, overlap with an earlier one, and be cut."""
    samples = [sample for sample in SAMPLES.values() if sample.source == source]
    assert any(sample.units for sample in samples), "no sample says what the census must count"
    assert any(sample.earlier for sample in samples), "no sample has an earlier export"
    assert any(sample.cut or sample.uncut for sample in samples), "no sample is cut"
    for sample in samples:
        assert sample.cut in ("", *sample.files)
        assert sample.renamed.keys() <= sample.files.keys()


def source_of(path: Path) -> str:
    return recognise_export(open_tree(path), OwnerChoices()).source.connector_key


def test_an_export_is_taken_by_its_own_source_in_a_folder_and_in_a_zip(
    sample: FormatSample, tmp_path: Path
) -> None:
    assert source_of(sample.folder(tmp_path / "a")) == sample.source
    assert source_of(sample.zip(tmp_path / "b.zip", "export/")) == sample.source


def test_an_export_is_found_among_downloads(sample: FormatSample, tmp_path: Path) -> None:
    sample.zip(tmp_path / "Downloads" / "export.zip")
    (tmp_path / "Downloads" / "film.mp4").write_bytes(b"\x00\x00\x00\x18ftypmp42")
    sources = [source for source in every() if isinstance(source, Source)]
    exports = discover(tmp_path / "Downloads", OwnerChoices(), sources).exports
    assert [found.export.source.connector_key for found in exports] == [sample.source]


def test_records_fit_the_declaration(sample: FormatSample, tmp_path: Path) -> None:
    assert read(load(sample.source), sample.folder(tmp_path / "e"), **settings(sample))


def settings(sample: FormatSample) -> dict[str, str]:
    given = [word for word in sample.options if "=" in word]
    return dict(word.split("=", 1) for word in given)


def test_the_census_and_the_reader_agree(sample: FormatSample, tmp_path: Path) -> None:
    path = sample.folder(tmp_path / "e")
    ended = pdpp_here("import", path, "--audit", "--json", *sample.options, data=tmp_path / "no")
    assert ended.code == 0, ended
    [document] = json.loads(ended.out)["audits"]
    census = document["census"]["units"]
    census |= {f"files {ending}": count for ending, count in document["census"]["files"].items()}
    for units, kinds in sample.units.items():
        counted = sum(document["units"][unit] for unit in units.split("+"))
        assert counted == sum(census[kind] for kind in kinds), (units, census)
    assert document["accounted"]
    assert not (tmp_path / "no").exists()


def files_in(home: Home) -> dict[Any, str]:
    """Return the digests of the files that a home holds, by the record and the field."""
    return {
        (*key, field): value["sha256"]
        for key, data in home.records().items()
        for field, value in data.items()
        if isinstance(value, dict) and "sha256" in value
    }


def test_an_export_without_the_files_of_an_earlier_one_takes_none_of_them_away(
    sample: FormatSample, tmp_path: Path
) -> None:
    """Services leave files out of one export and not of another, and people take them out."""
    home, folder = Home(tmp_path / "home"), sample.folder(tmp_path / "e")
    home.bring(folder, *sample.options)
    held = files_in(home)
    paths = [path for path in folder.rglob("*") if path.is_file()]
    kept = [path for path in paths if sha256(path.read_bytes()).hexdigest() in held.values()]
    if kept:
        for path in kept:
            path.unlink()
        home.run(folder, "--yes", *sample.options)
        assert files_in(home).items() >= held.items()


@pytest.mark.parametrize("name", WITH_TEXT)
def test_what_windows_wrote_in_utf_16_is_the_same(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    files = {
        name: held.decode().encode("utf-16") if is_text(name, held) else held
        for name, held in sample.files.items()
    }
    source = load(sample.source)
    before = read(source, sample.folder(tmp_path / "narrow" / "e"), **settings(sample))
    after = read(source, sample.folder(tmp_path / "wide" / "e", files), **settings(sample))
    sizes = {"size", "size_bytes"}
    assert after == {
        key: {name: after[key][name] if name in sizes else value for name, value in data.items()}
        for key, data in before.items()
    }


def test_twice_zipped_and_renamed_changes_nothing(sample: FormatSample, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    first = home.bring(sample.folder(tmp_path / "an export"), *sample.options)
    assert (first["status"], first["unaccounted"]) == ("complete", 0), first
    assert first["files"]["unknown"] == [], first
    before = home.records()
    assert before
    files = {sample.renamed.get(name, name): held for name, held in sample.files.items()}
    paths = [zipped(tmp_path / "with folder.zip", {f"x/{name}": files[name] for name in files})]
    if is_tried_whole(sample):
        paths.append(sample.zip(tmp_path / "downloaded.zip"))
        paths.append(sample.folder(tmp_path / "another name", files))
    if is_tried_whole(sample) or sample.named_by_path:
        paths.insert(0, tmp_path / "an export")
    for path in paths[:1] if sample.named_by_path else paths:
        again = home.bring(path, *sample.options)
        changes = {name: again["counts"][name] for name in ("new", "changed", "deleted")}
        assert changes == {"new": 0, "changed": 0, "deleted": 0}, (path, again)
        assert again["connection"]["connection_id"] == first["connection"]["connection_id"]
    assert home.records() == before


def test_an_earlier_export_and_then_this_one_are_this_one(
    sample: FormatSample, tmp_path: Path
) -> None:
    if sample.earlier is not None and is_tried_whole(sample, FIRST_EARLIER):
        earlier = sample.folder(tmp_path / "earlier", sample.earlier)
        check_overlap(earlier, sample.folder(tmp_path / "later"), tmp_path, *sample.options)


def test_an_export_cut_anywhere_says_so(sample: FormatSample, tmp_path: Path) -> None:
    if sample.cut:
        sample.folder(tmp_path)
        check_cuts(
            load(sample.source),
            sample.files[sample.cut],
            lambda content: sample.folder(tmp_path, {sample.cut: content}),
            points=MOST_CUTS if is_tried_whole(sample, FIRST_CUT) else FEW,
            torn=sample.torn,
            name=sample.cut,
        )


def test_a_spoilt_export_is_survived(sample: FormatSample, tmp_path: Path) -> None:
    source, name = load(sample.source), sample.cut or next(iter(sample.files))
    is_whole = is_tried_whole(sample)

    sample.folder(tmp_path / "e")

    def place(content: bytes) -> Path:
        return sample.folder(tmp_path / "e", {name: content})

    if name.endswith(".json"):
        most = MOST_MUTANTS if is_whole else FEW
        check_hostile_json(source, json.loads(sample.files[name]), place, most=most)
    else:
        check_hostile_text(source, sample.files[name], place)
    if is_whole:
        (tmp_path / "inner").mkdir()
        check_hostile_zip(source, sample.files, tmp_path / "inner")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of a server that holds every sample."""
    folder = tmp_path_factory.mktemp("all")
    home = Home(folder / "data")
    for number, sample in enumerate(SAMPLES.values()):
        home.bring(sample.folder(folder / f"e{number}"), *sample.options)
    (folder / "serving").mkdir()
    with ExitStack() as stack:
        made = stack.enter_context(estate(open_store(home.data), folder / "serving"))
        yield made.client("http-modern", grant(made.store))


def test_an_agent_finds_and_reads_a_sentence(sample: FormatSample, client: Any) -> None:
    for sight in SIGHTS if is_tried_whole(sample) else SIGHTS[:1]:
        agent = Agent(client, sight)
        hits = agent.call("search", {"query": sample.words})
        assert hits.ids, hits.visible
        first = hits.calls[0]
        answer = agent.follow(first)
        text = agent.passage(answer) if first.tool == "read_record_field" else answer.visible
        assert sample.sentence in text


def test_a_name_that_is_searched_is_shown_as_what_was_found() -> None:
    """Names of actors are found in any case; where they are not declared, a hit cannot say so."""
    hidden = {
        f"{source}.{stream.name}.{name}"
        for source in BUILT_IN
        for stream in parse_once(load(source).declaration()).streams.values()
        for name, field in stream.fields.items()
        if field.searched and not field.lexical and name != "role"
    }
    assert hidden == set()
