"""Documents: a PDF written by hand, and Office files as small as they may be."""

import io
import zipfile

from tests.sources.samples.sample import FormatSample

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_CORE = (
    '<?xml version="1.0"?><cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="urn:dc"'
    ' xmlns:dcterms="urn:t"><dc:title>{title}</dc:title><dc:creator>Nora Lind</dc:creator>'
    "<dcterms:created>2026-01-05T08:00:00Z</dcterms:created></cp:coreProperties>"
)


def pdf(
    *pages: str,
    info: str = "/Title (Lease) /Author (Ivo) /CreationDate (D:20260105080000Z)",
    page: str = "",
) -> bytes:
    """Return a PDF with a line of text on each page."""
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< {info} >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R"
            f" >> >> /Contents {6 + 2 * number} 0 R {page} >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    content, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    return (
        content
        + (
            f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<< /Size {count} /Root 1 0 R"
            f" /Info 4 0 R >>\nstartxref\n{len(content)}\n%%EOF\n"
        ).encode()
    )


def filled_form() -> bytes:
    """Return a form with a text, a choice, a tick, a box without one, a name above and a note."""
    fields = (
        "/Subtype /Widget /FT /Tx /T (Tenant) /V (Nora Lind)",
        "/Subtype /Widget /FT /Ch /T (Rooms) /V [(two) (three)]",
        "/Subtype /Widget /FT /Btn /T (Pets) /AS /Yes",
        "/Subtype /Widget /FT /Btn /T (Smoker) /AS /Off",
        "/Subtype /Widget /FT /Tx /T (Signed on)",
        "/Subtype /Widget /FT /Tx /T (Odd) /V << /Not (a text) >>",
        "/Subtype /Widget /Parent << /FT /Tx /T (Street) /V (Quay 4) >>",
        "/Subtype /FreeText /Contents (Ring twice)",
        "/Subtype /Link /Contents (not written by hand)",
    )
    annotations = " ".join(f"<< /Type /Annot {field} >>" for field in fields)
    return pdf("Lease of a flat", page=f"/Annots [{annotations}]")


def office(title: str, **parts: str) -> bytes:
    """Return an Office file; two underscores stand for a slash, and ``_rels`` is an ending."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("docProps/core.xml", _CORE.format(title=title))
        for name, text in parts.items():
            path = name.replace("__", "/") + ".xml"
            if path == "_rels.xml":
                path = "_rels/.rels"
            elif path.endswith("_rels.xml"):
                folder, _, base = path.removesuffix("_rels.xml").rpartition("/")
                path = f"{folder}/_rels/{base}.xml.rels"
            archive.writestr(path, f'<?xml version="1.0"?>{text}')
    return made.getvalue()


def word(*paragraphs: str) -> bytes:
    """Return a text."""
    body = "".join(f"<w:p><w:r>{paragraph}</w:r></w:p>" for paragraph in paragraphs)
    return office(
        "Mooring rules", word__document=f"<w:document {_W}><w:body>{body}</w:body></w:document>"
    )


WORD = word(
    "<w:t>Never moor beneath the </w:t><w:t>swinging crane</w:t>",
    "<w:lastRenderedPageBreak/><w:t>Second page</w:t><w:tab/><w:t>end</w:t>"
    "<w:delText>no</w:delText>",
)
SHEET = office(
    "Costs",
    xl__workbook='<workbook><sheets><sheet name="Boat" r:id="r1"/></sheets></workbook>',
    xl__workbook_rels='<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/>'
    "</Relationships>",
    xl__sharedStrings="<sst><si><t>Rope</t></si><si><r><t>Fl</t></r><r><t>are</t></r></si></sst>",
    xl__worksheets__sheet1="<worksheet><sheetData>"
    '<row><c t="s"><v>0</v></c><c><v>12.5</v></c></row>'
    '<row><c t="s"><v>1</v></c><c t="b"><v>1</v></c><c t="inlineStr"><is><t>x</t></is></c></row>'
    "</sheetData></worksheet>",
)
SLIDES = office(
    "Talk",
    ppt__presentation="<p/>",
    ppt__slides__slide2="<sld><p><r><t>Two</t></r></p></sld>",
    ppt__slides__slide10="<sld><p><r><t>Ten</t></r></p></sld>",
    ppt__slides__slide1="<sld><p><r><t>One</t></r></p><p><r><t>more</t></r></p></sld>",
)
FILES = {
    "papers/lease.pdf": pdf("The tenant shall polish the fog bell weekly", "Signed by both"),
    "papers/rules.docx": WORD,
    "papers/costs.xlsx": SHEET,
    "papers/talk.pptx": SLIDES,
}
SAMPLES = (
    FormatSample(
        "documents",
        "a folder of papers",
        FILES,
        units={"document": ["files .pdf", "files .docx", "files .xlsx", "files .pptx"]},
        cut="papers/rules.docx",
        torn=1,
        words='"polish the fog bell weekly"',
        sentence="The tenant shall polish the fog bell weekly",
        earlier={"papers/lease.pdf": FILES["papers/lease.pdf"]},
    ),
)
