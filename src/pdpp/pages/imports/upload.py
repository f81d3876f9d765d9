"""Uploads: files on their way here, kept in a private folder until they are imported.

The file on the disk says how much has arrived, so an interrupted upload continues from there: in
another tab, after a restart of the server, or tomorrow.
"""

import errno
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import orjson

from pdpp.authz.requester import one_line
from pdpp.model.errors import Conflict, InvalidRequest, NotFound, PayloadTooLarge
from pdpp.model.instant import DAY, SECOND
from pdpp.private import locked_folder, make_folder, write_file
from pdpp.sources.importing.place import UPLOADED_FOLDER

MOST_BYTES = 64 << 30
MOST_FILES = 50_000
MOST_UPLOADS = 20
CHUNK_BYTES = 8 << 20
_SPARE_BYTES = 256 << 20
_SETTLED = 3_600 * SECOND
KEPT = 7 * DAY
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL = "The disk of the server has no room for these files. Make room, or send fewer."
_NAME = "uploads"
_MANIFEST = "manifest.json"
_ID = re.compile(r"[0-9a-f]{24}\Z", re.ASCII)
_LONGEST_TITLE = 200
_LONGEST_NAME = 200
"""In bytes: a file system takes 255 for a file or a folder."""
_LONGEST_ENDING = 20
_LONGEST_PATH = 2_000
"""In bytes: a system takes 4,096 with the folder in front."""
_MOST_PARTS = 40
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*]' if os.name == "nt" else r"[\x00-\x1f\x7f]")
"""Elsewhere than on Windows a note may be called "Why?", and links to it say so."""


class UploadedFile(NamedTuple):
    """One file of an upload: where it lies in what was dropped, and how large it is.

    ``modified`` is when it was last changed, by the clock of the browser: a file that was changed
    may have the same size.
    """

    name: str
    size: int
    modified: int = 0


@dataclass(frozen=True, slots=True)
class Upload:
    """Files that are uploaded together; ``path`` is set where they lie elsewhere already.

    ``arriving`` says that a form still sends files, or that it broke off and nobody could tell:
    only its end says which files it has.
    """

    id: str
    created_at: int
    files: tuple[UploadedFile, ...]
    path: str | None = None
    jobs: tuple[str, ...] = ()
    arriving: bool = False

    @property
    def size(self) -> int:
        """Return how many bytes it has in all."""
        return sum(file.size for file in self.files)

    @property
    def title(self) -> str:
        """Return what it is called."""
        if self.path is not None:
            return one_line(Path(self.path).name or self.path, _LONGEST_TITLE)
        names = list(dict.fromkeys(file.name.split("/")[0] for file in self.files))
        if not names:
            return "Files of a form"
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        return one_line(names[0], _LONGEST_TITLE) + more


class UploadFolder:
    """Keeps uploads under the data folder, for the owner alone."""

    def __init__(self, data: Path) -> None:
        self._folder = data / _NAME

    def begin(self, files: Sequence[UploadedFile], now: int) -> Upload:
        """Return a new upload, or the unfinished one of the very same files."""
        _check(files)
        with self._room_for_one(now):
            for upload in self.uploads():
                if upload.files == tuple(files) and not upload.jobs and upload.path is None:
                    return upload
            return self._new(Upload(_new_id(), now, tuple(files)))

    def begin_form(self, now: int) -> Upload:
        """Return a new upload whose files are not known yet: a form tells them one by one."""
        with self._room_for_one(now):
            return self._new(Upload(_new_id(), now, (), arriving=True))

    def link(self, path: Path, now: int) -> Upload:
        """Return an upload of files that are already on the server's own disk."""
        with self._room_for_one(now):
            return self._new(Upload(_new_id(), now, (), str(path)))

    @contextmanager
    def _room_for_one(self, now: int) -> Iterator[None]:
        """Remove what is too old, and let nobody else begin an upload meanwhile.

        Two tabs that begin at once would otherwise both find no upload of their files, or both
        take the last place.
        """
        make_folder(self._folder)
        with locked_folder(self._folder):
            self.sweep(now)
            yield

    @contextmanager
    def held(self, upload_id: str) -> Iterator[Upload]:
        """Yield an upload that nobody else answers for, begins or removes meanwhile."""
        self.get(upload_id)
        with locked_folder(self._folder):
            yield self.get(upload_id)

    def _new(self, upload: Upload) -> Upload:
        if len(list(self.uploads())) >= MOST_UPLOADS:
            raise Conflict("Too many uploads are waiting; import or remove some first.")
        self._check_room(upload.size)
        make_folder(self._folder / upload.id / UPLOADED_FOLDER)
        self.keep(upload)
        return upload

    def _check_room(self, size: int) -> None:
        if shutil.disk_usage(self._folder).free < size + _SPARE_BYTES:
            raise PayloadTooLarge(_FULL)

    def uploads(self) -> Iterator[Upload]:
        """Yield what is kept, the newest first."""
        kept = (self._read(path) for path in self._folder.glob(f"*/{_MANIFEST}"))
        yield from sorted(filter(None, kept), key=lambda upload: -upload.created_at)

    def get(self, upload_id: str) -> Upload:
        """Return an upload by its id."""
        upload = None
        if _ID.match(upload_id):
            upload = self._read(self._folder / upload_id / _MANIFEST)
        if upload is None:
            raise _no_upload()
        return upload

    def root(self, upload: Upload) -> Path:
        """Return the folder with the files of an upload."""
        if upload.path is not None:
            return Path(upload.path)
        return self._folder / upload.id / UPLOADED_FOLDER

    def export(self, upload: Upload) -> Path:
        """Return what is looked at: the one file or folder that was dropped, or all of them.

        An account may be called as its file or folder is.
        """
        root, names = self.root(upload), {file.name.split("/")[0] for file in upload.files}
        return root / names.pop() if len(names) == 1 else root

    def place(self, upload: Upload, number: int) -> Path:
        """Return where a file is written to."""
        if not 0 <= number < len(upload.files):
            raise NotFound("This upload has no such file.")
        return self.root(upload) / upload.files[number].name

    def offsets(self, upload: Upload) -> list[int]:
        """Return how much of each file is here."""
        return [self.offset(upload, number) for number in range(len(upload.files))]

    def offset(self, upload: Upload, number: int) -> int:
        """Return how much of a file is here."""
        return self._arrived(upload, number) or 0

    def _arrived(self, upload: Upload, number: int) -> int | None:
        """Return how much of a file is here; nothing where not even an empty one is."""
        with suppress(FileNotFoundError):
            return self.place(upload, number).stat().st_size
        return None

    def complete(self, upload: Upload) -> bool:
        """Tell whether all of it is here."""
        if upload.path is not None:
            return True
        return not upload.arriving and all(
            self._arrived(upload, number) == file.size for number, file in enumerate(upload.files)
        )

    def write(self, upload: Upload, number: int, offset: int, chunk: bytes) -> int:
        """Put bytes at their place; return where the next ones go.

        Bytes that are here already may come again, from another tab: they are the same.
        """
        path, size = self.place(upload, number), upload.files[number].size
        if upload.jobs:
            raise Conflict("This upload is being imported already.")
        if offset + len(chunk) > size:
            raise PayloadTooLarge("The file grew while it was uploaded. Upload it again.")
        return self._put(upload, path, offset, chunk)

    def append(self, upload: Upload, name: str, offset: int, chunk: bytes) -> int:
        """Put bytes of a form's file at their place; return where the next ones go."""
        if offset + len(chunk) > MOST_BYTES:
            raise PayloadTooLarge(f"A file may have at most {MOST_BYTES >> 30} GiB.")
        return self._put(upload, self.root(upload) / name, offset, chunk)

    def _put(self, upload: Upload, path: Path, offset: int, chunk: bytes) -> int:
        try:
            return self._written(upload, path, offset, chunk)
        except OSError as problem:
            if problem.errno in _NO_ROOM:
                raise PayloadTooLarge(_FULL) from None
            # Its own text has the name of the file, which belongs in no log.
            raise OSError(problem.errno, problem.strerror) from None

    def _written(self, upload: Upload, path: Path, offset: int, chunk: bytes) -> int:
        # Removed while these bytes were on their way: nobody would find them again.
        if not (self._folder / upload.id / _MANIFEST).exists():
            raise _no_upload()
        self._check_room(len(chunk))
        make_folder(path.parent)
        # Made where it is not there, and never emptied: another tab may send the same file.
        with open(path, "r+b", opener=_make_private) as file:
            file.seek(0, 2)
            if offset > file.tell():
                raise Conflict("Bytes before these are missing.")
            file.seek(offset)
            file.write(chunk)
        return offset + len(chunk)

    def note_jobs(self, upload: Upload, jobs: Sequence[str]) -> None:
        """Remember by which jobs an upload is imported."""
        self.keep(replace(upload, jobs=tuple(jobs)))

    def remove(self, upload: Upload) -> None:
        """Forget an upload and delete its files; files outside the upload folder stay."""
        folder = self._folder / upload.id
        # Its description last: what a killed server leaves is then found and removed again.
        shutil.rmtree(folder / UPLOADED_FOLDER, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)

    def leftovers(self, now: int) -> Iterator[Path]:
        """Yield folders without a description: of a write and a removal at the same moment."""
        for folder in self._folder.glob("*/"):
            with suppress(FileNotFoundError):
                age = now - folder.stat().st_mtime_ns // 1_000
                own = _ID.match(folder.name) is not None
                if own and age > _SETTLED and self._read(folder / _MANIFEST) is None:
                    yield folder

    def sweep(self, now: int) -> None:
        """Forget uploads that began long ago and were never imported.

        One that a job imports is still read: it goes when the job has ended.
        """
        for upload in list(self.uploads()):
            if now - upload.created_at > KEPT and not upload.jobs:
                self.remove(upload)

    def keep(self, upload: Upload) -> None:
        """Save the description of an upload."""
        document = {**asdict(upload), "files": [list(file) for file in upload.files]}
        write_file(self._folder / upload.id / _MANIFEST, orjson.dumps(document))

    def _read(self, path: Path) -> Upload | None:
        try:
            return _described(path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None


@lru_cache(maxsize=2)
def _described(manifest: bytes) -> Upload:
    """Return the upload that a manifest describes.

    Each of tens of thousands of files is sent alone, and looks into the same manifest.
    """
    kept: dict[str, Any] = orjson.loads(manifest)
    files = tuple(UploadedFile(*file) for file in kept["files"])
    return Upload(**{**kept, "files": files, "jobs": tuple(kept["jobs"])})


def _new_id() -> str:
    return secrets.token_hex(12)


def _make_private(path: str, flags: int) -> int:
    """Open a file, or make one that only its owner can read."""
    return os.open(path, flags | os.O_CREAT, 0o600)


def _no_upload() -> NotFound:
    return NotFound("This upload does not exist, or no longer exists.")


def safe_name(name: str) -> str:
    """Return a name that a browser gave as a path that stays inside a folder."""
    parts = [
        _shortened(_FORBIDDEN.sub("_", part))
        for part in map(_own_part, name.replace("\\", "/").split("/"))
        if part.strip(". ")
    ]
    path = "/".join(parts)
    if not path or path.count("/") >= _MOST_PARTS or len(path.encode()) > _LONGEST_PATH:
        raise InvalidRequest(f"A file cannot be called “{one_line(name, 80)}”.", param="file")
    return path


def _own_part(part: str) -> str:
    """Return a part of a path as its folder lists it; Windows takes no dot at its end."""
    return part.strip().rstrip(". ") if os.name == "nt" else part


def _shortened(name: str) -> str:
    """Return a name that a file system takes; what it ends with may say what a file is."""
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    ending = PurePosixPath(name).suffix
    ending = ending if len(ending.encode()) <= _LONGEST_ENDING else ""
    start = name.encode()[: _LONGEST_NAME - len(ending.encode())]
    return start.decode(errors="ignore") + ending


def _check(files: Sequence[UploadedFile]) -> None:
    if not files:
        raise InvalidRequest("Choose at least one file.", param="file")
    if len(files) > MOST_FILES or sum(file.size for file in files) > MOST_BYTES:
        raise PayloadTooLarge(
            f"Upload at most {MOST_FILES:,} files and {MOST_BYTES >> 30} GiB at once. "
            "Import larger exports with pdpp import."
        )
    times = Counter(file.name for file in files)
    folders = {folder for file in files for folder in folders_of(file.name)}
    if name := next((name for name in times if times[name] > 1 or name in folders), None):
        raise same_name(name)


def same_name(name: str) -> InvalidRequest:
    """Return what refuses a file whose name another file or a folder has."""
    told = one_line(name, _LONGEST_TITLE)
    return InvalidRequest(f"Two of these are called “{told}”. Rename one of them.", param="file")


def folders_of(name: str) -> set[str]:
    """Return the folders that a file lies in, from its own up to the first."""
    return {str(parent) for parent in PurePosixPath(name).parents}
