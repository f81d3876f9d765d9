from hashlib import sha256
from pathlib import Path

from tests.cli.shell import pdpp, pdpp_here


def test_files_are_kept_by_the_hash_of_their_bytes(diary: Path, tmp_path: Path) -> None:
    photo, other = tmp_path / "a photo.png", tmp_path / "unknown"
    photo.write_bytes(b"png bytes")
    other.write_bytes(b"")
    kept = pdpp("blob", "add", photo, other, "--json", data=diary).document["blobs"]
    assert kept[0] == {
        "file": str(photo),
        "blob_id": sha256(b"png bytes").hexdigest(),
        "mime_type": "image/png",
        "size_bytes": 9,
        "sha256": sha256(b"png bytes").hexdigest(),
    }
    assert kept[1]["mime_type"] == "application/octet-stream"
    assert pdpp("check", data=diary).code == 0


def test_a_person_sees_the_id_beside_the_name(diary: Path, tmp_path: Path) -> None:
    note = tmp_path / "note"
    note.write_text("hello")
    ended = pdpp_here("blob", "add", note, "--type", "text/plain", data=diary)
    assert ended.out == f"{sha256(b'hello').hexdigest()}  {note}\n"


def test_a_missing_file_and_a_strange_type_are_wrong_usage(diary: Path) -> None:
    assert "does not exist" in pdpp_here("blob", "add", "/nowhere", data=diary).failed(code=64)
    told = pdpp_here("blob", "add", __file__, "--type", "photo", data=diary).failed(code=64)
    assert "'photo' is not a media type such as image/png" in told
