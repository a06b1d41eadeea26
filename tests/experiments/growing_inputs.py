"""Inputs of any size that make a careless parser take much longer than their size justifies, by parser and name.

Each is a function of the approximate number of bytes to make. Tests and `python -m tests.experiments.hostile_requests` double the size.
"""

from __future__ import annotations

import base64
import io
import zipfile
import zlib
from collections.abc import Callable, Mapping

Maker = Callable[[int], bytes]
BOUNDARY = "growing-boundary"
_SVG = b'<svg xmlns="http://www.w3.org/2000/svg"'
_SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def repeated(text: str, before: str = "", after: str = "") -> Maker:
    """Return a maker of `text`, repeated, between `before` and `after`."""
    return lambda size: (before + text * max(1, size // len(text.encode())) + after).encode()


def numbered(text: str, before: str = "", after: str = "") -> Maker:
    """Return a maker of `text`, repeated with a different number in each `{}`, between `before` and `after`."""

    def make(size: int) -> bytes:
        count = max(1, size // (len(text) + 4))
        return (before + "".join(text.replace("{}", str(number)) for number in range(count)) + after).encode()

    return make


def halves(first: Maker, second: Maker) -> Maker:
    """Return a maker of two inputs, one after the other, each of half the size."""
    return lambda size: first(size // 2) + second(size // 2)


JSON: Mapping[str, Maker] = {
    "objects": repeated("{},", '{"name":"a","notes":[', "{}]}"),
    "numbers": repeated("1,", '{"name":"a","notes":[', "1]}"),
    "texts": repeated('"",', '{"name":"a","notes":[', '""]}'),
    "one text": repeated("x", '{"name":"', '"}'),
    "quotes in a text": repeated('\\"', '{"name":"', '"}'),
    "a text that never ends": repeated('\\"', '{"name":"'),
    "brackets in a text": repeated("[{", '{"name":"', '"}'),
    "open brackets": repeated("["),
    "brackets of both kinds": repeated('{"a":['),
    "unknown names": numbered('"k{}":1,', "{", '"name":"a"}'),
    "one name again and again": repeated('"name":"a",', "{", '"name":"a"}'),
    "wrong values": repeated('{"sku":"s","count":"x"},', '{"name":"a","parts":[', "{}]}"),
    "wrong items": repeated("[],", '{"name":"a","tags":[', "1]}"),
    "a long number": repeated("9", '{"name":"a","rank":', "}"),
    "a long amount": repeated("9", '{"name":"a","price":"', '"}'),
    "a long fraction": repeated("0", '{"name":"a","price":0.', "1}"),
    "commas in a text": repeated(",", '{"name":"a","notes":["', '"]}'),
}

_PART = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
_END = f"\r\n--{BOUNDARY}--\r\n"
MULTIPART: Mapping[str, Maker] = {
    "plain content": repeated("x", _PART, _END),
    "line ends": repeated("\r\n", _PART, _END),
    "returns": repeated("\r", _PART, _END),
    "almost boundaries": repeated(f"\r\n--{BOUNDARY[:-1]}", _PART, _END),
    "dashes": repeated("\r\n--", _PART, _END),
    "many parts": repeated(_PART, "", _END),
    "a long name": repeated("x", f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="', '"\r\n\r\n' + _END),
    "a preamble": repeated("x\r\n", "", _PART + _END),
}

CSV: Mapping[str, Maker] = {
    "rows": repeated("a,b\n", "name,remark\n"),
    "one header again and again": repeated("name,", "", "name\n"),
    "blank headers": repeated(",", "", "name\n"),
    "other headers": numbered("h{},", "", "name\n"),
    "columns": repeated("a,", "name\n", "a\n"),
    "a long cell": repeated("x", "name\n"),
    "quotes": repeated('""', 'name\n"', '"\n'),
    "an open quote": repeated("x\n", 'name\n"'),
    "apostrophes": repeated("'", "name\n", "\n"),
    "blank lines": repeated("\n", "name\n", "a\n"),
    "another encoding": lambda size: b"name\n" + "中文\n".encode("gb18030") * (size // 5),
}

HTML: Mapping[str, Maker] = {
    "paragraphs": repeated("<p>hello <b>world</b></p>"),
    "text": repeated("hello world "),
    "formatting before blocks": halves(numbered("<b a{}>"), repeated("<p>x")),
    "formatting with hidden ends": halves(numbered("<b a{}><!--</b>-->"), repeated("<p>x")),
    "nesting": repeated("<div>"),
    "nested lists": repeated("<ul><li>"),
    "nested links": repeated("<a><div>"),
    "wrong nesting": halves(repeated("<b><div>"), repeated("</b>")),
    "ends without a begin": halves(repeated("<div>"), repeated("</p>")),
    "tables": repeated("<table>"),
    "outside of a table": repeated("<b>x", "<table>"),
    "attributes": numbered(" a{}", "<a", ">x"),
    "attributes without blanks": repeated('"', "<a "),
    "a long address": repeated(" ", '<a href="', ':">x</a>'),
    "an address of dots": repeated("../", '<a href="', '">x</a>'),
    "a long style": repeated("text-align:left;", '<p style="', '">x'),
    "open styles": repeated("calc(", '<p style="text-align:', '">x'),
    "a long language": repeated("a", '<code class="language-', '">x</code>'),
    "less-than signs": repeated("<"),
    "ampersands": repeated("&"),
    "comments": repeated("<!--"),
    "short comments": repeated("<!-- a -->"),
    "scripts": repeated("<!--<script>", "<script>"),
    "drawings": repeated("<svg>"),
    "drawings and blocks": repeated("<div><section/>", "<svg>"),
}

MARKDOWN: Mapping[str, Maker] = {
    "paragraphs": repeated("Hello *world* and `code`.\n\n"),
    "lines": repeated("hello world\n"),
    "brackets": repeated("["),
    "pictures": repeated("![["),
    "links": repeated("[a]("),
    "nested links": halves(repeated("["), repeated("](a)")),
    "emphasis": repeated("*a_ "),
    "strong emphasis": repeated("a**b"),
    "backticks": repeated("`a``"),
    "quotes": repeated("> "),
    "lists": repeated("- a\n"),
    "headings": repeated("#\n"),
    "references": numbered("[a{}]: /u\n"),
    "a wide table": lambda size: b"|a" * (size // 4) + b"|\n" + b"|-" * (size // 4) + b"|\n",
    "markup": repeated("a <![CDATA["),
    "nested markup": repeated("<div>\n\n"),
    "entities": repeated("&"),
    "backslashes": repeated("\\"),
}


def _drawing(text: str, before: str, after: str) -> Maker:
    inside = repeated(text, before, after)
    return lambda size: _SVG + inside(size)


SVG: Mapping[str, Maker] = {
    "elements": _drawing("<g/>", ">", "</svg>"),
    "a long attribute": _drawing("a", ' d="', '"/>'),
    "a long comment": _drawing("a", "><!--", "--></svg>"),
    "a long name": _drawing("g", "><", "/></svg>"),
    "a long instruction": _drawing("a", "><?a ", "?></svg>"),
    "nesting": _drawing("<g>", ">", ""),
    "entities": _drawing("&amp;", ">", "</svg>"),
    "styles": _drawing("url( ", "><style>", "</style></svg>"),
    "expressions": _drawing("expression ", "><style>", "</style></svg>"),
    "blanks in an address": _drawing(" ", "><style>url(", "#a)</style></svg>"),
    "numbers in a style": _drawing("\\75 ", "><style>", "</style></svg>"),
    "brackets": _drawing("]", "><![CDATA[", "]]></svg>"),
    "defaults": numbered('<!ATTLIST a b{} CDATA "x">', "<!DOCTYPE svg [", "]><svg/>"),
    "name spaces": lambda size: _SVG + numbered(' xmlns:a{}="u"', "", "/>")(size),
}


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def _png(size: int, chunk: bytes) -> bytes:
    head = _chunk(b"IHDR", (1).to_bytes(4, "big") * 2 + b"\x08\x00\x00\x00\x00")
    image = _chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + head + chunk * max(1, size // len(chunk)) + image + _chunk(b"IEND", b"")


def _gif(size: int) -> bytes:
    head = b"GIF89a\x01\x00\x01\x00\x00\x00\x00"
    return head + b"!\xfe" + b"\x01a" * (size // 2) + b"\x00,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"


# by media type
IMAGES: Mapping[str, Mapping[str, Maker]] = {
    "image/png": {
        "texts": lambda size: _png(size, _chunk(b"tEXt", b"a\0b")),
        "packed texts": lambda size: _png(size, _chunk(b"zTXt", b"a\0\0" + zlib.compress(b"x" * 1000))),
        "one large chunk": lambda size: _png(1, _chunk(b"tEXt", b"a\0" + b"<" * size)),
        "empty chunks": lambda size: _png(size, _chunk(b"abCd", b"")),
    },
    "image/gif": {"blocks": _gif},
}


def workbook(sheet: str, texts: str = "") -> bytes:
    """Return a workbook of one sheet; `sheet` and `texts` are the XML of its cells and of its shared strings."""
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006/relationships"
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{packages}"><Relationship Id="rId1" Type="{relations}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packages}"><Relationship Id="rId1" '
        f'Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {_SHEET} xmlns:r="{relations}"><sheets>'
        '<sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/sharedStrings.xml": f"<sst {_SHEET}>{texts}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet {_SHEET}><sheetData>{sheet}</sheetData></worksheet>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def _rows(size: int) -> bytes:
    row = '<row r="{0}"><c r="A{0}" t="inlineStr"><is><t>name</t></is></c></row>'
    return workbook("".join(row.format(number) for number in range(1, max(2, size // len(row)))))


# stored uncompressed: compressed content is limited by the size that the archive declares for it
XLSX: Mapping[str, Maker] = {
    "rows": _rows,
    "texts": lambda size: workbook("", "<si><t>x</t></si>" * (size // 17)),
    "one long text": lambda size: workbook("", f"<si><t>{'x' * size}</t></si>"),
    "a text in pieces": lambda size: workbook("", f"<si>{'<r><t>x</t></r>' * (size // 15)}</si>"),
    "blanks": lambda size: workbook(" " * size),
}

SEARCH: Mapping[str, Maker] = {
    "letters": repeated("a"),
    "words": repeated("ab "),
    "different words": numbered("w{} "),
    "words in words": lambda size: " ".join("a" * number for number in range(1, int((2 * size) ** 0.5))).encode(),
    "Chinese": repeated("中"),
    "digits": repeated("1"),
    "signs": repeated(".*"),
    "combining signs": repeated("e\u0301"),
    "one letter that becomes many": repeated("\ufdfa"),
}


def _cursor(text: bytes) -> bytes:
    return base64.urlsafe_b64encode(text).rstrip(b"=")


CURSORS: Mapping[str, Maker] = {
    "letters": repeated("a"),
    "brackets": lambda size: _cursor(b"[" * (size * 3 // 4)),
    "values": lambda size: _cursor(b'["-created_at,-_id",[' + b"1," * (size * 3 // 8) + b"1]]"),
    "a long value": lambda size: _cursor(b'["-created_at,-_id",["' + b"1" * (size * 3 // 4) + b'","a"]]'),
    "a long order": lambda size: _cursor(b'["' + b"a," * (size * 3 // 8) + b'",[]]'),
}
