"""A witness at an https address: a real server with a certificate of an authority of its own."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from pdpp.receipts.witness import make_witness

HASH = bytes(range(32))
AT = 1_772_366_400_000_000


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def make_authority(folder: Path) -> tuple[Path, Path]:
    """Write an authority's certificate, and a server's certificate with its key."""
    now = datetime.now(UTC)
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))

    def certificate(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(_name(subject))
            .issuer_name(_name("authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + timedelta(hours=1))
        )

    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    root = (
        certificate("authority", authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False
        )
        .sign(authority_key, hashes.SHA256())
    )
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    leaf = (
        certificate("witness", server_key)
        .add_extension(names, critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
            critical=False,
        )
        .sign(authority_key, hashes.SHA256())
    )
    trusted, served = folder / "authority.pem", folder / "server.pem"
    trusted.write_bytes(root.public_bytes(Encoding.PEM))
    private = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    served.write_bytes(private + leaf.public_bytes(Encoding.PEM))
    return trusted, served


class _Server(ThreadingHTTPServer):
    """Keeps what it is told; ``status`` is its answer."""

    daemon_threads = True
    status = 204
    told: list[dict[str, Any]]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A handshake that the other side gives up is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told.append(json.loads(body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def listening(served: Path) -> Iterator[_Server]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.told = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def witness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    trusted, served = make_authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with listening(served) as server:
        yield server


def address(server: _Server) -> str:
    return f"https://127.0.0.1:{server.server_address[1]}/heads"


def test_an_https_witness_is_told_the_end_of_the_log(witness: _Server) -> None:
    tell = make_witness(address(witness))
    assert tell is not None
    tell(AT, 7, HASH)
    assert witness.told == [{"at": "2026-03-01T12:00:00Z", "number": 7, "hash": HASH.hex()}]


def test_a_witness_that_refuses_is_a_failure_that_is_told(witness: _Server) -> None:
    witness.status = 503
    tell = make_witness(address(witness))
    assert tell is not None
    with pytest.raises(OSError, match="the witness answered 503"):
        tell(AT, 7, HASH)


def test_nothing_is_told_to_a_server_that_cannot_prove_who_it_is(
    witness: _Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    stranger, _ = make_authority(other)
    monkeypatch.setenv("SSL_CERT_FILE", str(stranger))
    tell = make_witness(address(witness))
    assert tell is not None
    with pytest.raises(Exception, match=r"(?i)certificate"):
        tell(AT, 7, HASH)
    assert witness.told == []
