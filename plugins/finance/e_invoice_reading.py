"""Reads Chinese e-invoices: the XML of fully digitalised ones, and OFD (GB/T 33190), in a worker process.

An OFD is a ZIP of XML files. What it says of the invoice is in the XML that the issuer attached, or else in the texts of its
pages that its tags name, or in its properties. This module imports nothing of the service. Files are of strangers: what is
read is bounded, nothing is unpacked to a disk, and XML with declarations of its own is refused.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import orjson

from plugins.finance.e_invoice_signatures import NONE, NOT_COVERED, UNSUPPORTED, Checked, check_archive

MOST_LINES = 1_000
_MOST_FILES, _MOST_UNPACKED, _MOST_OF_A_FILE, _MOST_XML = 1_000, 64 << 20, 32 << 20, 8 << 20
_MOST_ELEMENTS, _MOST_DEPTH, _MOST_NAME, _MOST_TEXT = 100_000, 100, 100, 200
_ENCODING = re.compile(rb"""\A(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, ValueError, OSError)
_CHINESE = frozenset({"gbk", "gb2312", "gb18030", "cp936"})  # which the parser does not decode
_DAY = re.compile(r"(\d{4})\s*[-/.年]?\s*(\d{1,2})\s*[-/.月]?\s*(\d{1,2})")
_AMOUNT = re.compile(r"-?\d{1,13}(\.\d{1,20})?")
_DECIMAL = re.compile(r"-?\d{1,15}(\.\d{1,20})?")
_NUMBER = re.compile(r"[0-9A-Za-z-]{1,32}")

_ATTACHED = re.compile(r"(^|/)Attachs/(?!Attachments\.xml$)[^/]+\.xml$")
_MOST_ATTACHED = 10

Values = dict[str, str]
Fault = tuple[str, str]

# where the fields are, below the root: the first path that leads to a text
_DIGITALISED: Mapping[str, Sequence[str]] = {
    "number": ("TaxSupervisionInfo/InvoiceNumber", "Header/EIid"),
    "day": ("TaxSupervisionInfo/IssueTime", "EInvoiceData/BasicInformation/RequestTime"),
    "kind": ("Header/InherentLabel/GeneralOrSpecialVAT/LabelName", "Header/InherentLabel/EInvoiceType/LabelName"),
    "seller_name": ("EInvoiceData/SellerInformation/SellerName",),
    "seller_tax_number": ("EInvoiceData/SellerInformation/SellerIdNum",),
    "buyer_name": ("EInvoiceData/BuyerInformation/BuyerName",),
    "buyer_tax_number": ("EInvoiceData/BuyerInformation/BuyerIdNum",),
    "amount": ("EInvoiceData/BasicInformation/TotalAmWithoutTax",),
    "tax": ("EInvoiceData/BasicInformation/TotalTaxAm",),
    "total": ("EInvoiceData/BasicInformation/TotalTax-includedAmount",),
}
_OLDER: Mapping[str, Sequence[str]] = {
    "code": ("InvoiceCode",),
    "number": ("InvoiceNo",),
    "day": ("IssueDate",),
    "seller_name": ("Seller/SellerName",),
    "seller_tax_number": ("Seller/SellerTaxID",),
    "buyer_name": ("Buyer/BuyerName",),
    "buyer_tax_number": ("Buyer/BuyerTaxID",),
    "amount": ("TaxExclusiveTotalAmount",),
    "tax": ("TaxTotalAmount",),
    "total": ("TaxInclusiveTotalAmount",),
}
_PROPERTIES: Mapping[str, str] = {
    "发票代码": "code",
    "发票号码": "number",
    "开票日期": "day",
    "销售方名称": "seller_name",
    "销售方纳税人识别号": "seller_tax_number",
    "购买方名称": "buyer_name",
    "购买方纳税人识别号": "buyer_tax_number",
    "合计金额": "amount",
    "合计税额": "tax",
    "价税合计": "total",
}
_LINES = {"EInvoice": "EInvoiceData/IssuItemInformation", "eInvoice": "GoodsInfos/GoodsInfo"}
# of a line, in the digitalised and the older form
_OF_LINE: Mapping[str, Sequence[str]] = {
    "name": ("ItemName", "Item"),
    "specification": ("SpecMod", "Specification"),
    "unit": ("MeaUnits", "MeasurementDimension"),
    "quantity": ("Quantity",),
    "price": ("UnPrice", "Price"),
    "amount": ("Amount",),
    "tax_rate": ("TaxRate", "TaxScheme"),
    "tax": ("ComTaxAm", "TaxAmount"),
}


class Unreadable(Exception):
    """The file is no XML or OFD of an e-invoice, or is damaged."""


class TooLarge(Exception):
    """The file unpacks to more than an invoice has."""


class _Tree:
    """Builds a tree of XML without prefixes, and refuses what no invoice has."""

    def __init__(self) -> None:
        self._builder = TreeBuilder()
        self._depth = self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > _MOST_DEPTH or self._count > _MOST_ELEMENTS:
            raise TooLarge("elements")
        self._builder.start(tag.rpartition(" ")[2], attributes)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._builder.end(tag.rpartition(" ")[2])

    def refuse(self, *_: object) -> None:
        """Refuse a document type, in which entities would be declared."""
        raise Unreadable("doctype")

    def parse(self, content: bytes) -> Element:
        """Return the root."""
        parser = expat.ParserCreate(encoding=None, namespace_separator=" ")
        declared = _ENCODING.match(content)
        if declared is not None and declared[1].decode().lower() in _CHINESE:
            parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
            content = content.decode("gb18030").encode()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CharacterDataHandler = self._builder.data
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self.refuse
        parser.Parse(content, True)
        return self._builder.close()


def parse_xml(content: bytes) -> Element:
    """Return the root of an XML file, whose names have no namespaces. Raises `Unreadable` or `TooLarge`."""
    if len(content) > _MOST_XML:
        raise TooLarge("XML")
    try:
        return _Tree().parse(content)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise Unreadable(str(error)) from error


class Archive:
    """The files of an OFD by their names, read within limits. Names are never paths on a disk."""

    def __init__(self, content: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _DAMAGED as error:
            raise Unreadable("zip") from error
        entries = [one for one in self._zip.infolist() if not one.filename.endswith("/")]
        if len(entries) > _MOST_FILES or sum(one.file_size for one in entries) > _MOST_UNPACKED:
            raise TooLarge("entries")
        self._entries = {one.filename: one for one in entries}
        if len(self._entries) < len(entries):  # readers would differ on which of two is meant
            raise Unreadable("duplicate names")
        self._left = _MOST_UNPACKED

    @property
    def names(self) -> Sequence[str]:
        """The names of the files."""
        return [*self._entries]

    def read(self, name: str) -> bytes | None:
        """Return a file, or None if there is none. Raises `TooLarge`, whatever size the directory tells."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        try:
            with self._zip.open(entry) as file:
                content = file.read(min(_MOST_OF_A_FILE, self._left) + 1)
        except _DAMAGED as error:
            raise Unreadable(name) from error
        self._left -= len(content)
        if len(content) > _MOST_OF_A_FILE or self._left < 0:
            raise TooLarge(name)
        return content


def read(pieces: Iterator[bytes], authorities: Sequence[str]) -> bytes:
    """Return what an e-invoice says, as JSON: `values`, `lines`, `faults` and `signature`.

    `authorities` are trusted certificates in PEM. Raises `Unreadable` and `TooLarge`.
    """
    content = b"".join(pieces)
    if content.startswith(b"PK"):
        archive = Archive(content)
        found, lines, sources = _read_archive(archive)
        checked = check_archive(archive.read, parse_xml, authorities)
        if checked.covers is not None and not checked.covers.issuperset(sources):
            checked = Checked("unknown", NOT_COVERED, checked.signer)
    else:
        root = parse_xml(content)
        found, lines = _read_tree(root), _read_lines(root)
        checked = Checked("unknown", UNSUPPORTED if _is_signed(root) else NONE)
    if not found.get("number") and not found.get("total"):
        raise Unreadable("no invoice")
    values, faults = _convert(found)
    told = {"format": "ofd" if content.startswith(b"PK") else "xml", **values}
    signature = {"result": checked.result, "reason": checked.reason, "signer": checked.signer}
    return orjson.dumps({"values": told, "lines": lines, "faults": faults, "signature": signature})


def _is_signed(root: Element) -> bool:
    return any(one.tag in ("SignatureValue", "TaxBureauSignature", "Signature") for one in root.iter())


def _read_archive(archive: Archive) -> tuple[Values, list[dict[str, str | None]], set[str]]:
    """Return what an OFD says of the invoice, its lines, and the files that say so."""
    found: Values = {}
    lines: list[dict[str, str | None]] = []
    sources: set[str] = set()
    main = archive.read("OFD.xml")
    if main is None:
        raise Unreadable("OFD.xml")
    for attached in [one for one in archive.names if _ATTACHED.search(one)][:_MOST_ATTACHED]:
        root = parse_xml(archive.read(attached) or b"")
        if root.tag in _LINES and not found:
            found, lines, sources = _read_tree(root), _read_lines(root), {attached}
    for more, of in (_read_tags(archive), (_read_properties(parse_xml(main)), {"OFD.xml"})):
        _refuse_contradiction(found, more)
        missing = {name: value for name, value in more.items() if not found.get(name)}
        if missing:
            found |= missing
            sources |= of
    return found, lines, sources


def _refuse_contradiction(found: Values, more: Values) -> None:
    """Raise `Unreadable` for a file that shows another number than that of its data."""
    shown, meant = more.get("number", ""), found.get("number", "")
    if _NUMBER.fullmatch(shown) and meant and not shown.endswith(meant):
        raise Unreadable("two numbers")


def _read_tags(archive: Archive) -> tuple[Values, set[str]]:
    """Return what the texts of the pages say that the tags name, and the files with the tags and the texts."""
    name = next((one for one in archive.names if one.rpartition("/")[2] == "CustomTag.xml"), None)
    content = archive.read(name) if name is not None else None
    if name is None or content is None:
        return {}, set()
    texts: dict[str, str] = {}
    pages = [one for one in archive.names if one.endswith("/Content.xml")]
    for page in pages:
        for item in parse_xml(archive.read(page) or b"").iter("TextObject"):
            text = "".join(code.text or "" for code in item.iter("TextCode")).strip()
            texts.setdefault(item.get("ID", ""), text)
    root = parse_xml(content)
    for element in root.iter():
        named = [one.text or "" for one in element if one.tag in ("ObjectRef", "ObjectData")]
        if named:
            element.text = "".join(texts.get(one.strip(), "") for one in named)
    return _read_tree(root), {name, *pages}


def _read_properties(root: Element) -> Values:
    named = ((_PROPERTIES.get(one.get("Name", "")), (one.text or "").strip()) for one in root.iter("CustomData"))
    return {name: value for name, value in named if name is not None and value}


def _read_tree(root: Element) -> Values:
    """Return the texts of an invoice in either form; an `eInvoice` may be below a root of another name."""
    paths = _DIGITALISED if root.find("EInvoiceData") is not None else _OLDER
    return {name: text for name, places in paths.items() if (text := _text_at(root, places))}


def _text_at(element: Element, places: Iterable[str]) -> str:
    found = ((element.findtext(place) or "").strip() for place in places)
    return next((text for text in found if text.strip("*")), "")  # `***` stands for none


def _read_lines(root: Element) -> list[dict[str, str | None]]:
    """Return the lines, whose numbers are texts; none where there are more than `MOST_LINES`."""
    rows = root.findall(_LINES.get(root.tag, _LINES["eInvoice"]))
    if len(rows) > MOST_LINES:
        return []
    return [_read_line(row) for row in rows]


def _read_line(row: Element) -> dict[str, str | None]:
    line: dict[str, str | None] = {}
    for name, places in _OF_LINE.items():
        text: str | None = " ".join(_text_at(row, places).split())[:_MOST_TEXT] or None
        if name == "tax_rate":
            text = _read_rate(text)
        elif name in ("amount", "tax"):
            text = _read_amount(text or "")
        elif name in ("quantity", "price") and not _DECIMAL.fullmatch(text or ""):
            text = None
        line[name] = text
    return line


def _read_rate(text: str | None) -> str | None:
    """Return a rate as a fraction, of `13%` or `0.13`; None where there is none, as for what is exempt."""
    plain, percent = (text or "").removesuffix("%"), (text or "").endswith("%")
    if not _DECIMAL.fullmatch(plain):
        return None
    rate = Decimal(plain) / (100 if percent else 1)
    return f"{rate.normalize():f}" if 0 <= rate <= 1 and rate == round(rate, 4) else None


def _read_amount(text: str) -> str | None:
    """Return an amount with two decimals, or None if it is none."""
    plain = re.sub(r"[¥￥,，\s]", "", text)
    if not _AMOUNT.fullmatch(plain) or Decimal(plain) != round(Decimal(plain), 2):
        return None
    return f"{Decimal(plain):.2f}"


def _read_day(text: str) -> str | None:
    parts = _DAY.match(text)
    try:
        return date(*map(int, parts.groups())).isoformat() if parts is not None else None
    except ValueError:
        return None


def _read_number(text: str) -> str | None:
    return text if _NUMBER.fullmatch(text) else None


def _read_name(text: str) -> str | None:
    return text if len(text) <= _MOST_NAME else None


_READERS: Mapping[str, Callable[[str], str | None]] = {
    **dict.fromkeys(("amount", "tax", "total"), _read_amount),
    **dict.fromkeys(("number", "code"), _read_number),
    "day": _read_day,
}
_REQUIRED = ("number", "day", "amount", "total")


def _convert(found: Values) -> tuple[dict[str, str | None], list[Fault]]:
    """Return the fields of an invoice, and what is wrong with them: the name of a field, and a rule."""
    values: dict[str, str | None] = dict.fromkeys((*_OLDER, "kind"))
    values |= {name: _READERS.get(name, _read_name)(" ".join(text.split())) for name, text in found.items()}
    faults = [(name, "invalid") for name, value in values.items() if value is None and name in found]
    if not faults and values["amount"] and values["tax"] and not values["total"]:
        values["total"] = f"{Decimal(values['amount']) + Decimal(values['tax']):.2f}"
    if not faults and values["tax"] is None:  # exempt
        values["tax"] = "0.00"
    faulty = {name for name, _ in faults}
    faults += [(name, "required") for name in _REQUIRED if values[name] is None and name not in faulty]
    sums = [Decimal(values[name] or 0) for name in ("amount", "tax", "total")]
    if not faults and sums[0] + sums[1] != sums[2]:
        faults.append(("total", "sum"))
    return values, faults
