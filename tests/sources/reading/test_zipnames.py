"""Names in zips that are written in other letters than UTF-8."""

import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from pdpp.sources.reading.tree import open_tree
from pdpp.sources.reading.zipnames import guess_encoding


def old_zip(path: Path, names: list[str], encoding: str, extra: bytes = b"") -> Path:
    """Write a zip as programs do that know no UTF-8."""
    raw = [name.encode(encoding) for name in names]
    stand_ins = [bytes([65 + number]) * len(name) for number, name in enumerate(raw)]
    with zipfile.ZipFile(path, "w") as archive:
        for stand_in in stand_ins:
            info = zipfile.ZipInfo(stand_in.decode())
            info.extra = extra
            archive.writestr(info, b"text")
    content = path.read_bytes()
    for stand_in, name in zip(stand_ins, raw, strict=True):
        content = content.replace(stand_in, name)
    path.write_bytes(content)
    return path


def names_of(path: Path) -> list[str]:
    return [entry.name for entry in open_tree(path).entries]


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp437", ["Größe der Brücke.md", "Löhne/März.md"]),
        ("cp850", ["Relatório de março.md", "São João/Avô à beira.md"]),
        ("cp850", ["Blåbær på Røros.md"]),
        ("cp852", ["Łódź w styczniu.md", "Gdańsk i Wrocław, zażółć gęślą.md"]),
        ("cp866", ["Фото на берегу.md", "Отчёт.md"]),
        ("cp932", ["テスト.md", "2026年の港/灯台.md"]),
        ("cp932", ["写真.md", "資料.md"]),
        ("gbk", ["会议记录.md", "照片/海边的灯塔.md"]),
        ("euc_kr", ["등대와 바다 이야기.md", "회의 기록.md", "사진 모음.md"]),
        ("big5", ["會議記錄.md", "燈塔的照片.md"]),
        ("utf-8", ["Größe.md", "灯台.md", "Фото.md"]),
    ],
)
def test_names_are_read_in_the_letters_of_the_machine_that_wrote_them(
    tmp_path: Path, encoding: str, names: list[str]
) -> None:
    assert names_of(old_zip(tmp_path / "a.zip", names, encoding)) == sorted(names)


@pytest.mark.parametrize("name", ["Été.md", "été", "Schön", "Ärger", "naïve café", "Höhö"])
def test_a_western_name_alone_is_never_taken_for_another(tmp_path: Path, name: str) -> None:
    assert names_of(old_zip(tmp_path / "a.zip", [name], "cp437")) == [name]


def test_the_name_in_utf_8_beside_the_old_one_is_believed_if_it_is_of_it(tmp_path: Path) -> None:
    for checksum, expected in ((zlib.crc32(b"__.md"), "灯台.md"), (7, "__.md")):
        told = struct.pack("<BL", 1, checksum) + "灯台.md".encode()
        extra = struct.pack("<HH", 0x7075, len(told)) + told
        assert names_of(old_zip(tmp_path / "a.zip", ["__.md"], "ascii", extra)) == [expected]


def test_names_that_make_sense_in_no_encoding_keep_a_letter_for_each_byte() -> None:
    assert guess_encoding([b"\xff\xfe\xb0"]) == guess_encoding([]) == "cp437"


def test_a_name_with_a_step_that_leads_nowhere_is_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("./", "./a.md", "a.md", "././b/.//c.md", ".hidden/d..md", "./b/.e"):
            archive.writestr(name, name)
    tree = open_tree(path)
    assert names_of(path) == [".hidden/d..md", "a.md", "b/.e", "b/c.md"]
    assert [(skip.reason, skip.example) for skip in tree.refused] == [("a name used twice", "a.md")]


def test_steps_that_lead_nowhere_hide_none_that_lead_outside(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("./../a.md", ".//b.md", "./.../c.md"):
            archive.writestr(name, name)
    assert names_of(path) == [".../c.md", "b.md"]
    assert [skip.reason for skip in open_tree(path).refused] == [
        "a name that leads outside the archive"
    ]
