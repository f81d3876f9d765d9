"""The upload endpoint: takes files in pieces from the script, or as a form where there is none.

Everything here asks for the owner's session and for the token of its pages, in a header or as the
first field of a form, before a byte is written. Both follow from the cookie, which other ports of
this machine may get: where they may, an upload begins with the passphrase. Its pieces carry a key
that only the answer to its beginning holds.
"""

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pdpp.model.errors import (
    AuthenticationError,
    Forbidden,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    PdppError,
)
from pdpp.pages.form import PostedForm, read_form
from pdpp.pages.imports.multipart import boundary_of, form_parts
from pdpp.pages.imports.upload import (
    CHUNK_BYTES,
    MOST_FILES,
    Upload,
    UploadedFile,
    UploadFolder,
    folders_of,
    safe_name,
    same_name,
)
from pdpp.pages.login import prove
from pdpp.pages.owner_page import check_source, show_error, visited_origin
from pdpp.pages.page_request import PageRequest, make_page_request
from pdpp.pages.proof import upload_key
from pdpp.pages.site import Site
from pdpp.service.failure import explained
from pdpp.service.headers import SECURITY_HEADERS

_TOKEN_HEADER = "x-form-token"  # noqa: S105 - the name of a header
_KEY_HEADER = "x-upload-key"
_PIECE = 1 << 20
_MOST_PAIRS = 3 * MOST_FILES + 10
"""Each file has a name, a size and a time."""
_MOST_TOLD_BYTES = 16 << 20
"""300 bytes for each file: paths in exports are long, and letters with marks take six."""
_TOO_MUCH = "These are too many files for one upload: send them as one zip, or in parts."
_MOST_FIELDS = 20
"""Fields of a form that are no files; ours has three."""
_MOST_FIELD_BYTES = 8 << 10
"""A passphrase has at most 1,024 characters."""

log = logging.getLogger("pdpp.pages")


@dataclass(frozen=True, slots=True)
class UploadEndpoint:
    """Answers ``POST /import/uploads`` and ``PUT /import/uploads/{upload_id}/{number}``."""

    site: Site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: a script in JSON, a form with a page."""
        http = Request(scope, receive)
        try:
            response = await self._answer(http)
        except ClientDisconnect:
            return  # what came before is on the disk
        await response(scope, receive, send)

    async def _answer(self, http: Request) -> Response:
        request: PageRequest | None = None
        scripted = _TOKEN_HEADER in http.headers
        try:
            request = self._request(http)
            if not scripted:
                return await self._take_form(request)
            _check_token(request, http.headers[_TOKEN_HEADER])
            return await self._take(request)
        except ClientDisconnect:
            raise
        except PdppError as error:
            problem = error
        except Exception as failure:  # noqa: BLE001 - whatever it is becomes an answer
            problem = explained(failure, self.site.service.store, log, "upload")
        if scripted or request is None:
            return _json({"error": problem.message}, problem.status)
        return await self.site.draw(partial(show_error, request, problem), known=True)

    def _request(self, http: Request) -> PageRequest:
        origin = visited_origin(http, self.site.service.settings, self.site.private_host)
        check_source(http, origin)
        request = make_page_request(self.site, http, origin)
        if request.session is None:
            raise AuthenticationError("Your session has ended: log in again.")
        return request

    @property
    def _folder(self) -> UploadFolder:
        return upload_folder(self.site)

    # By the script

    async def _take(self, request: PageRequest) -> Response:
        method, path = request.http.method, request.http.path_params
        if method == "POST" and not path:
            return await self._begin(request)
        if method == "PUT" and path:
            return await self._append(request, path["upload_id"], path["number"])
        raise MethodNotAllowed("This address cannot be used in that way.")

    async def _begin(self, request: PageRequest) -> Response:
        """Begin an upload, or go on with one of the same files."""
        try:
            form = await read_form(request.http, _MOST_TOLD_BYTES, _MOST_PAIRS)
        except PayloadTooLarge:
            raise PayloadTooLarge(_TOO_MUCH) from None
        await _require_proof(replace(request, form=form))
        return await asyncio.to_thread(self._begun, form)

    def _begun(self, form: PostedForm) -> Response:
        """Return where the files of an upload go on; there may be tens of thousands."""
        files = _told_files(form)
        upload = self._folder.begin(files, self.site.service.clock())
        offsets = self._folder.offsets(upload)
        return _json(
            {
                "id": upload.id,
                "key": upload_key(self.site.proof_key, upload.id),
                "offsets": offsets,
                "page": f"/import/uploads/{upload.id}",
                "chunk": CHUNK_BYTES,
            }
        )

    async def _append(self, request: PageRequest, upload_id: str, number: str) -> Response:
        folder = self._folder
        upload = await asyncio.to_thread(folder.get, upload_id)
        key = request.http.headers.get(_KEY_HEADER, "")
        if not _is_same(key, upload_key(self.site.proof_key, upload.id)):
            raise Forbidden("This upload was begun elsewhere; drop the same files again.")
        text = request.http.query_params.get("offset", "")
        if not (number.isdecimal() and len(number) < 7 and text.isdecimal() and len(text) < 16):
            raise InvalidRequest("Give the number of the file and the offset.", param="offset")
        folder.place(upload, int(number))  # refuses a file that the upload does not have
        offset, limit = int(text), int(text) + CHUNK_BYTES
        async for piece in _pieces(request.http):
            if offset + len(piece) > limit:
                raise PayloadTooLarge(f"A piece may have at most {CHUNK_BYTES:,} bytes.")
            offset = await asyncio.to_thread(folder.write, upload, int(number), offset, piece)
        if upload.files[int(number)].size == 0:
            await asyncio.to_thread(folder.write, upload, int(number), 0, b"")
        return _json({"offset": offset})

    # By a form

    async def _take_form(self, request: PageRequest) -> Response:
        if request.http.method != "POST" or request.http.path_params:
            raise MethodNotAllowed("This address cannot be used in that way.")
        boundary = boundary_of(request.http.headers.get("content-type", ""))
        upload = await self._spool(request, boundary)
        return request.go(f"/import/uploads/{upload.id}")

    async def _spool(self, request: PageRequest, boundary: bytes) -> Upload:
        """Write the files of a form as they come; the token must have come before.

        A form cannot be gone on with, so what came of one that broke off is removed.
        """
        folder, sizes, folders = self._folder, dict[str, int](), set[str]()
        upload: Upload | None = None
        name, whole, fields, typed = "", False, 0, dict[str, bytes]()
        try:
            async for part in form_parts(_pieces(request.http), boundary):
                if not part.filename:
                    if part.name in ("token", "confirm"):
                        before = b"" if part.begins else typed[part.name]
                        typed[part.name] = (before + part.content)[:_MOST_FIELD_BYTES]
                    fields += part.begins
                    if fields > _MOST_FIELDS:
                        raise InvalidRequest("The form has too many fields.")
                    continue  # another field, or one for files in which none was chosen
                if upload is None:
                    _check_token(request, typed.get("token", b"").decode("latin-1"))
                    await _require_proof(_filled(request, typed))
                    upload = await asyncio.to_thread(folder.begin_form, self.site.service.clock())
                if part.begins:
                    name = safe_name(part.filename)
                    _take_name(name, sizes, folders)
                sizes[name] = await asyncio.to_thread(
                    folder.append, upload, name, sizes[name], part.content
                )
            if upload is None:
                raise InvalidRequest("Choose at least one file.", param="file")
            files = tuple(UploadedFile(*pair) for pair in sizes.items())
            upload = replace(upload, files=files, arriving=False)
            await asyncio.to_thread(folder.keep, upload)
            whole = True
            return upload
        finally:
            if upload is not None and not whole:
                await asyncio.to_thread(folder.remove, upload)


def _told_files(form: PostedForm) -> list[UploadedFile]:
    """Return the files that a script says it will send."""
    names, sizes = form.all("name"), form.all("size")
    times = form.all("modified") or ("0",) * len(names)
    counts = all(number.isdecimal() and len(number) < 16 for number in (*sizes, *times))
    if not len(names) == len(sizes) == len(times) or not counts:
        raise InvalidRequest("Each file needs a name and a size.", param="size")
    told = zip(names, sizes, times, strict=True)
    return [UploadedFile(safe_name(name), int(size), int(time)) for name, size, time in told]


def _take_name(name: str, sizes: dict[str, int], folders: set[str]) -> None:
    """Add a file to those of a form, if no other has its name or lies in it."""
    own_folders = folders_of(name)
    if name in sizes or name in folders or not own_folders.isdisjoint(sizes):
        raise same_name(name)
    if len(sizes) >= MOST_FILES:
        raise PayloadTooLarge(_TOO_MUCH)
    folders |= own_folders
    sizes[name] = 0


async def _pieces(http: Request) -> AsyncIterator[bytes]:
    """Yield a body in pieces that are worth a write of their own."""
    waiting = bytearray()
    try:
        async for chunk in http.stream():
            waiting += chunk
            if len(waiting) >= _PIECE:
                yield bytes(waiting)
                waiting.clear()
    except ClientDisconnect:
        # What came is kept: the next piece goes on after it.
        if waiting:
            yield bytes(waiting)
        raise
    if waiting:
        yield bytes(waiting)


def _check_token(request: PageRequest, token: str) -> None:
    if not _is_same(token, request.token):
        raise Forbidden("This page is too old; reload it and try again.")


def _is_same(sent: str, right: str) -> bool:
    """Compare what a header or a form holds, which may be any bytes, in a steady time."""
    return hmac.compare_digest(sent.encode("latin-1", "replace"), right.encode())


def _filled(request: PageRequest, typed: Mapping[str, bytes]) -> PageRequest:
    """Return a request with the fields that came before the files of a form."""
    confirm = typed.get("confirm", b"").decode("utf-8", "replace")
    return replace(request, form=PostedForm({"confirm": [confirm]}))


async def _require_proof(request: PageRequest) -> None:
    """Refuse an upload without the passphrase, where another port may have learnt the cookie."""
    if not request.bound:
        await prove(request)


def upload_folder(site: Site) -> UploadFolder:
    """Return where uploads are kept; a server without a data folder takes none."""
    if site.data is None:
        raise NotFound("This server has no data folder to import into.")
    return UploadFolder(site.data)


def _json(document: dict[str, object], status: int = 200) -> Response:
    headers = {**SECURITY_HEADERS, "Content-Type": "application/json"}
    return Response(orjson.dumps(document), status, headers)
