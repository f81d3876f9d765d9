"""The device page: the owner types the code that another device shows."""

from starlette.responses import Response

from pdpp.model.errors import NotFound
from pdpp.pages.page_request import PageRequest

_LONGEST = 64


async def show_device(request: PageRequest) -> Response:
    """Answer ``GET /device``; an address that holds the code fills it in."""
    code = request.http.query_params.get("user_code", "")[:_LONGEST]
    return request.page("device.html", code=code, problem=None)


async def enter_code(request: PageRequest) -> Response:
    """Answer ``POST /device``: lead to the consent page of the device that waits."""
    code = request.form.one("user_code")[:_LONGEST]
    authority = request.site.authority
    try:
        review = await request.site.write(
            lambda: authority.device_review(code, request.server_origin)
        )
    except NotFound:
        problem = "No device waits with this code. Check it, or ask the device for a new one."
        return request.page("device.html", status=404, code=code, problem=problem)
    return request.go(f"/consent/{review.id}")


async def show_answer(request: PageRequest) -> Response:
    """Answer ``GET /device/{answer}``: the decision was made, the device learns it by itself."""
    return request.page("answered.html", approved=request.http.path_params["answer"] == "approved")
