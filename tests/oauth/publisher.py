"""A stranger's web server that publishes client documents over TLS, well or badly."""

import datetime
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pdpp.authz.client_document import DocumentFetcher

HOST = "client.example"
Reply = Callable[[str], bytes]


@cache
def certificate() -> Path:
    """Return a file with a key and a certificate for the host, which signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = Path(mkdtemp(prefix="pdpp-cert-")) / "host.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@dataclass(slots=True)
class Publisher:
    """A server that answers every request with what it is told."""

    port: int
    reply: Reply
    asked: list[str] = field(default_factory=list)

    @property
    def client_id(self) -> str:
        """Return the address of the document."""
        return f"https://{HOST}:{self.port}/client.json"

    def fetcher(self, addresses: Sequence[str] = ("127.0.0.1",), **members: Any) -> DocumentFetcher:
        """Return a fetcher that finds this server and takes the loopback for public."""

        async def resolve(_host: str, _port: int) -> Sequence[str]:
            return addresses

        def context() -> ssl.SSLContext:
            return ssl.create_default_context(cafile=str(certificate()))

        found: dict[str, Any] = {"allowed": lambda address: address == "127.0.0.1", **members}
        return DocumentFetcher(resolve=resolve, context=context, **found)


def document(client_id: str, **members: Any) -> dict[str, Any]:
    """Return a good client document."""
    return {
        "client_id": client_id,
        "client_name": "Published app",
        "redirect_uris": ["http://localhost/callback", f"https://{HOST}/callback"],
        "token_endpoint_auth_method": "none",
        **members,
    }


def answer(
    body: bytes, status: str = "200 OK", media_type: str = "application/json", more: str = ""
) -> bytes:
    """Return an HTTP answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}{more}\r\n".encode() + body


def good(client_id: str) -> bytes:
    """Return the answer with a good document."""
    return answer(json.dumps(document(client_id)).encode())


@contextmanager
def publishing(reply: Reply = good) -> Iterator[Publisher]:
    """Serve documents until the block ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        publisher = Publisher(listener.getsockname()[1], reply)
        thread = threading.Thread(target=_serve, args=(listener, context, publisher), daemon=True)
        thread.start()
        try:
            yield publisher
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def _serve(listener: socket.socket, context: ssl.SSLContext, publisher: Publisher) -> None:
    while True:
        try:
            plain, _ = listener.accept()
        except OSError:
            return
        with plain, suppress(OSError), context.wrap_socket(plain, server_side=True) as connection:
            connection.settimeout(10)
            publisher.asked.append(connection.recv(65_536).decode())
            connection.sendall(publisher.reply(publisher.client_id))
