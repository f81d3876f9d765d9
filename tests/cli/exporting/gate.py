"""A gate before a server: it lets so many requests through, as fast as a test wants."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(slots=True)
class Gate:
    """Passes bytes on; once ``left`` requests have passed it drops every connection."""

    target: tuple[str, int]
    url: str = ""
    left: int | None = None
    pause: float = 0.0
    asked: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the gate is closed."""
        while not self.ended.is_set():
            try:
                near, _ = listener.accept()
            except OSError:
                return
            if self.left == 0:
                near.close()
                continue
            far = socket.create_connection(self.target)
            for way in ((near, far, self._ask), (far, near, self._answer)):
                threading.Thread(target=self._pass, args=way, daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, look: object) -> None:
        assert callable(look)
        with suppress(OSError):
            while (chunk := source.recv(16_384)) and look(chunk):
                sink.sendall(chunk)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        source.close()

    def _ask(self, chunk: bytes) -> bool:
        if chunk.startswith(b"GET "):
            if self.left == 0:
                return False
            self.asked.append(chunk.split(b" ")[1].decode())
            self.left = None if self.left is None else self.left - 1
        return True

    def _answer(self, chunk: bytes) -> bool:
        self.ended.wait(self.pause)
        return bool(chunk)


@contextmanager
def gated(url: str) -> Iterator[Gate]:
    """Stand before a server until the block ends."""
    host, port = url.removeprefix("http://").split(":")
    gate = Gate((host, int(port)))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gate.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=gate.serve, args=(listener,), daemon=True).start()
        yield gate
        gate.ended.set()
