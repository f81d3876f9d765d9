"""Notebooks of Evernote, as its programs of several years write them."""

import base64

from tests.sources.samples.sample import FormatSample

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
DOCTYPE = '<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">'
_BODY = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE en-note SYSTEM "http://x/enml2.dtd">'


def note(title: str, created: str, content: str, more: str = "") -> str:
    """Return a note whose page is in a section."""
    return (
        f"<note><title>{title}</title><created>{created}</created>"
        f"<content><![CDATA[{_BODY}<en-note>{content}</en-note>]]></content>{more}</note>\n"
    )


KNOTS = note(
    "Knots &amp; splices",
    "20240102T080000Z",
    "<div>A bowline never slips on a wet rope</div><div><en-todo checked='true'/>learn it</div>"
    '<div><en-todo/>teach Ivo</div><en-media hash="x" type="image/png"/>'
    "<en-crypt hint='boat'>aGFyYm91cg==</en-crypt><script>alert(1)</script>",
    "<updated>20240203T090000Z</updated><tag>sea</tag><tag>craft</tag>"
    "<note-attributes><author>nora@lind.example</author><latitude>38.7</latitude>"
    "<longitude>-9.1</longitude><source>web.clip7</source>"
    "<source-url>https://knots.example/bowline</source-url></note-attributes>"
    '<resource><data encoding="base64">\n'
    + base64.encodebytes(PICTURE).decode()
    + "</data><mime>image/png</mime><width>8</width>"
    '<recognition><![CDATA[<recoIndex><item><t w="91">bowline</t></item></recoIndex>]]>'
    "</recognition>"
    "<resource-attributes><file-name>bowline.png</file-name></resource-attributes></resource>",
)
BREAD = note("Bread", "20240301T080000Z", "<div>Flour, salt, sea water</div>")
UNTITLED = note("", "20240301T080000Z", "<div>Nothing else</div>")


def notebook(*notes: str, doctype: str = DOCTYPE) -> bytes:
    """Return a notebook."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}\n<en-export'
        ' export-date="20260131T080000Z" application="Evernote" version="10.100.4">\n'
        + "".join(notes)
        + "</en-export>\n"
    ).encode()


SAMPLES = (
    FormatSample(
        "evernote",
        "two notebooks",
        {"Boat.enex": notebook(KNOTS, UNTITLED), "Kitchen.enex": notebook(BREAD, doctype="")},
        words='"bowline never slips"',
        sentence="A bowline never slips on a wet rope",
        units={"note": ["XML elements note"], "resource": ["XML elements resource"]},
        earlier={"Boat.enex": notebook(KNOTS)},
        cut="Boat.enex",
        renamed={"Boat.enex": "Boat (1).enex", "Kitchen.enex": "Kitchen (2).ENEX"},
    ),
)
