"""The routes of the pages."""

from collections.abc import Iterator
from pathlib import Path

from starlette.routing import BaseRoute, Route

from pdpp.authz.authority import Authority
from pdpp.authz.owner import Owner, private_host
from pdpp.authz.throttle import Throttle
from pdpp.pages.accounts import change_account, show_account, show_accounts, show_removal
from pdpp.pages.activity import export_activity, show_activity, show_question
from pdpp.pages.agents import revoke, show_agent, show_agents, show_consent_text
from pdpp.pages.consent import decide, show_consent
from pdpp.pages.device import enter_code, show_answer, show_device
from pdpp.pages.home import show_home
from pdpp.pages.imports.import_page import (
    begin_path,
    cancel_import,
    show_import,
    show_job,
    show_report,
    show_upload,
    start_import,
)
from pdpp.pages.imports.upload_endpoint import UploadEndpoint
from pdpp.pages.login import log_out, show_login
from pdpp.pages.owner_page import OwnerPage
from pdpp.pages.proof import proof_key
from pdpp.pages.records.record_file import show_file
from pdpp.pages.records.record_page import show_record
from pdpp.pages.records.search_page import show_search
from pdpp.pages.see_as import show_file_as, show_record_as, show_search_as
from pdpp.pages.settings_page import change_settings, show_settings
from pdpp.pages.site import Site
from pdpp.service.service import RECORD_PAGE, Service


def page_routes(site: Site) -> Iterator[BaseRoute]:
    """Yield what a person may open in a browser."""
    pages = {
        "/": OwnerPage(site, show_home),
        "/login": OwnerPage(site, show_login, open=True),
        "/setup": OwnerPage(site, show_login, open=True),
        "/logout": OwnerPage(site, post=log_out),
        "/agents": OwnerPage(site, show_agents),
        "/agents/{agent}": OwnerPage(site, show_agent, revoke),
        "/agents/{agent}/consent/{approval}": OwnerPage(site, show_consent_text),
        "/agents/{agent}/see/{approval}/search": OwnerPage(site, show_search_as),
        "/agents/{agent}/see/{approval}" + RECORD_PAGE: OwnerPage(site, show_record_as),
        "/agents/{agent}/see/{approval}/file/{blob_id}/{name}": OwnerPage(site, show_file_as),
        "/consent/{review_id}": OwnerPage(site, show_consent, decide, proves=True),
        "/device": OwnerPage(site, show_device, enter_code),
        "/device/{answer}": OwnerPage(site, show_answer),
        "/accounts": OwnerPage(site, show_accounts),
        "/accounts/{connection_id}": OwnerPage(site, show_account, change_account),
        "/accounts/{connection_id}/remove": OwnerPage(site, show_removal, change_account),
        "/import": OwnerPage(site, show_import, begin_path),
        "/import/uploads/{upload_id}": OwnerPage(site, show_upload, start_import),
        "/import/report/{name}": OwnerPage(site, show_report),
        "/import/{job_id}": OwnerPage(site, show_job, cancel_import),
        "/activity": OwnerPage(site, show_activity),
        "/activity/export": OwnerPage(site, export_activity),
        "/activity/{number}": OwnerPage(site, show_question),
        "/settings": OwnerPage(site, show_settings, change_settings),
        "/search": OwnerPage(site, show_search),
        "/file/{blob_id}/{name}": OwnerPage(site, show_file),
        RECORD_PAGE: OwnerPage(site, show_record),
    }
    yield Route("/import/uploads", UploadEndpoint(site))
    yield Route("/import/uploads/{upload_id}/{number}", UploadEndpoint(site))
    for path, page in pages.items():
        yield Route(path, page)


def make_site(service: Service, authority: Authority, data: Path | None = None) -> Site:
    """Return what the pages share."""
    settings = service.settings
    counts = service.store.limits
    throttle = Throttle(service.clock, settings.login, settings.all_logins, counts=counts)
    owner = Owner(service.store.vault, service.clock, authority.lifetimes, throttle)
    store = service.store
    key, host = proof_key(store.secret()), private_host(store.vault)
    return Site(service, authority, owner, key, host, data)
