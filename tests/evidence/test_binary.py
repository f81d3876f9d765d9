import base64
import hashlib
import random
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.binary import OCTETS, Binary, describe, is_text_media, sniff
from pdpp.model.declaration import Kind

from .texts import TEXT

NOISE = random.Random(7).randbytes(3000)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(2000)


def _binary(content: bytes, media_type: str = OCTETS) -> Binary:
    return Binary(media_type, len(content), hashlib.sha256(content).hexdigest())


@pytest.mark.scenario("S006")
def test_a_blob_reference_is_described_by_what_it_says() -> None:
    reference = {"blob_id": "b-1", "mime_type": "image/png", "size_bytes": 5, "sha256": "ab"}
    assert describe(reference, Kind.BLOB) == Binary("image/png", 5, "ab", "b-1")
    assert describe({"blob_id": "b-1", "sha256": "ab"}) == Binary(OCTETS, None, "ab", "b-1")
    assert describe({"blob_id": "b-1", "mime_type": 1}) == Binary(OCTETS, None, None, "b-1")


@pytest.mark.parametrize("value", [{"blob_id": "b-1"}, {"blob_id": 1, "sha256": "a"}, {}, [], 7])
def test_other_values_are_not_binary(value: object) -> None:
    assert describe(value) is None
    assert describe(value, Kind.JSON) is None


@pytest.mark.scenario("S006")
@pytest.mark.parametrize(
    "encoded",
    [
        base64.b64encode(NOISE).decode(),
        base64.encodebytes(NOISE).decode(),
        "\r\n".join(textwrap.wrap(base64.b64encode(NOISE).decode(), 64)),
        base64.urlsafe_b64encode(NOISE).decode(),
        base64.urlsafe_b64encode(NOISE).decode().rstrip("="),
    ],
)
def test_long_base64_is_described_by_the_bytes_it_stands_for(encoded: str) -> None:
    assert describe(encoded) == _binary(NOISE)
    assert describe(encoded, Kind.TEXT) == _binary(NOISE)


@given(st.binary(min_size=1, max_size=300).map(lambda seed: random.Random(seed).randbytes(2000)))
def test_random_bytes_are_never_taken_for_text(content: bytes) -> None:
    assert describe(base64.b64encode(content).decode()) == _binary(content, sniff(content))


def test_a_known_format_is_binary_however_its_bytes_are_spread() -> None:
    assert describe(base64.b64encode(PNG).decode()) == _binary(PNG, "image/png")


def test_a_data_uri_is_described_by_its_bytes_and_its_own_media_type() -> None:
    encoded = base64.b64encode(PNG).decode()
    assert describe(f"data:image/PNG;name=x;base64,{encoded}") == _binary(PNG, "image/png")
    assert describe(f"DATA:;base64,{encoded}") == _binary(PNG, "image/png")
    assert describe("data:text/plain,hello") is None
    assert describe("data:image/png;base64,not base64!") is None


def test_a_declared_binary_field_is_binary_whatever_it_holds() -> None:
    assert describe("aGVsbG8=", Kind.BINARY) == _binary(b"hello")
    assert describe("not base64", Kind.BLOB) == _binary(b"not base64")
    assert describe([1, 2], Kind.BINARY) == _binary(b"[1,2]")
    assert describe(None, Kind.BINARY) is None
    assert describe("aGVsbG8=") is None


@pytest.mark.parametrize(
    "text",
    [
        "Lorem ipsum dolor sit amet 1 " * 100,
        "LoremIpsumDolorSitAmet22" * 100,
        "HELLOworld11" * 100,
        "HelloWORLD11" * 100,
        "Donaudampfschifffahrtsgesellschaft24" * 60,
        "a" * 4096,
        "ABCDabcd0123" * 200,
        hashlib.sha256(b"x").hexdigest() * 40,
        "\n".join(f"User{number:04}" for number in range(400)),
        "\n".join(hashlib.sha1(bytes([n])).hexdigest() for n in range(100)),  # noqa: S324
        "Some-Long-Slug-2024_of_Words-" * 60,
        "東京都" * 1000,
        "/Users/Alice1/Documents/Reports" * 64,
        "\n" * 5000,
        "A1b=" * 400,
        base64.b64encode(NOISE).decode()[:-1] + "a" * 2,
        base64.b64encode(NOISE).decode().replace("a", "-", 1) + "+",
        base64.b64encode(NOISE).decode() + "ab",
    ],
)
def test_natural_text_is_never_taken_for_binary(text: str) -> None:
    assert describe(text) is None


@given(TEXT)
def test_text_with_spaces_or_marks_is_never_taken_for_binary(text: str) -> None:
    assert describe(f"{text} " * 60, Kind.TEXT) is None


def test_a_hostile_text_is_judged_in_linear_time() -> None:
    began = time.perf_counter()
    assert describe("\n" * 1_000_000 + "!") is None
    assert describe("aB1" * 300_000 + "!") is None
    assert time.perf_counter() - began < 60  # quadratic work would take hours


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF1234WEBPVP8 ", "image/webp"),
        (b"RIFF1234WAVEfmt ", "audio/wav"),
        (b"%PDF-1.7", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08\x00", "application/gzip"),
        (b"ID3\x03", "audio/mpeg"),
        (b"OggS", "audio/ogg"),
        (b"\x00\x00\x00\x20ftypisom", "video/mp4"),
        (b"", OCTETS),
    ],
)
def test_the_first_bytes_show_the_media_type(content: bytes, media_type: str) -> None:
    assert sniff(content) == media_type


@pytest.mark.parametrize(
    ("media_type", "textual"),
    [
        ("text/plain; charset=utf-8", True),
        ("Text/HTML", True),
        ("application/json", True),
        ("application/ld+json", True),
        ("application/atom+xml", True),
        ("image/svg+xml", True),
        ("application/x-yaml", True),
        ("application/javascript", True),
        ("application/csv", True),
        ("application/pdf", False),
        ("image/png", False),
        (OCTETS, False),
        ("", False),
    ],
)
def test_a_media_type_tells_whether_content_reads_as_text(media_type: str, textual: bool) -> None:
    assert is_text_media(media_type) is textual
