"""The device page: the owner types the code that another device shows."""

from starlette.responses import Response

from pdpp.model.errors import NotFound
from pdpp.pages.visit import Visit

_LONGEST = 64


async def show_device(visit: Visit) -> Response:
    """Answer ``GET /device``; an address that holds the code fills it in."""
    code = visit.request.query_params.get("user_code", "")[:_LONGEST]
    return visit.page("device.html", code=code, problem=None)


async def enter_code(visit: Visit) -> Response:
    """Answer ``POST /device``: lead to the consent page of the device that waits."""
    code = visit.form.one("user_code")[:_LONGEST]
    authority = visit.site.authority
    try:
        review = await visit.site.write(lambda: authority.device_review(code, visit.origin))
    except NotFound:
        problem = "No device waits with this code. Check it, or ask the device for a new one."
        return visit.page("device.html", status=404, code=code, problem=problem)
    return visit.go(f"/consent/{review.id}")


async def show_answer(visit: Visit) -> Response:
    """Answer ``GET /device/{answer}``: the decision was made, the device learns it by itself."""
    return visit.page("answered.html", approved=visit.request.path_params["answer"] == "approved")
