"""The import pages: drop an export, see what was recognised, and follow how it comes in."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import Response

from pdpp.authz.requester import one_line
from pdpp.model import instant
from pdpp.model.errors import Conflict, InvalidRequest, NotFound, PdppError
from pdpp.pages.import_job import import_job, import_jobs
from pdpp.pages.imports.upload import Upload
from pdpp.pages.imports.upload_endpoint import upload_folder
from pdpp.pages.imports.upload_outcome import UploadOutcome, failed_job, outcome_of
from pdpp.pages.login import proved
from pdpp.pages.page_request import PageRequest
from pdpp.sources.importing.state import ImportState

if TYPE_CHECKING:
    from pdpp.pages.imports.export_guide import GuideEntry
    from pdpp.pages.imports.import_plan import ImportPlan

UPLOAD_SCRIPT = "upload.js"
_LONGEST = 400
_CASES = {
    "skipped": "Left out",
    "unknown": "Not recognised, and left out",
}
_FILE_CASES = {"passed_over": "Files skipped on purpose", "unknown": "Files not recognised"}


class ReportCase(NamedTuple):
    """Why something was left out, how often, and where."""

    kind: str
    reason: str
    times: int
    examples: Sequence[str]


async def show_import(request: PageRequest) -> Response:
    """Answer ``GET /import``."""
    return await _page(request)


async def _page(request: PageRequest, problem: str | None = None, status: int = 200) -> Response:
    site = request.site
    uploads: list[Upload] = []
    if site.data is not None:
        folder = upload_folder(site)
        uploads = list(folder.uploads())
    return request.page(
        "import.html",
        status=status,
        scripts=(UPLOAD_SCRIPT,),
        calls=True,
        possible=site.data is not None,
        confirms=not request.bound,
        uploads=[upload for upload in uploads if _waits(request, upload)],
        jobs=await import_jobs(site),
        guide=_guide(),
        problem=problem,
        path=request.form.one("path"),
    )


@cache
def _guide() -> "list[GuideEntry]":
    # All formats are loaded with the first page that names them, not with the server. To look for
    # plugins among all installed packages takes 6 ms, and none comes while a server runs.
    from pdpp.pages.imports.export_guide import export_guide

    return export_guide()


async def begin_path(request: PageRequest) -> Response:
    """Answer ``POST /import``: import an export from the server's own disk."""

    async def act(known: PageRequest) -> Response:
        try:
            path = _local_path(known.form.one("path"))
        except InvalidRequest as problem:
            return await _page(known, problem.message, problem.status)
        now = known.site.service.clock()
        upload = upload_folder(known.site).link(path, now)
        return known.go(f"/import/uploads/{upload.id}")

    return await proved(
        request, "Type your passphrase to read files of this computer.", "Continue", act
    )


def _local_path(text: str) -> Path:
    """Return a path that exists; its content decides what kind of export it is."""
    try:
        path = Path(text.strip()).expanduser()
        if text.strip() and path.is_absolute() and path.exists():
            return path
    except (OSError, RuntimeError, ValueError):
        pass
    raise InvalidRequest(
        "Write the whole path of a file or folder on the computer that runs this server.",
        param="path",
    )


async def show_upload(request: PageRequest) -> Response:
    """Answer ``GET /import/uploads/{upload_id}``: what was recognised, and the plan."""
    upload, plan = await _planned(request)
    if not _waits(request, upload):
        return request.go(_place_of(upload.jobs))
    failed = failed_job(upload, request.site.service.store)
    return request.page("upload.html", upload=upload, plan=plan, failed=failed)


def _waits(request: PageRequest, upload: Upload) -> bool:
    """Tell whether an upload can be imported, for the first time or again."""
    return outcome_of(upload, request.site.service.store) is UploadOutcome.WAITING


async def _planned(request: PageRequest) -> "tuple[Upload, ImportPlan | None]":
    """Return an upload and what would be done with it; nothing while it is not all here."""
    from pdpp.pages.imports.import_plan import make_plan

    site = request.site
    folder = upload_folder(site)
    upload = folder.get(request.http.path_params["upload_id"])
    data = site.data
    if data is None or not folder.complete(upload):
        return upload, None
    export, root = folder.export(upload), folder.root(upload)
    plan = make_plan(site, data, export)
    if plan.imports or export == root:
        return upload, plan
    # Documents and photos are read by the folder that they lie in.
    around = make_plan(site, data, root)
    return upload, around if around.imports else plan


async def start_import(request: PageRequest) -> Response:
    """Answer ``POST /import/uploads/{upload_id}``: import it, or take it away."""
    site, folder = request.site, upload_folder(request.site)
    if request.form.one("action") == "remove":

        async def remove(known: PageRequest) -> Response:
            with folder.held(known.http.path_params["upload_id"]) as upload:
                if outcome_of(upload, site.service.store) is UploadOutcome.IMPORTING:
                    raise Conflict("This upload is being imported. Cancel the import first.")
                folder.remove(upload)
            return known.go("/import")

        return await proved(request, "Type your passphrase to remove this.", "Remove", remove)

    async def act(known: PageRequest) -> Response:
        upload, plan = await _planned(known)
        if not _waits(known, upload):
            return known.go(_place_of(upload.jobs))
        if plan is None or not plan.imports:
            raise Conflict("There is nothing in this upload that can be imported.")
        orders = [planned.order for planned in plan.imports]
        # Two tabs may answer at once, and each would find an upload that nobody imports yet.
        with folder.held(upload.id) as upload:
            if not _waits(known, upload):
                return known.go(_place_of(upload.jobs))
            jobs = await site.write(
                lambda: [site.service.store.jobs.add(order).id for order in orders]
            )
            folder.note_jobs(upload, jobs)
        return known.go(_place_of(jobs))

    return await proved(request, "Type your passphrase to import this.", "Import", act)


def _place_of(jobs: Sequence[str]) -> str:
    """Return where one sees the imports that were begun together."""
    return f"/import/{jobs[0]}" if len(jobs) == 1 else "/import"


async def show_job(request: PageRequest) -> Response:
    """Answer ``GET /import/{job_id}``."""
    try:
        answer = await request.site.operate(
            "getJob", {"job_id": request.http.path_params["job_id"]}
        )
    except PdppError:
        raise NotFound("This import does not exist, or no longer exists.") from None
    job = import_job(answer)
    return request.page(
        "import_job.html", job=job, report=job.report, cases=list(_cases(job.report or {}))
    )


async def cancel_import(request: PageRequest) -> Response:
    """Answer ``POST /import/{job_id}``: end it; what is written stays."""

    async def cancel(known: PageRequest) -> Response:
        job_id = known.http.path_params["job_id"]
        await known.site.operate("cancelJob", {"job_id": job_id})
        return known.go(f"/import/{job_id}")

    return await proved(request, "Type your passphrase to end this import.", "End it", cancel)


async def show_report(request: PageRequest) -> Response:
    """Answer ``GET /import/report/{name}``: what an earlier import did."""
    data, name = request.site.data, request.http.path_params["name"]
    report = None
    if data is not None:
        state = ImportState(data, request.site.service.store.files)
        reports = dict(state.reports())
        report = reports.get(name)
    if report is None:
        raise NotFound("There is no report of this import.")
    moment = instant.parse(str(report.get("started_at") or ""))
    at = "" if moment is None else request.dates.moment(moment)
    return request.page("import_report.html", report=report, at=at, cases=list(_cases(report)))


def _cases(report: Mapping[str, Any]) -> list[ReportCase]:
    """Return everything that was left out, with each reason."""
    kinds = [(label, report.get(kind, ())) for kind, label in _CASES.items()]
    files = report.get("files", {})
    kinds += [(label, files.get(kind, ())) for kind, label in _FILE_CASES.items()]
    return [
        ReportCase(
            label,
            one_line(str(case["reason"]), _LONGEST),
            case["count"],
            [one_line(str(example), _LONGEST) for example in case["examples"]],
        )
        for label, cases in kinds
        for case in cases
    ]
