"""An S3-compatible object store from a wheel (SeaweedFS): one for all tests of a file."""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

KEY_ID = "KEYOFTHETESTSALONE00"
KEY_SECRET = "secret-of-the-tests-alone"
BUCKET = "tests"
_PROGRAM = Path(sys.executable).with_name("weed")
_SOCKETS = Path("/tmp")  # noqa: S108 - the server's own choice
_START_SECONDS = 60
_TRIES = 3


def object_store() -> str:
    """Return where the server is, started when it is first asked for."""
    return _running()[1]


def end_object_store() -> None:
    """Stop the server, if there is one: it takes an eighth of a core while nobody asks it."""
    if _running.cache_info().currsize:
        _stop(_running()[0])
        _running.cache_clear()


@cache
def _running() -> tuple["subprocess.Popen[bytes]", str]:
    folder = Path(tempfile.mkdtemp(prefix="pdpp-objects-"))
    # What is registered first comes last: the server is stopped before its folder goes.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for attempt in range(_TRIES):
        place = folder / str(attempt)
        place.mkdir()
        server, address = _start(place)
        atexit.register(_stop, server)
        if _answers(server, address):
            return server, address
        _stop(server)  # another process had taken one of its ports
    raise AssertionError((folder / "0" / "log").read_text())


def client(address: str, prefix: str = "") -> S3Store:
    """Return a client of the server, to look at what others put there."""
    return S3Store(
        BUCKET,
        prefix=prefix or None,
        endpoint=address,
        region="us-east-1",
        access_key_id=KEY_ID,
        secret_access_key=KEY_SECRET,
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )


def objects(address: str, prefix: str) -> dict[str, bytes]:
    """Return everything that is below a prefix."""
    store = client(address)
    return {
        entry["path"]: bytes(obstore.get(store, entry["path"]).bytes())
        for page in obstore.list(store, prefix)
        for entry in page
    }


def _start(folder: Path) -> tuple["subprocess.Popen[bytes]", str]:
    keys = {"accessKey": KEY_ID, "secretKey": KEY_SECRET}
    identity = {"name": "tests", "credentials": [keys], "actions": ["Admin"]}
    (folder / "keys.json").write_text(json.dumps({"identities": [identity]}))
    ports = _free_ports(8)
    names = ("master", "volume", "filer", "s3")
    for name, inner in zip(names, ports[1::2], strict=True):
        # The server leaves its sockets lie, wherever its own files are.
        left = _SOCKETS / f"seaweedfs-{name}-grpc-{inner}.sock"
        atexit.register(left.unlink, missing_ok=True)
    listening = [
        option
        for name, port, inner in zip(names, ports[::2], ports[1::2], strict=True)
        for option in (f"-{name}.port={port}", f"-{name}.port.grpc={inner}")
    ]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                _PROGRAM,
                "server",
                "-filer",
                "-s3",
                "-ip=127.0.0.1",
                "-ip.bind=127.0.0.1",
                f"-dir={folder}",
                f"-s3.config={folder / 'keys.json'}",
                f"-filer.localSocket={folder / 'filer'}",
                f"-s3.localSocket={folder / 's3'}",
                "-s3.port.iceberg=0",
                "-s3.port.lance=0",
                "-master.telemetry=false",
                "-master.volumeSizeLimitMB=64",
                "-volume.max=4",
                *listening,
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "GOMEMLIMIT": "200MiB", "HOME": str(folder)},
        )
    return server, f"http://127.0.0.1:{ports[6]}"


def _free_ports(count: int) -> list[int]:
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in taken]
    for listener in taken:
        listener.close()
    return ports


def _answers(server: "subprocess.Popen[bytes]", address: str) -> bool:
    """Wait until an object can be kept; tell whether the server came so far."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            obstore.put(client(address), "ready", b"yes")
        except (BaseError, OSError):
            time.sleep(0.1)
        else:
            return True
    return False


def _stop(server: "subprocess.Popen[bytes]") -> None:
    server.kill()
    server.wait()
