"""What is particular to the export of Notion."""

from pathlib import Path
from typing import Any

from tests.sources.kit import Home, read, told, zipped
from tests.sources.samples import notion

from pdpp.sources.formats.notion.source import Notion

SOURCE = Notion()


def by_title(path: Path, stream: str) -> dict[str, dict[str, Any]]:
    records = read(SOURCE, path)
    return {data["title"]: data for (name, _), data in records.items() if name == stream}


def test_a_page_has_its_id_properties_place_and_text(tmp_path: Path) -> None:
    pages = by_title(notion.SAMPLES[0].folder(tmp_path), "pages")
    trip = pages["Trip to Berlenga"]
    assert trip == {
        "id": notion.TRIP,
        "title": "Trip to Berlenga",
        # No table lies around it, so its first lines may be words of it.
        "body": "Created: January 5, 2026 10:30 AM\nTags: sea, birds\nStatus: planned\n\n"
        "The boat to Berlenga leaves only when puffins nest.",
        "parent_id": notion.HOME,
        "path": "Home",
        "tags": ["sea", "birds"],
        "tag_names": "sea, birds",
        "properties": {
            "Created": "January 5, 2026 10:30 AM",
            "Tags": "sea, birds",
            "Status": "planned",
        },
        "created_at": "2026-01-05T10:30:00",
        "floating": True,
    }
    assert pages["Rope"]["parent_id"] == notion.PLAN
    assert pages["Rope"]["properties"] == {"Cost": "12.50", "Who": "Ivo"}
    assert "Cost" not in pages["Rope"].get("body", ""), "the table has it"
    assert "parent_id" not in pages["Home"]


def test_a_table_comes_once_with_its_rows(tmp_path: Path) -> None:
    folder = notion.SAMPLES[0].folder(tmp_path)
    table = by_title(folder, "databases")["Shopping"]
    assert table["columns"] == ["Name", "Cost", "Who"]
    assert table["body"].splitlines() == [
        "Name: Rope; Cost: 12.50; Who: Ivo",
        "Name: Flare; Cost: 30",
    ]
    assert [finding.reason for finding in told(SOURCE, folder)] == [
        "a table whose rows stand in the file _all.csv too"
    ]


def test_files_that_a_page_shows_belong_to_it(tmp_path: Path) -> None:
    for number, sample in enumerate(notion.SAMPLES):
        records = read(SOURCE, sample.folder(tmp_path / str(number)))
        [file] = [data for (stream, _), data in records.items() if stream == "attachments"]
        assert (file["name"], file["page_id"]) == ("quay wall.jpg", notion.HOME)


def test_html_gives_the_same_page_as_markdown(tmp_path: Path) -> None:
    home = by_title(notion.SAMPLES[1].folder(tmp_path), "pages")["Home"]
    assert home["created_at"] == "2026-01-05T10:30:00"
    assert home["tags"] == ["sea"]
    assert home["body"] == "Cormorants dry their wings upon the northern buoy."


def test_a_zone_makes_times_exact(tmp_path: Path) -> None:
    records = read(SOURCE, notion.SAMPLES[1].folder(tmp_path), time_zone="Europe/Lisbon")
    [page] = [data for (stream, _), data in records.items() if stream == "pages"]
    assert (page["created_at"], page["floating"]) == ("2026-01-05T10:30:00Z", False)


def test_the_zip_of_zips_is_the_same_account(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    first = home.bring(notion.SAMPLES[0].folder(tmp_path / "unpacked"))
    inner = {name.partition("/")[2]: held for name, held in notion.markdown().items()}
    part = zipped(tmp_path / "part.zip", inner).read_bytes()
    outer = zipped(tmp_path / "Export-5f1c.zip", {f"{notion.PART}.zip": part})
    again = home.bring(outer)
    assert again["connection"]["connection_id"] == first["connection"]["connection_id"]
    assert (again["counts"]["new"], again["counts"]["changed"]) == (0, 0)


ONE, TWO, THREE, FOUR = (f"{number:032x}" for number in range(1, 5))
NEWER = {
    f"Harbour {ONE}.md": b"# Harbour\n\n![quay](Harbour/quay.png)\n",
    "Harbour/quay.png": b"\x89PNG quay",
    f"Harbour/Berths {TWO}.csv": b"Name,Papers\nNorth,North/deed%20one.pdf\n",
    f"Harbour/Berths/North {THREE}.md": b"# North\n\nPapers: North/deed%20one.pdf\n\nDeep enough\n",
    "Harbour/Berths/North/deed one.pdf": b"%PDF-1.4",
    f"Harbour/Lamp {FOUR}.html": b'<header><img src="Lamp/cover.jpg"/></header>'
    b'<h1 class="page-title">Lamp</h1><div class="page-body">It turns</div>',
    "Harbour/Lamp/cover.jpg": b"\xff\xd8 cover",
}


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def files_of(path: Path) -> dict[str, str]:
    records = read(SOURCE, path)
    return {
        data["name"]: data["page_id"]
        for (name, _), data in records.items()
        if name == "attachments"
    }


def test_folders_without_an_id_tell_where_a_page_lies(tmp_path: Path) -> None:
    path = put(tmp_path, NEWER)
    pages, tables = by_title(path, "pages"), by_title(path, "databases")
    assert (pages["North"]["parent_id"], pages["North"]["path"]) == (TWO, "Harbour / Berths")
    assert (tables["Berths"]["parent_id"], pages["Lamp"]["parent_id"]) == (ONE, ONE)


def test_files_of_properties_and_covers_belong_to_their_page(tmp_path: Path) -> None:
    assert files_of(put(tmp_path, NEWER)) == {
        "quay.png": ONE,
        "deed one.pdf": THREE,
        "cover.jpg": FOUR,
    }


def test_a_page_and_its_files_may_come_in_two_parts(tmp_path: Path) -> None:
    names = list(NEWER)
    parts = {
        f"ExportBlock-Part-{part}.zip": zipped(
            tmp_path / f"{part}.zip", {name: NEWER[name] for name in some}
        ).read_bytes()
        for part, some in enumerate((names[:1], names[1:]), 1)
    }
    home = Home(tmp_path / "data")
    home.bring(zipped(tmp_path / "Export.zip", parts))
    records = home.records().values()
    pages = {data["title"]: data for data in records if "body" in data}
    owners = {data["name"]: data["page_id"] for data in records if "page_id" in data}
    assert owners["quay.png"] == pages["Harbour"]["id"]
    assert (pages["Lamp"]["path"], pages["Lamp"]["parent_id"]) == ("Harbour", owners["quay.png"])


def page(tmp_path: Path, name: str, text: str) -> dict[str, Any]:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / f"Mole 0123456789abcdef0123456789abcdef.{name}").write_text(text)
    [found] = by_title(tmp_path / "x", "pages").values()
    return found


def test_a_page_of_html_tells_its_times_in_any_language_what_is_done_and_several_values(
    tmp_path: Path,
) -> None:
    row = '<tr class="property-row property-row-{}"><th>{}</th><td>{}</td></tr>'
    box = '<div class="checkbox checkbox-{}"></div>'
    value = '<span class="selected-value">{}</span>'
    rows = (
        row.format("created_time", "Erstellt", "<time>@5. Januar 2026 09:30</time>")
        + row.format("last_edited_time", "편집", "<time>@2026년 2월 6일 오후 3:04</time>")
        + row.format("multi_select", "Tags", value.format("low water") + value.format("sea"))
        + row.format("checkbox", "Fertig", box.format("on"))
        + row.format("checkbox", "Bezahlt", box.format("off"))
        + row.format("text", "Notiz", "Leucht<strong>turm</strong> <a>am Kai</a>")
    )
    item = "<ul class='to-do-list'><li>{} <span>{}</span></li></ul>"
    text = item.format(box.format("on"), "paint") + item.format(box.format("off"), "tar")
    found = page(
        tmp_path,
        "html",
        f'<h1 class="page-title">Mole</h1><p class="page-description">Work</p><table class='
        f'"properties">{rows}</table><div class="page-body">{text}</div>',
    )
    assert found["properties"] == {
        "Erstellt": "5. Januar 2026 09:30",
        "편집": "2026년 2월 6일 오후 3:04",
        "Tags": "low water, sea",
        "Fertig": "Yes",
        "Bezahlt": "No",
        "Notiz": "Leuchtturm am Kai",
    }
    times = (found["created_at"], found["updated_at"], found["floating"])
    assert times == ("2026-01-05T09:30:00", "2026-02-06T15:04:00", True)
    assert found["tags"] == ["low water", "sea"]
    assert found["body"].split("\n\n") == ["Work", "- [x] paint", "- [ ] tar"]


def test_a_time_with_a_zone_or_the_first_of_a_span_is_the_time_of_a_page(tmp_path: Path) -> None:
    text = "# Mole\n\nCreated: January 5, 2026 9:00 AM (GMT+1)\nUpdated: 2026/02/06 10:00 → 11:00\n"
    found = page(tmp_path, "md", text)
    assert (found["created_at"], found["updated_at"]) == (
        "2026-01-05T08:00:00Z",
        "2026-02-06T10:00:00",
    )
    unclear = page(tmp_path / "x", "md", "# Mole\n\nDate: 01/02/2026\nStatus: started\n")
    assert "created_at" not in unclear
