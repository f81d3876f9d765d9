"""Plain texts as documents, where the owner calls them so."""

from pathlib import Path

from tests.sources.kit import Home, look

from pdpp.sources.formats.documents.source import Documents


def texts(folder: Path) -> Path:
    folder.mkdir()
    (folder / "herring.txt").write_bytes(b"Herring keeps\r\nin salt\r\n")
    (folder / "west.txt").write_bytes("Grüße von der Mole".encode("cp1252"))
    (folder / "wide.txt").write_bytes("Tide at six".encode("utf-16"))
    (folder / "program.txt").write_bytes(b"\x7fELF\x01\x02\x00\x00")
    (folder / "nothing.txt").write_bytes(b"")
    (folder / "long.txt").write_bytes(b"knot " * 300_000)
    return folder


def test_plain_texts_come_in_where_the_owner_calls_them_documents(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    folder = texts(tmp_path / "texts")
    report = home.bring(folder, "--as", "documents")
    bodies = {str(data["name"]): str(data["body"]) for data in home.records().values()}
    assert len(bodies.pop("long.txt")) == 1_000_000
    assert bodies == {
        "herring.txt": "Herring keeps\nin salt\n",
        "west.txt": "Grüße von der Mole",
        "wide.txt": "Tide at six",
        "program.txt": "",
        "nothing.txt": "",
    }
    assert {case["reason"] for case in report["skipped"]} == {
        "the text of a file that is no text",
        "the end of a document that is very long",
    }
    again = home.bring(folder, "--as", "documents")
    assert (again["counts"]["new"], again["counts"]["changed"]) == (0, 0)


def test_plain_texts_are_left_alone_where_nobody_says_so(tmp_path: Path) -> None:
    folder = texts(tmp_path / "texts")
    assert look(Documents(), folder) is None
    refused = Home(tmp_path / "home").run(folder, "--yes")
    assert "--as documents" in refused.err
