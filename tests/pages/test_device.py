import pytest
from tests.pages.house import House, Reader

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


def begin(house: House) -> tuple[str, dict[str, str]]:
    """Return a client that is a device, and what it was told."""
    client_id = house.register("Frame", grant_types=[DEVICE, "refresh_token"])
    answer = house.world.server.client().post(
        "/oauth/device_authorization", data={"client_id": client_id, "scope": "pdpp:read"}
    )
    assert answer.status_code == 200, answer.text
    return client_id, answer.json()


def poll(house: House, client_id: str, device_code: str) -> dict[str, str]:
    data = {"grant_type": DEVICE, "device_code": device_code, "client_id": client_id}
    answer: dict[str, str] = house.world.server.client().post("/oauth/token", data=data).json()
    return answer


def test_the_owner_types_the_code_and_picks_what_the_device_sees(
    house: House, owner: Reader
) -> None:
    client_id, told = begin(house)
    page = owner.get("/device")
    sheet = page.send(user_code=told["user_code"]).follow()
    assert "calls itself “Frame”" in sheet.text
    assert "the device that showed you the code" in sheet.text
    chosen = sheet.send(tick=(("connection", "cin_photos"),), action="update")
    done = chosen.send(action="approve")
    assert done.location == "/device/approved"
    assert "Go back to your device" in done.follow().text
    token = poll(house, client_id, told["device_code"])["access_token"]
    assert house.world.server.client(token).get("/v1/streams").status_code == 200


def test_a_denied_device_is_told_no(house: House, owner: Reader) -> None:
    client_id, told = begin(house)
    sheet = owner.get("/device").send(user_code=told["user_code"]).follow()
    done = sheet.send(action="deny")
    assert done.location == "/device/denied"
    assert "may not read your data" in done.follow().text
    assert poll(house, client_id, told["device_code"])["error"] == "access_denied"


@pytest.mark.parametrize("change", [str.lower, lambda code: f" {code.replace('-', ' ')} "])
def test_the_code_may_be_typed_as_people_type(house: House, owner: Reader, change: object) -> None:
    assert callable(change)
    _, told = begin(house)
    sheet = owner.get("/device").send(user_code=change(told["user_code"]))
    assert sheet.location.startswith("/consent/")


def test_an_address_with_the_code_fills_it_in_but_does_not_send_it(
    house: House, owner: Reader
) -> None:
    _, told = begin(house)
    complete = told["verification_uri_complete"]
    sheet = owner.get("/device?" + complete.partition("?")[2])
    assert ("user_code", told["user_code"]) in sheet.fields()
    assert sheet.send().location.startswith("/consent/")


@pytest.mark.parametrize("code", ["", "BCDF-GHJK", "<script>", "x" * 500])
def test_a_wrong_code_is_told_and_can_be_corrected(owner: Reader, code: str) -> None:
    sheet = owner.get("/device").send(user_code=code)
    assert sheet.status == 404
    assert "No device waits with this code" in sheet.text
    assert ("user_code", code[:64]) in sheet.fields()
    assert sheet.tree.css_first("main script") is None
