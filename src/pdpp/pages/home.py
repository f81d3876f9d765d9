"""The home page: what I have, what needs me, and what agents asked lately."""

from starlette.background import BackgroundTask
from starlette.responses import Response

from pdpp.pages.account_summary import account_summaries
from pdpp.pages.agent_question import latest_questions
from pdpp.pages.import_job import import_jobs
from pdpp.pages.need import needs
from pdpp.pages.page_request import PageRequest
from pdpp.pages.preferences import read_preferences
from pdpp.pages.records.browsing import timed_feeds

_MOST_QUESTIONS = 5
_MOST_ACCOUNTS = 20


async def show_home(request: PageRequest) -> Response:
    """Answer ``GET /``."""
    site, dates = request.site, request.dates
    accounts = await account_summaries(site.reader(), dates)
    jobs = await import_jobs(site)
    ended = (job for job in jobs if job.status == "succeeded" and job.connection_id is not None)
    last_imports: dict[str | None, str] = {}
    for job in ended:
        last_imports.setdefault(job.connection_id, dates.day(job.at))
    response = request.page(
        "home.html",
        accounts=sorted(accounts, key=lambda account: -account.count)[:_MOST_ACCOUNTS],
        account_count=len(accounts),
        total=sum(account.count for account in accounts),
        last_imports=last_imports,
        needs=needs(request, jobs, filled=bool(accounts)),
        questions=latest_questions(site, _MOST_QUESTIONS),
        mcp_url=f"{request.server_origin}/mcp",
    )
    # Whoever opens the home page goes on to search; the bars there are counted meanwhile.
    reader, zone = site.reader(), read_preferences(site.service.store.vault).time_zone
    uncounted = site.month_counts.uncounted(reader, timed_feeds(reader), zone)
    if uncounted:
        response.background = BackgroundTask(site.month_counts.count, reader, uncounted, zone)
    return response
