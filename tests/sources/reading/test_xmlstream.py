"""XML is read by element, in bounded memory, and never with entities of the document's own."""

import io
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.reading.xmlstream import (
    XmlElement,
    XmlEnd,
    XmlEvent,
    XmlStart,
    xml_elements,
    xml_root,
)


def events(content: bytes | str, *wanted: str, **options: Any) -> list[XmlEvent]:
    content = content if isinstance(content, bytes) else content.encode()
    return list(xml_elements(io.BytesIO(content), *wanted, **options))


def texts(content: bytes | str, *wanted: str) -> list[str]:
    return [event.text for event in events(content, *wanted) if isinstance(event, XmlElement)]


def test_elements_come_whole_with_attributes_children_and_cdata() -> None:
    (note,) = events(
        '<e><x:note a="1 &amp; 2"><t>One</t><t>Two<u/></t><c><![CDATA[<b>3</b>]]></c></x:note></e>',
        "note",
    )
    assert isinstance(note, XmlElement)
    assert (note.name, note.number, note.attributes) == ("note", 1, {"a": "1 & 2"})
    assert [child.text for child in note.each("t")] == ["One", "Two"]
    assert note.text_at("c") == "<b>3</b>"
    assert note.at("t", "u") is None
    assert [element.name for element in note.walk()] == ["note", "t", "t", "u", "c"]


def test_an_element_inside_a_wanted_one_is_a_part_of_it() -> None:
    content = "<h><r/><c><r/><r/></c><r/></h>"
    told = [(e.name, e.number, len(e.children)) for e in events(content, "r", "c")]  # type: ignore[union-attr]
    assert told == [("r", 1, 0), ("c", 1, 2), ("r", 2, 0)]


def test_without_names_every_child_of_the_root_comes() -> None:
    told = [(e.name, e.number) for e in events("<h><r><c/></r><x/><r/></h>")]  # type: ignore[union-attr]
    assert told == [("r", 1), ("x", 1), ("r", 2)]


def test_the_beginning_and_end_of_what_is_around_is_told() -> None:
    told = events("<g><k n='1'><p/></k><k n='2'/></g>", "p", around=("k",))
    assert told[0] == XmlStart("k", {"n": "1"})
    assert isinstance(told[1], XmlElement)
    assert told[2:] == [XmlEnd("k"), XmlStart("k", {"n": "2"}), XmlEnd("k")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings_are_taken_by_their_mark_or_their_declaration(encoding: str) -> None:
    document = f'<?xml version="1.0" encoding="{encoding}"?><a><b>Café</b></a>'
    assert texts(document.encode(encoding), "b") == ["Café"]
    assert texts(b"\xef\xbb\xbf" + document.replace(encoding, "utf-16").encode(), "b") == ["Café"]


@pytest.mark.parametrize("name", ["rot13", "base64", "zlib", "idna", "none"])
def test_a_declared_encoding_that_is_none_is_read_as_utf_8(name: str) -> None:
    assert texts(f'<?xml version="1.0" encoding="{name}"?><a><b>é</b></a>', "b") == ["é"]


def test_a_document_type_is_passed_over_even_where_it_is_malformed() -> None:
    broken = "<!DOCTYPE HealthData [\n<!-- 11 -->\n<!ATTLIST Record !> value <CDATA #IMP]\n]>"
    assert texts(f'<?xml version="1.0"?>\n{broken}\n<a><b>1</b></a>', "b") == ["1"]
    plain = '<!DOCTYPE en-export SYSTEM "http://x.example/export.dtd">'
    assert texts(f"<!-- first -->{plain}<a><b>1</b></a>", "b") == ["1"]


@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">',
        '<!ENTITY f SYSTEM "file:///etc/passwd">',
        '<!entity % p SYSTEM "http://x.example/p.dtd"> %p;',
    ],
)
def test_entities_are_refused(subset: str) -> None:
    with pytest.raises(DamagedFile, match="entities"):
        events(f"<!DOCTYPE a [{subset}]><a><b>&a;</b></a>", "b")


def test_a_document_type_hidden_behind_another_is_refused() -> None:
    hidden = '<!DOCTYPE a [ "]>" <!DOCTYPE b [<!ENTITY c "x">]>'
    with pytest.raises(DamagedFile):
        events(f"{hidden}<a><b>&c;</b></a>", "b")


def test_an_entity_that_nobody_declared_is_told() -> None:
    with pytest.raises(DamagedFile, match="undefined entity"):
        events("<a><b>&nbsp;</b></a>", "b")


def test_halves_of_characters_written_by_number_become_whole_wherever_they_are_cut() -> None:
    for before in range(30):
        start = "x" * ((1 << 16) - before - len("<a><b>"))
        document = f"<a><b>{start}&#55357;&#56832;&#xD83D;&#XDE00; &#55357; &#0;&amp;</b></a>"
        assert texts(document, "b") == [f"{start}😀😀 \ufffd \ufffd&"]


def test_bytes_that_no_document_may_hold_cost_nothing_but_themselves() -> None:
    assert texts(b"<a><b>one\x00\x0btwo\xff\xef\xbf\xbf</b></a>", "b")[0].startswith("one\ufffd")


def test_the_end_of_a_cut_document_is_told_and_what_was_whole_is_kept() -> None:
    content = "<a>" + "<b>x</b>" * 10_000 + "</a>"
    seen: list[XmlEvent] = []
    with pytest.raises(DamagedFile, match="line 1"):
        seen.extend(xml_elements(io.BytesIO(content[:-6].encode()), "b"))
    assert len(seen) > 9_000


def test_an_element_too_long_is_told_and_the_next_one_comes() -> None:
    long = f"<n><d>{'x' * 100_000}</d><d/></n>"
    first, second = events(f"<a>{long}<n>2</n></a>", "n", longest=50_000)
    assert first == Skipped("larger than 0 MiB", "n 1", lost=True)
    assert isinstance(second, XmlElement)
    assert (second.text, second.number) == ("2", 2)


def test_an_attribute_without_end_is_refused() -> None:
    with pytest.raises(DamagedFile, match="longer"):
        events(f"<a b='{'x' * 300_000}", "b", longest=50_000)


@pytest.mark.parametrize("wanted", ["a", "b"])
def test_a_document_too_deep_is_refused(wanted: str) -> None:
    with pytest.raises(DamagedFile, match="deep"):
        events("<a>" * 100_000, wanted)


def test_memory_does_not_grow_with_the_document() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"<h>"
        for _ in range(60):
            yield b'<r v="1"/><other><deep>text</deep></other>' * 1_000
        yield b"</h>"

    class Endless(io.RawIOBase):
        source = pieces()

        def read(self, size: int = -1) -> bytes:  # noqa: ARG002
            return next(self.source, b"")

    tracemalloc.start()
    count = len([True for _ in xml_elements(Endless(), "r")])  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 60_000
    assert peak < 2 << 20


def test_the_root_is_found_without_reading_on(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(b'<?xml version="1.0"?><!DOCTYPE x []><n:x xmlns:n="urn:y"><b/>' + b"z" * 999)
    (entry,) = open_tree(path).entries
    assert xml_root(entry) == XmlStart("x", {"xmlns:n": "urn:y"}, "urn:y")
    for content in (b"", b"{}", b"<", b"<<<", b"plain", b"<!DOCTYPE a [<!ENTITY b '1'>]><a/>"):
        path.write_bytes(content)
        (entry,) = open_tree(path).entries
        assert xml_root(entry) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        events(b"<a><b>" + content + b"</b></a>", "b")
        events(content, "b")
    except DamagedFile:
        pass
