"""What is particular to documents: pages, properties, and files that are no documents."""

import io
import zipfile
from pathlib import Path
from typing import Any

from tests.sources.kit import Home, findings, look, read, told
from tests.sources.samples import documents
from tests.yardstick import computing_at_most

from pdpp.sources.formats.documents.source import Documents
from pdpp.sources.formats.documents.text import LONGEST_TEXT, PagedText
from pdpp.sources.item import Item, Skipped
from pdpp.sources.reading.xmlstream import LONGEST
from pdpp.sources.source import ExportRefusal

SOURCE = Documents()


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / "papers" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return folder


def only(folder: Path, name: str, content: bytes) -> dict[str, Any]:
    [data] = read(SOURCE, put(folder, name, content)).values()
    return data


def page(data: dict[str, Any], number: int) -> str:
    starts = data["page_offsets"]
    text: str = data["body"]
    return text[starts[str(number)] : starts.get(str(number + 1), len(text) + 1) - 1]


def test_the_pages_of_a_pdf_are_found_by_their_offsets(tmp_path: Path) -> None:
    data = only(tmp_path, "a.pdf", documents.FILES["papers/lease.pdf"])
    assert (data["title"], data["author"], data["pages"]) == ("Lease", "Ivo", 2)
    assert data["created_at"] == "2026-01-05T08:00:00Z"
    assert page(data, 1) == "The tenant shall polish the fog bell weekly"
    assert page(data, 2) == "Signed by both"


def test_what_was_filled_in_and_noted_on_a_pdf_comes_with_its_page(tmp_path: Path) -> None:
    assert only(tmp_path, "lease.pdf", documents.filled_form())["body"].splitlines() == [
        "Lease of a flat",
        "Tenant: Nora Lind",
        "Rooms: two, three",
        "Pets: Yes",
        "Street: Quay 4",
        "Ring twice",
    ]


def test_comments_of_a_pdf_that_cannot_be_read_are_told_and_cost_nothing_else(
    tmp_path: Path,
) -> None:
    annotations = "12 (no annotation) << /Subtype /Text /Contents (Ring twice) >> 99 0 R"
    broken = documents.pdf("Lease of a flat", page=f"/Annots [{annotations}]")
    assert only(tmp_path / "a", "lease.pdf", broken)["body"] == "Lease of a flat\nRing twice"
    lost = Skipped("comments and fields that cannot be read", "papers/lease.pdf: 2")
    assert told(SOURCE, tmp_path / "a") == [lost]
    no_list = documents.pdf("Lease of a flat", page="/Annots 12")
    assert only(tmp_path / "b", "lease.pdf", no_list)["body"] == "Lease of a flat"
    assert [finding.reason for finding in told(SOURCE, tmp_path / "b")] == [lost.reason]


def test_whatever_a_person_draws_onto_a_pdf_brings_what_is_noted_on_it(tmp_path: Path) -> None:
    kinds = ("Caret", "Square", "Ink", "Line", "Stamp")
    drawn = " ".join(f"<< /Subtype /{kind} /Contents (about a {kind}) >>" for kind in kinds)
    described = "<< /Subtype /Link /Contents (where it leads) >>"
    pdf = documents.pdf("Lease", page=f"/Annots [{drawn} {described} << /Subtype /Ink >>]")
    body = only(tmp_path, "lease.pdf", pdf)["body"]
    assert body.splitlines() == ["Lease", *(f"about a {kind}" for kind in kinds)]


def test_a_text_has_its_words_and_pages_and_not_what_was_deleted(tmp_path: Path) -> None:
    data = only(tmp_path, "a.docx", documents.WORD)
    assert page(data, 1) == "Never moor beneath the swinging crane"
    assert page(data, 2) == "Second page\tend"
    assert (data["title"], data["author"]) == ("Mooring rules", "Nora Lind")
    assert data["created_at"] == "2026-01-05T08:00:00Z"


def test_a_sheet_is_lines_and_slides_come_in_their_order(tmp_path: Path) -> None:
    sheet = only(tmp_path / "x", "a.xlsx", documents.SHEET)
    assert sheet["body"].splitlines() == ["Boat", "Rope\t12.5", "Flare\tTRUE\tx"]
    slides = only(tmp_path / "y", "a.pptx", documents.SLIDES)
    assert [page(slides, number) for number in (1, 2, 3)] == ["One\nmore", "Two", "Ten"]


def sheet(*cells: str) -> str:
    row = "".join(cells)
    return f"<worksheet><sheetData><row>{row}</row></sheetData></worksheet>"


def test_sheets_and_slides_come_as_their_file_lists_them(tmp_path: Path) -> None:
    relations = (
        '<Relationships><Relationship Id="a" Target="{0}1.xml"/>'
        '<Relationship Id="b" Target="/{1}2.xml"/></Relationships>'
    )
    book = documents.office(
        "Costs",
        xl__workbook='<workbook><sheets><sheet name="Late" x:id="b"/><sheet name="Early" x:id="a"/>'
        "</sheets></workbook>",
        xl__workbook_rels=relations.format("worksheets/sheet", "xl/worksheets/sheet"),
        xl__styles='<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[$-1]dd.mm.yyyy"/>'
        '<numFmt numFmtId="171" formatCode="0 &quot;days&quot;"/></numFmts><cellXfs>'
        '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>'
        "</styleSheet>",
        xl__worksheets__sheet1=sheet("<c><v>1</v></c>", '<c s="3"><v>46027</v></c>'),
        xl__worksheets__sheet2=sheet('<c s="1"><v>46027</v></c>', '<c s="2"><v>46027.5</v></c>'),
    )
    data = only(tmp_path / "x", "a.xlsx", book)
    assert (page(data, 1), page(data, 2)) == (
        "Late\n2026-01-05\t2026-01-05 12:00:00",
        "Early\n1\t46027",
    )
    talk = documents.office(
        "Talk",
        ppt__presentation='<p><sldIdLst><sldId id="9" x:id="b"/><sldId x:id="a"/></sldIdLst></p>',
        ppt__presentation_rels=relations.format("slides/slide", "ppt/slides/slide"),
        ppt__slides__slide1="<sld><p><r><t>One</t></r></p></sld>",
        ppt__slides__slide2="<sld><p><r><t>Two</t></r></p></sld>",
    )
    slides = only(tmp_path / "y", "a.pptx", talk)
    assert [page(slides, number) for number in (1, 2)] == ["Two", "One"]


_TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(*parts: tuple[str, str]) -> str:
    rows = (
        f'<Relationship Id="r{number}" Type="{_TYPE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(parts)
    )
    return f"<Relationships>{''.join(rows)}</Relationships>"


def test_notes_comments_and_letterheads_of_a_text_come_behind_it(tmp_path: Path) -> None:
    line = "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>"
    moved = "<w:moveFrom><w:r><w:t>boat</w:t></w:r></w:moveFrom>"
    name = "<w:r><w:t>Ann</w:t><w:noBreakHyphen/><w:t>Lou</w:t><w:br w:type='page'/></w:r>"
    text = documents.office(
        "Log",
        word__document9=f"<x>{line.format('Tide')}<w:p>{moved}{name}</w:p></x>",
        word__document9_rels=relations(
            *(("endnotes", "e.xml"), ("footnotes", "f.xml"), ("comments", "c.xml")),
            *(("header", "h.xml"), ("header", "h.xml"), ("footer", "/word/p.xml")),
        ),
        _rels=relations(("officeDocument", "word/document9.xml")),
        word__e=f"<x>{line.format('as of May')}</x>",
        word__f=f"<x>{line.format('see the map')}</x>",
        word__c=f'<x><w:comment w:author="Ivo">{line.format("sure?")}</w:comment></x>',
        word__h=f"<x>{line.format('Harbour office')}</x>",
        word__p=f"<x>{line.format('7')}</x>",
    )
    lines = only(tmp_path, "a.docx", text)["body"].split()
    assert " ".join(lines) == "Tide Ann-Lou see the map as of May Ivo: sure? Harbour office"


def test_ticks_of_a_form_are_read_out_of_fonts_and_fields(tmp_path: Path) -> None:
    symbol = '<w:sym w:font="{}" w:char="{}"/>'
    box = "<w:fldChar><w:ffData><w:checkBox>{}</w:checkBox></w:ffData></w:fldChar>"
    text = documents.word(
        symbol.format("Wingdings", "F0FE")
        + "<w:t> yes </w:t>"
        + symbol.format("Wingdings", "F0A8"),
        symbol.format("Wingdings 2", "F052") + symbol.format("Symbol", "F0B3") + "<w:t>3</w:t>",
        box.format('<w:default w:val="0"/><w:checked/>') + box.format('<w:default w:val="0"/>'),
        symbol.format("Wingdings", "F04A")
        + symbol.format("Arial", "2192")
        + symbol.format("", "x"),
    )
    assert only(tmp_path, "a.docx", text)["body"].splitlines() == ["☑ yes ☐", "☑≥3", "☒☐", "→"]


def test_a_row_of_a_table_in_a_text_is_a_line(tmp_path: Path) -> None:
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    rows = [("Rope", "12.5"), ("", "3")]
    body = "".join(f"<w:tr>{''.join(map(cell.format, row))}</w:tr>" for row in rows)
    text = documents.office("Log", word__document=f"<x><w:tbl>{body}</w:tbl></x>")
    assert only(tmp_path, "a.docx", text)["body"] == "Rope\t12.5\n\t3"


def test_slides_have_their_notes_drawings_and_comments(tmp_path: Path) -> None:
    line = "<p><r><t>{}</t></r></p>"
    shape = '<sp><ph type="{}"/>{}</sp>'
    notes = shape.format("body", line.format("Speak slowly")) + shape.format(
        "sldNum", line.format("1")
    )
    talk = documents.office(
        "Talk",
        ppt__slides__slide1=f"<x>{line.format('One')}</x>",
        ppt__slides__slide1_rels=relations(
            *(
                ("notesSlide", "../notes/n.xml"),
                ("diagramData", "../d.xml"),
                ("comments", "../c.xml"),
            )
        ),
        ppt__notes__n=f"<x>{notes}</x>",
        ppt__d=f"<x>{line.format('Captain')}</x>",
        ppt__c="<x><cm><text>Nice</text></cm></x>",
    )
    body = only(tmp_path, "a.pptx", talk)["body"]
    assert body.splitlines() == ["One", "Captain", "Speak slowly", "Nice"]


def test_cells_stand_in_their_columns_as_the_sheet_shows_them(tmp_path: Path) -> None:
    book = documents.office(
        "Hours",
        xl__workbook='<workbook><sheets><sheet name="May" x:id="r0"/></sheets></workbook>',
        xl__workbook_rels=relations(("worksheet", "worksheets/s.xml"), ("styles", "styles.xml")),
        xl__SharedStrings="<sst><si><t>港</t><rPh><t>ミナト</t></rPh></si></sst>",
        xl__styles='<x><numFmts><numFmt numFmtId="170" formatCode="[h]:mm"/><numFmt numFmtId="171"'
        ' formatCode="General&quot; h&quot;"/></numFmts><cellXfs><xf/><xf numFmtId="20"/>'
        '<xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></x>',
        xl__worksheets__s=sheet(
            *('<c r="B1" t="s"><v>0</v></c>', '<c r="D1"><f>SUM(A1:A2)</f></c>'),
            *('<c r="E1" s="1"><v>0.5</v></c>', '<c r="F1" s="2"><v>-1.25</v></c>'),
            *('<c r="G1" s="3"><v>7.5</v></c>', '<c r="ZZ1"><f>1+1</f><v>2</v></c>'),
        ),
        xl__worksheets__s_rels=relations(("comments", "../c.xml")),
        xl__c='<x><comment ref="B1"><text><r><t>which?</t></r></text></comment></x>',
    )
    body = only(tmp_path, "a.xlsx", book)["body"]
    gap = "\t" * 50
    cells = f"\t港\t\t=SUM(A1:A2)\t12:00:00\t-30:00:00\t7.5\t{gap}2"
    assert body == f"May\n{cells}\nB1: which?"


def test_letters_that_a_sheet_writes_as_codes_are_read(tmp_path: Path) -> None:
    cell = '<c t="inlineStr"><is><t>Rope_x000D_\n12 mm_x005F_x</t></is></c>'
    book = documents.office("Costs", xl__worksheets__sheet1=sheet(cell))
    assert only(tmp_path, "a.xlsx", book)["body"] == "Rope\n12 mm_x"


def test_an_office_file_with_a_password_is_kept_and_told(tmp_path: Path) -> None:
    put(tmp_path, "a.docx", b"\xd0\xcf\x11\xe0" + bytes(600))
    assert [finding.reason for finding in told(SOURCE, tmp_path)] == [
        "the text of a document with a password, or of the older kind"
    ]
    with_macros = only(tmp_path / "x", "a.xlsm", documents.SHEET)
    assert with_macros["body"].startswith("Boat")


def test_a_text_box_comes_once(tmp_path: Path) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>Beware of the crane</w:t></w:r></w:p></w:txbxContent>"
    both = f"<x:Choice>{box}</x:Choice><x:Fallback><x:pict>{box}</x:pict></x:Fallback>"
    text = documents.word(f"<x:AlternateContent>{both}</x:AlternateContent>")
    assert only(tmp_path, "a.docx", text)["body"] == "Beware of the crane"


def open_document(body: str, manifest: str = "") -> bytes:
    made = io.BytesIO()
    meta = (
        "<office:meta><dc:title>Log &amp; lamp</dc:title><dc:creator>Nora Lind</dc:creator>"
        "<meta:creation-date>2026-01-05T08:00:00.123456789</meta:creation-date></office:meta>"
    )
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument")
        archive.writestr("META-INF/manifest.xml", f"<manifest>{manifest}</manifest>")
        archive.writestr("meta.xml", meta)
        archive.writestr(
            "content.xml",
            f"<office:document-content><style:p>no</style:p><office:body>{body}</office:body>"
            "</office:document-content>",
        )
    return made.getvalue()


def test_a_text_of_libreoffice_has_its_words_in_order(tmp_path: Path) -> None:
    text = open_document(
        "<text:tracked-changes><text:p>struck out</text:p></text:tracked-changes>"
        "<text:h>The lamp</text:h><text:p>Turn <text:span>it <text:s/>slowly</text:span> &amp; stop"
        "<office:annotation><text:p>why?</text:p></office:annotation>.</text:p>"
        "<text:soft-page-break/>"
        "<table:table table:name='T'><table:table-row><table:table-cell><text:p>a</text:p>"
        "</table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell>"
        "</table:table-row></table:table><text:p>End</text:p>"
    )
    data = only(tmp_path, "a.odt", text)
    assert [page(data, number) for number in (1, 2)] == [
        "The lamp\nTurn it slowly & stop.\nwhy?",
        "a\tb\nEnd",
    ]
    assert (data["title"], data["author"]) == ("Log & lamp", "Nora Lind")
    assert data["created_at"].startswith("2026-01-05T08:00:00")


def test_sheets_and_slides_of_libreoffice_are_pages(tmp_path: Path) -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    row = f"<table:table-row>{cell.format('Rope')}{cell.format('12.5')}</table:table-row>"
    tables = "".join(f'<table:table table:name="{name}">{row}</table:table>' for name in "AB")
    sheets = only(tmp_path / "x", "a.ods", open_document(tables))
    assert [page(sheets, number) for number in (1, 2)] == ["A\nRope\t12.5", "B\nRope\t12.5"]
    notes = "<presentation:notes><text:p>n</text:p></presentation:notes>"
    slide = f"<draw:page><text:p>{{}}</text:p>{notes}</draw:page>"
    slides = only(tmp_path / "y", "a.odp", open_document(slide.format("One") + slide.format("Two")))
    assert [page(slides, number) for number in (1, 2)] == ["One\nn", "Two\nn"]


def test_equal_cells_and_rows_of_libreoffice_come_as_often_as_they_are_shown(
    tmp_path: Path,
) -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    row, many = "<table:table-row{}>{}</table:table-row>", " table:number-{}-repeated='{}'"
    thrice = many.format("columns", 3)
    gap, tide, seven = f"<table:table-cell{thrice}/>", cell.format("", "Tide"), cell.format("", "7")
    rows = (
        row.format("", gap + tide)
        + row.format(many.format("rows", 2), cell.format(thrice, "5") + seven + gap)
        + row.format(many.format("rows", 1_048_000), "<table:table-cell/>")
    )
    data = only(
        tmp_path, "a.ods", open_document(f'<table:table table:name="A">{rows}</table:table>')
    )
    assert data["body"] == "A\n\t\t\tTide\n5\t5\t5\t7\n5\t5\t5\t7"


def test_notes_and_comments_of_libreoffice_come_below_what_they_are_about(tmp_path: Path) -> None:
    text = open_document(
        "<text:p>The boat<office:annotation><dc:creator>Nora</dc:creator><dc:date>2026</dc:date>"
        "<text:p>which?</text:p></office:annotation> leaks<text:note><text:note-citation>1"
        "</text:note-citation><text:note-body><text:p>since May</text:p></text:note-body>"
        "</text:note>.</text:p>"
    )
    assert only(tmp_path, "a.odt", text)["body"] == "The boat leaks.\nwhich?\nsince May"


def test_marks_that_never_end_in_a_text_of_libreoffice_cost_no_time(tmp_path: Path) -> None:
    text = open_document("<text:p>word</text:p>" + "<a" * 200_000)
    with computing_at_most(10):
        assert only(tmp_path, "a.odt", text)["body"].startswith("word")


def test_a_text_of_libreoffice_with_a_password_is_kept_and_told(tmp_path: Path) -> None:
    put(tmp_path, "a.odt", open_document("", "<manifest:encryption-data/>"))
    put(tmp_path, "b.odt", b"PK\x03\x04 no zip")
    assert [finding.reason for finding in told(SOURCE, tmp_path)] == [
        "the text of a document with a password",
        "the text of a document that is damaged",
    ]
    assert len(read(SOURCE, tmp_path)) == 2


def test_a_document_that_cannot_be_read_is_kept_and_told(tmp_path: Path) -> None:
    folder = put(tmp_path, "good.pdf", documents.pdf("x"))
    put(tmp_path, "bad.pdf", b"%PDF-1.4 nothing else")
    put(tmp_path, "bad.docx", b"PK\x03\x04 no zip")
    put(tmp_path, "scan.pdf", documents.pdf(""))
    put(tmp_path, "copy.pdf", documents.pdf("x"))
    assert sorted(finding.reason for finding in told(SOURCE, folder)) == [
        "a document that stands twice",
        "the text of a document that has none, perhaps a scan",
        "the text of a document that is damaged",
        "the text of a document that is damaged",
    ]
    assert len(read(SOURCE, folder)) == 4


def test_entities_in_an_office_file_are_refused(tmp_path: Path) -> None:
    bomb = documents.office("x", word__document='<!DOCTYPE a [<!ENTITY b "c">]><w:p>&b;</w:p>')
    folder = put(tmp_path, "a.docx", bomb)
    assert [finding.reason for finding in told(SOURCE, folder)] == [
        "the text of a document that is damaged"
    ]


def test_an_office_file_by_itself_says_what_to_do(tmp_path: Path) -> None:
    put(tmp_path, "a.docx", documents.WORD)
    put(tmp_path, "b.odt", open_document("<text:p>x</text:p>"))
    for name in ("a.docx", "b.odt"):
        assert isinstance(look(SOURCE, tmp_path / "papers" / name), ExportRefusal)


def test_a_folder_with_other_things_is_not_taken_by_itself(tmp_path: Path) -> None:
    put(tmp_path, "a.pdf", documents.pdf("x"))
    assert look(SOURCE, put(tmp_path, "notes.md", b"# Note")) is None


def test_a_long_text_is_cut_at_a_bound_and_says_so() -> None:
    made = PagedText()
    made.take(["x" * LONGEST_TEXT, "y"])
    assert made.is_cut
    assert len(made.text) == LONGEST_TEXT


TOO_LONG = f"<w:t>{' ' * LONGEST}</w:t>"


def test_an_element_that_is_too_long_is_told_and_the_text_is_not_called_whole(
    tmp_path: Path,
) -> None:
    line = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    text = documents.office(
        "Log",
        word__document=f"<x>{line.format('Tide')}<w:p>{TOO_LONG}.</w:p>{line.format('Ebb')}</x>",
    )
    home = Home(tmp_path / "data")
    report = home.bring(put(tmp_path / "x", "a.docx", text))
    assert (report["status"], report["unaccounted"]) == ("incomplete", 0)
    [skipped] = report["skipped"]
    assert skipped["reason"] == "parts of a text that cannot be read"
    assert skipped["examples"] == ["papers/a.docx: 1"]
    [data] = home.records().values()
    assert data["body"].split() == ["Tide", "Ebb"]


def test_a_cell_keeps_its_text_where_another_is_too_long(tmp_path: Path) -> None:
    cells = "".join(f'<c t="s"><v>{number}</v></c>' for number in (0, 1, 2, 3, ""))
    book = documents.office(
        "Costs",
        xl__sharedStrings=f"<sst><si><t>Rope</t></si><si>{TOO_LONG}.</si><si><t>Lamp</t></si></sst>",
        xl__worksheets__sheet1=sheet(cells),
    )
    folder = put(tmp_path, "a.xlsx", book)
    _, document, lost = findings(SOURCE, folder)
    assert isinstance(document, Item)
    assert document.data["body"] == "Rope\t\tLamp"
    assert lost == Skipped("parts of a text that cannot be read", "papers/a.xlsx: 2", cut=True)


def test_a_text_whose_end_is_left_out_says_so_however_short_it_comes_in(tmp_path: Path) -> None:
    spaces = " " * (LONGEST_TEXT + 1)
    word = documents.office(
        "Log",
        word__document=f"<x><p><r><t>a</t></r></p><p><r><t>{spaces}</t></r></p>"
        "<p><r><t>b</t></r></p></x>",
    )
    eastern = rb"{\rtf1\ansicpg932 " + rb"\'82\'a0" * (LONGEST_TEXT // 2 + 1) + rb"{\b b}}"
    for name, content in (
        ("a.docx", word),
        ("a.odt", open_document(f"<text:p>a{spaces}</text:p><text:p>b</text:p>")),
        ("a.rtf", eastern),
    ):
        folder = put(tmp_path / name, name, content)
        with computing_at_most(10):
            reasons = [finding.reason for finding in told(SOURCE, folder)]
        assert reasons == ["the end of a document that is very long"]
