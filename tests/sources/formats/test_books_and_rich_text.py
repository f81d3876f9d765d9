"""Documents as EPUB and RTF."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, check_twice, look, read, told
from tests.yardstick import computing_at_most

from pdpp.sources.formats.documents.source import Documents
from pdpp.sources.formats.documents.text import LONGEST_TEXT
from pdpp.sources.source import ExportRefusal

SOURCE = Documents()
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="x"/></rootfiles></container>'
)
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<metadata><dc:title>Tides &amp; ropes</dc:title><dc:creator>Nora Lind</dc:creator>"
    "<dc:creator>Ben Lind</dc:creator><dc:date>2020-05-01T00:00:00Z</dc:date></metadata>"
    '<manifest><item id="b" href="text/two%20b.xhtml"/><item id="a" href="text/one.xhtml"/>'
    '<item id="f" href="f.otf"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
)


def chapter(words: str, encoding: str = "utf-8") -> bytes:
    page = f'<?xml version="1.0" encoding="{encoding}"?><html><head><title>t</title></head>'
    return f"{page}<body><h1>Chapter</h1><p>{words}</p></body></html>".encode(encoding)


def book(**changes: bytes | None) -> bytes:
    """Return a book, with some of its parts changed or left out."""
    parts: dict[str, bytes | None] = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": CONTAINER.encode(),
        "OEBPS/book.opf": PACKAGE.encode(),
        "OEBPS/text/one.xhtml": chapter("High water comes twice"),
        "OEBPS/text/two b.xhtml": chapter("Größe eines Knotens", "iso-8859-1"),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, part in (parts | changes).items():
            if part is not None:
                archive.writestr(name, part)
    return content.getvalue()


def only(folder: Path, name: str, content: bytes) -> dict[str, Any]:
    (folder / name).write_bytes(content)
    [data] = read(SOURCE, folder).values()
    return data


def test_a_book_has_its_chapters_in_the_order_they_are_read(tmp_path: Path) -> None:
    data = only(tmp_path, "tides.epub", book())
    assert data["body"].splitlines() == [
        *("Chapter", "High water comes twice"),
        *("Chapter", "Größe eines Knotens"),
    ]
    assert (data["title"], data["author"]) == ("Tides & ropes", "Nora Lind, Ben Lind")
    assert (data["pages"], data["kind"]) == (2, "book")
    assert data["created_at"] == "2020-05-01T00:00:00Z"
    assert told(SOURCE, tmp_path) == []


def encryption(name: str) -> bytes:
    return (
        "<encryption><EncryptedData><CipherData>"
        f'<CipherReference URI="{name}"/></CipherData></EncryptedData></encryption>'
    ).encode()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"META-INF/encryption.xml": encryption("OEBPS/text/one.xhtml")}, "copy protection"),
        ({"META-INF/encryption.xml": encryption("OEBPS/f.otf")}, ""),
        ({"META-INF/container.xml": None}, ""),
        ({"OEBPS/book.opf": None}, "damaged"),
        ({"OEBPS/book.opf": None, "META-INF/container.xml": None}, "damaged"),
        ({"OEBPS/text/one.xhtml": None}, "pages that cannot be read"),
    ],
)
def test_a_book_that_cannot_be_read_whole_is_kept_and_told(
    tmp_path: Path, changes: dict[str, bytes | None], reason: str
) -> None:
    data = only(tmp_path, "b.epub", book(**changes))
    assert data["size_bytes"]
    reasons = [finding.reason for finding in told(SOURCE, tmp_path)]
    assert (reason in reasons[0]) if reason else (reasons == [])


def test_a_book_of_pages_without_words_is_not_unpacked_without_end(tmp_path: Path) -> None:
    pages = {f"p{number}": f"{number}.xhtml" for number in range(40)}
    listed = "".join(f'<item id="{name}" href="{page}"/>' for name, page in pages.items())
    order = "".join(f'<itemref idref="{name}"/>' for name in pages)
    package = f"<package><manifest>{listed}</manifest><spine>{order}</spine></package>"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("book.opf", package)
        for page in pages.values():
            archive.writestr(page, "<!--" + "-" * (4 << 20))
    assert only(tmp_path, "b.epub", content.getvalue())["body"] == ""
    [finding] = told(SOURCE, tmp_path)
    assert finding.reason == "the text of a book that unpacks to far more than books hold"


def test_a_book_by_itself_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "b.epub").write_bytes(book())
    seen = look(SOURCE, tmp_path / "b.epub")
    assert isinstance(seen, ExportRefusal)
    assert "import the folder" in seen.message


RTF = (
    rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Helvetica;}}{\colortbl;\red255;}"
    rb"{\info{\title Tides \'26 ropes}{\author Nora Lind}{\creatim\yr2026}}"
    rb"{\*\generator Pier 3}\viewkind4\uc1\pard\f0\fs24 Caf\'e9 at the \b pier\b0 :\tab "
    b"ten\r\n o\\rquote clock\\par\r\n"
    rb"{\pict\pngblip 89504e47}\u8364? 5 \u-10179?\u-8694? a\~b \{x\}\line second\page "
    rb"{\field{\*\fldinst HYPERLINK x}{\fldrslt the link}}\par}"
)


def test_rich_text_has_its_words_and_letters(tmp_path: Path) -> None:
    data = only(tmp_path, "note.rtf", RTF)
    assert data["body"].splitlines() == [
        "Café at the pier:\tten o’clock",
        "€ 5 😊 a b {x}",
        "second",
        "the link",
    ]
    assert (data["title"], data["author"], data["pages"]) == ("Tides & ropes", "Nora Lind", 2)


@pytest.mark.parametrize(
    ("code_page", "words"), [(1251, "Привет"), (932, "灯台"), (65001, "Größe"), (99, "plain")]
)
def test_rich_text_is_read_in_its_code_page(tmp_path: Path, code_page: int, words: str) -> None:
    raw = words.encode("utf-8" if code_page in (65001, 99) else f"cp{code_page}")
    codes = "".join(f"\\'{byte:02x}" for byte in raw)
    content = f"{{\\rtf1\\ansi\\ansicpg{code_page} {codes}}}".encode()
    assert only(tmp_path, "a.rtf", content)["body"] == words


def test_rich_text_survives_pictures_as_bytes_and_is_told_where_it_is_cut(tmp_path: Path) -> None:
    content = b"{\\rtf1 before {\\pict\\bin5 }}}\\{}after}"
    assert only(tmp_path, "a.rtf", content)["body"] == "before after"
    assert only(tmp_path, "a.rtf", RTF[:-30])["body"] == ""
    [finding] = told(SOURCE, tmp_path)
    assert finding.reason == "the text of a document that is damaged"


@pytest.mark.parametrize(
    "content",
    [
        b"{\\rtf1 " + rb"\'41" * 2_000_000 + b"}",
        b"{\\rtf1 " + b"a\n" * 2_000_000 + b"}",
        b"{\\rtf1 " + b"{" * 500_000 + b"}" * 500_000 + b"}",
    ],
    ids=["letters as codes", "lines", "groups"],
)
def test_rich_text_without_end_is_read_in_bounded_time(tmp_path: Path, content: bytes) -> None:
    with computing_at_most(20):
        assert len(only(tmp_path, "a.rtf", content)["body"]) <= LONGEST_TEXT
        assert told(SOURCE, tmp_path)


def test_books_and_rich_text_come_in_once(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "b.epub").write_bytes(book())
    (folder / "a.rtf").write_bytes(RTF)
    assert len(check_twice(folder, tmp_path)) == 2


def test_books_and_rich_text_are_found_among_other_files(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "b.epub").write_bytes(book())
    (folder / "a.rtf").write_bytes(RTF)
    (folder / "x.bin").write_bytes(b"\x00")
    home = Home(tmp_path / "home")
    home.bring(folder)
    assert {data["kind"] for data in home.records().values()} == {"book", "text document"}
