"""Binary and large content: told by facts, read in bounded parts, never shown."""

import json
from hashlib import sha256

import pytest
from bench.demo_records import AWKWARD
from tests.mcp.client import Client, Estate
from tests.mcp.post import FIRST, LEAFLET, SCAN, SCAN_BYTES
from tests.mcp.sight import SIGHTS, Agent, see, text_calls
from tests.serving import grant


@pytest.mark.scenario("S006", 1, 3)
@pytest.mark.parametrize("sight", SIGHTS)
def test_binary_fields_are_told_and_not_shown(postman: Client, sight: str) -> None:
    agent = Agent(postman, sight)
    wanted = {"stream": "letters", "connection_id": FIRST, "filter": {"id": "scanned"}}
    page = agent.call("query_records", wanted)
    document = agent.call("fetch", {"id": f"{FIRST}/letters:scanned"})
    for seen in (page, document):
        assert "image/png" in seen.visible
        assert str(len(SCAN_BYTES)) in seen.visible
        assert sha256(SCAN_BYTES).hexdigest() in seen.visible
        assert SCAN[:40] not in seen.visible
        about = agent.follow(seen.shown("read_record_field", holding="scan"))
        assert "image/png" in about.visible
        assert SCAN[:40] not in about.visible


@pytest.mark.scenario("S006", 1, 3)
def test_base64_in_a_field_of_text_is_told_and_not_shown(agent: Agent, demo: Estate) -> None:
    connection_id, stream, key = AWKWARD["base64_whole_field"]
    scope = {"connection_id": connection_id}
    path = f"/v1/streams/{stream}/records/{key}"
    record = demo.world.server.client(agent.client.token).get(path, params=scope).json()
    encoded = max((str(value) for value in record["data"].values()), key=len)
    wanted = {"stream": stream, "filter": {"id": key}, **scope}
    for seen in (
        agent.call("query_records", wanted),
        agent.call("fetch", {"id": f"{connection_id}/{stream}:{key}"}),
    ):
        assert encoded[:40] not in seen.visible
        assert "sha256" in seen.visible
        about = agent.follow(seen.shown("read_record_field", holding=key))
        assert encoded[:40] not in about.visible


@pytest.mark.scenario("S006", 2)
@pytest.mark.scenario("S052", 1)
@pytest.mark.parametrize("sight", SIGHTS)
def test_a_blob_leads_to_its_own_route_through_the_same_grant(
    client: Client, demo: Estate, sight: str
) -> None:
    agent = Agent(client, sight)
    wanted = {"stream": "photos", "limit": 1, "fields": ["id", "image"]}
    page = agent.call("query_records", wanted)
    assert "image/png" in page.visible
    with demo.recorder.listening() as sent:
        about = agent.document(agent.follow(page.shown("fetch", holding="pdpp://blob/")))
    blob_id = about["metadata"]["sha256"]
    assert [(one.path, one.bearer) for one in sent] == [(f"/v1/blobs/{blob_id}", client.token)]
    assert about["metadata"]["export"] == {"method": "GET", "route": f"/v1/blobs/{blob_id}"}
    exported = demo.world.server.client(client.token).get(f"/v1/blobs/{blob_id}")
    assert sha256(exported.content).hexdigest() == blob_id
    assert len(exported.content) == about["metadata"]["size_bytes"]


@pytest.mark.scenario("S052")
def test_a_blob_is_read_as_a_field_and_as_a_resource(client: Client, demo: Estate) -> None:
    asked = {"id": "cin_home/attachments:f-invoice-1", "field_path": "content"}
    text = client.good("read_record_field", asked).structured["window"]["text"]
    assert "Handmade tile 13x13 sage green" in text
    blob_id = sha256(text.encode()).hexdigest()
    fetched = client.good("fetch", {"id": f"pdpp://blob/{blob_id}"})
    assert fetched.structured["text"] == text
    assert json.loads(client.read(f"pdpp://blob/{blob_id}")) == fetched.structured
    by_handle = client.good("read_record_field", {"id": f"pdpp://blob/{blob_id}"})
    assert by_handle.structured["window"]["text"] == text
    without = grant(demo.store, connections=("cin_home",), streams=("messages",))
    stranger = demo.client(client.kind, without)
    stranger.refused("blob_not_found", "fetch", {"id": f"pdpp://blob/{blob_id}"})
    stranger.refused("blob_not_found", "read_record_field", {"id": f"pdpp://blob/{blob_id}"})


@pytest.mark.scenario("S014", 1, 2, 3)
def test_large_text_and_bytes_come_as_a_bounded_part_with_a_way_on(postman: Client) -> None:
    found = postman.good(
        "read_record_field", {"id": f"{FIRST}/letters:leaflet"} | {"field_path": "leaflet"}
    )
    window = found.structured["window"]
    assert window["text"] == LEAFLET[:4096]
    assert window["total_chars"] == len(LEAFLET)
    assert window["complete"] is False
    assert "more follows" in found.text
    assert next(text_calls(found.text)).arguments["offset_chars"] == 4096
    bytes_ = postman.good(
        "read_record_field", {"id": f"{FIRST}/letters:scanned"} | {"field_path": "scan"}
    )
    facts = bytes_.structured["binary"]
    assert facts["media_type"] == "image/png"
    assert facts["size_bytes"] == len(SCAN_BYTES)
    assert "window" not in bytes_.structured
    assert f"[image/png, {len(SCAN_BYTES)} bytes, not shown]" in bytes_.text
    assert list(text_calls(bytes_.text))
    blob = postman.good("query_records", {"stream": "letters", "filter": {"id": "leaflet"}})
    about = postman.good("fetch", see(blob, "content").shown("fetch").arguments).structured
    assert about["metadata"]["media_type"].startswith("text/plain")
    assert about["metadata"]["size_bytes"] == len(LEAFLET.encode())
    assert LEAFLET.startswith(about["text"])
    assert about["metadata"]["truncation"]["served_chars"] == len(about["text"]) < len(LEAFLET)
    assert about["metadata"]["truncation"]["read_record_field"]["offset_chars"] == len(
        about["text"]
    )
