"""A clinic: a server that is well, whatever somebody puts in front of it, and a doctor for both."""

import atexit
import datetime
import shutil
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from tests.engine import copy_store, open_store
from tests.resource.library import library_store
from tests.serving import DEADLINE, UNLIMITED, listening, running

from pdpp.app import make_app
from pdpp.authz.client_document import DocumentFetcher
from pdpp.authz.owner import hash_passphrase, keep_passphrase
from pdpp.doctor.examination import examine
from pdpp.doctor.finding import Finding, StepOutcome
from pdpp.doctor.folder import ByFolder
from pdpp.doctor.passphrase import ByPassphrase
from pdpp.doctor.state import Approver, ExaminationState, mcp_url
from pdpp.doctor.wire import Wire
from pdpp.model import instant
from pdpp.service.settings import Settings
from pdpp.store.port import Store

PASSPHRASE = "correct horse battery staple"
FREE = replace(
    UNLIMITED, oauth_requests_per_second=0, registrations_per_minute=0, client_documents=False
)
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Meddler:
    """A proxy that passes everything on, but for what it was told to spoil at some paths."""

    paths: tuple[str, ...] = ("",)
    method: str | None = None
    when: Callable[[Scope], bool] = lambda _: True
    instead: tuple[int, str, bytes] | None = None
    location: str | None = None
    request_headers: Callable[[Headers], Headers] = lambda headers: headers
    request_body: Callable[[bytes], bytes] | None = None
    status: int | None = None
    headers: Callable[[Headers], Headers] = lambda headers: headers
    body: Callable[[bytes], bytes] | None = None

    def before(self, app: ASGIApp) -> ASGIApp:
        """Return an application with this in front."""

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and self._meddles(scope):
                await self._spoil(app, scope, receive, send)
            else:
                await app(scope, receive, send)

        return serve

    def _meddles(self, scope: Scope) -> bool:
        ours = any(scope["path"] == path or path == "" for path in self.paths)
        ours = ours or any(p.endswith("*") and scope["path"].startswith(p[:-1]) for p in self.paths)
        return ours and self.method in (None, scope["method"]) and self.when(scope)

    async def _spoil(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        if self.instead is not None:
            await _answer(send, *self.instead, self.location)
            return
        scope = {**scope, "headers": self.request_headers(list(scope["headers"]))}
        inward = receive if self.request_body is None else await self._changed(scope, receive)
        await app(scope, inward, self._changing(send))

    async def _changed(self, scope: Scope, receive: Receive) -> Receive:
        assert self.request_body is not None
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        body = self.request_body(body)
        scope["headers"] = [
            (name, str(len(body)).encode() if name == b"content-length" else value)
            for name, value in scope["headers"]
        ]

        async def again() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        return again

    def _changing(self, send: Send) -> Callable[[Message], Awaitable[None]]:
        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = self.headers(list(message["headers"]))
                if self.body is not None:
                    kept = without(b"content-length")(kept)
                message = {**message, "headers": kept, "status": self.status or message["status"]}
            elif self.body is not None and message.get("body"):
                message = {**message, "body": self.body(message["body"])}
            await send(message)

        return pass_on


async def _answer(
    send: Send, status: int, media_type: str, body: bytes, location: str | None
) -> None:
    headers = [(b"content-type", media_type.encode()), (b"server", b"edge")]
    headers += [(b"content-length", str(len(body)).encode())]
    if location is not None:
        headers.append((b"location", location.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def without(*names: bytes) -> Callable[[Headers], Headers]:
    """Return what takes headers away."""
    return lambda headers: [(name, value) for name, value in headers if name not in names]


def page(title: str, status: int = 200) -> tuple[int, str, bytes]:
    """Return the page of somebody in between."""
    body = f"<!doctype html><title>{title}</title><p>Checking your browser."
    return status, "text/html", body.encode()


@dataclass(frozen=True, slots=True)
class Clinic:
    """A server to examine, and its store."""

    url: str
    store: Store
    authorities: str | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def by_folder(self) -> Approver:
        """Return who says yes beside the store."""
        return ByFolder(self.store, instant.now)

    def by_passphrase(self, passphrase: str = PASSPHRASE) -> Approver:
        """Return who says yes with the passphrase."""
        return ByPassphrase(Wire(authorities=self.authorities), passphrase)

    def state(
        self, approver: Approver | None = None, url: str | None = None, **more: Any
    ) -> ExaminationState:
        """Return the state of a new examination."""
        wire = Wire(seconds=DEADLINE, authorities=self.authorities)
        return ExaminationState(mcp_url(url or self.url), wire, approver, **more)

    def examine(
        self, approver: Approver | None = None, url: str | None = None, **more: Any
    ) -> dict[str, Finding]:
        """Return what each step found."""
        return {found.step: found for found in examine(self.state(approver, url, **more))}


def broken(findings: dict[str, Finding]) -> list[str]:
    """Return the steps that are broken."""
    return [step for step, found in findings.items() if found.outcome is StepOutcome.BROKEN]


def untried(findings: dict[str, Finding]) -> list[str]:
    """Return the steps that were not tried."""
    return [step for step, found in findings.items() if found.outcome is StepOutcome.UNTRIED]


@contextmanager
def clinic(
    folder: Path,
    meddler: Meddler | None = None,
    *,
    settings: Settings = FREE,
    owned: bool = True,
    fetcher: DocumentFetcher | None = None,
    named: Callable[[str], str] = lambda url: url,
) -> Iterator[Clinic]:
    """Serve a library under its own address, with somebody in front of it."""
    store = owned_library(folder) if owned else library_store(folder)
    listener = listening()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        documents = settings.client_documents or fetcher is not None
        chosen = replace(settings, origin=named(url), client_documents=documents)
        app = make_app(store, chosen, fetcher=fetcher)
        front = app if meddler is None else meddler.before(app)
        with running(front, listener):
            yield Clinic(url, store)
    finally:
        store.close()


def owned_library(folder: Path) -> Store:
    """Open a library whose owner has a passphrase; a process makes it once and copies it."""
    copy_store(_template(), folder)
    return open_store(folder)


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="pdpp-clinic-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    store = library_store(folder)
    settle(store)
    store.close()
    return folder


def settle(store: Store) -> None:
    """Give the store an owner with a passphrase."""
    with store.vault.transaction() as transaction:
        keep_passphrase(transaction, hash_passphrase(PASSPHRASE))


# With TLS


def certificate(folder: Path, days: float = 90) -> Path:
    """Return a file with a key and a certificate for this machine, which signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "host.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@contextmanager
def secured(folder: Path, days: float = 90) -> Iterator[Clinic]:
    """Serve a library over https."""
    store = owned_library(folder / "data")
    held = certificate(folder, days)
    with listening() as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        app = make_app(store, replace(FREE, origin=url, public=True))
        config = uvicorn.Config(
            app, log_config=None, log_level="warning", ws="none", ssl_certfile=held
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            _wait(server)
            yield Clinic(url, store, str(held))
        finally:
            server.should_exit = True
            thread.join(DEADLINE)
            store.close()


def _wait(server: uvicorn.Server) -> None:
    deadline = instant.now() + int(DEADLINE * instant.SECOND)
    while not server.started:
        assert instant.now() < deadline
        threading.Event().wait(0.01)
