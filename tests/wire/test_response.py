"""Responses, parsed as they come: whole or byte by byte, and beside the parser of the library."""

import io
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any, cast

import pytest

from pdpp.wire.connection import _head
from pdpp.wire.failure import AnswerBrokeOff, AnswerTooLong, NotHttp
from pdpp.wire.response import ResponseReader

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello",
    "nothing": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "no content": b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
    "not modified": b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 9\r\n\r\n',
    "chunks": CHUNKED + b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
    "trailer": CHUNKED + b"1\r\na\r\n0\r\nX-Late: 1\r\n\r\n",
    "until the end": b"HTTP/1.1 200 OK\r\nX-A: \xe9\r\n\r\nall of it",
    "older": b"HTTP/1.0 404 Not Found\r\nContent-Type: text/plain\r\n\r\nno",
    "closing": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    "after continue": b"HTTP/1.1 100 Continue\r\nX-Not: 1\r\n\r\nHTTP/1.1 200 OK\r\n"
    b"Content-Length: 2\r\n\r\nok",
    "no reason": b"HTTP/1.1 401 \r\nContent-Length: 0\r\nWWW-Authenticate: Bearer\r\n\r\n",
    "cookies": b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
    b"Content-Length: 0\r\n\r\n",
}
KEPT = {"length", "nothing", "no content", "not modified", "chunks", "trailer", "after continue"}
KEPT |= {"no reason", "cookies"}


def reading(answer: bytes, size: int, *, has_body: bool = True) -> ResponseReader:
    """Return a reader of bytes that come in pieces of one size, then of the end."""
    pieces: Iterator[bytes] = iter(
        [answer[start : start + size] for start in range(0, len(answer), size)]
    )
    return ResponseReader(lambda: next(pieces, b""), has_body=has_body)


def whole(reader: ResponseReader) -> bytes:
    reader.begin()
    return b"".join(iter(reader.read, b""))


class LibrarySocket:
    """What the parser of the standard library reads from."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer

    def makefile(self, _: str) -> io.BytesIO:
        return io.BytesIO(self.answer)


@pytest.mark.parametrize("size", [1, 2, 7, 65_536])
@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_is_what_the_standard_library_reads_however_it_comes(
    kind: str, size: int
) -> None:
    reader = reading(ANSWERS[kind], size)
    body = whole(reader)
    with HTTPResponse(cast(Any, LibrarySocket(ANSWERS[kind]))) as library:
        library.begin()
        assert (reader.status, body) == (library.status, library.read())
        assert reader.headers == [(name.lower(), value) for name, value in library.getheaders()]
    assert reader.reusable is (kind in KEPT)


@pytest.mark.parametrize("size", [1, 65_536])
def test_the_answer_to_a_head_has_no_body_and_says_its_length(size: int) -> None:
    reader = reading(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", size, has_body=False)
    assert (whole(reader), reader.headers) == (b"", [("content-length", "5")])
    assert reader.reusable


@pytest.mark.parametrize("kind", ["length", "chunks", "trailer", "closing", "after continue"])
def test_an_answer_that_is_cut_anywhere_is_never_taken_for_whole(kind: str) -> None:
    answer = ANSWERS[kind]
    for end in range(1, len(answer)):
        with pytest.raises(AnswerBrokeOff):
            whole(reading(answer[:end], 65_536))


def test_a_connection_that_ends_without_a_word_was_reset() -> None:
    with pytest.raises(ConnectionResetError):
        reading(b"", 1).begin()


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        CHUNKED + b"zz\r\nabc\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n\x00",
    ],
)
def test_what_is_not_http_is_refused(answer: bytes) -> None:
    with pytest.raises(NotHttp):
        whole(reading(answer, 65_536))


@pytest.mark.parametrize("after", [b"junk", ANSWERS["length"], b"\x00" * 9])
def test_what_follows_an_answer_is_dropped_with_its_connection(after: bytes) -> None:
    reader = reading(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + after, 65_536)
    assert whole(reader) == b"ok"
    assert (reader.status, reader.headers) == (200, [("content-length", "2")])
    assert not reader.reusable


@pytest.mark.parametrize("endless", [b"X: y\r\n", b"y", b"b\r\n\r\nHTTP/1.1 100 Continue\r\nA: "])
def test_a_head_without_end_is_not_taken_in(endless: bytes) -> None:
    reader = ResponseReader(iter([b"HTTP/1.1 100 Continue\r\nA: ", *[endless] * 99_999]).__next__)
    with pytest.raises(AnswerTooLong):
        reader.begin()


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("/a b", {}),
        ("/a\r\nHost: other", {}),
        ("/é", {}),
        ("/", {"X": "a\r\nY: b"}),
        ("/", {"X\r\nY": "b"}),
        ("/", {"X": "a\nb"}),
        ("/", {"": "b"}),
    ],
)
def test_a_request_that_could_hold_another_is_not_written(
    target: str, headers: dict[str, str]
) -> None:
    with pytest.raises(ValueError):
        _head("GET", target, headers)
