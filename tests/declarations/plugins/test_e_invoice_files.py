"""What files of e-invoices say, whether their signatures hold, and what files of attackers come to."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from plugins.finance.e_invoice_reading import TooLarge, Unreadable, read
from tests.support.e_invoice_files import SELLER, Signer, attached, digitalised, drawn, older, pack

NUMBER = "24312000000000000001"
DATA = "Doc_0/Attachs/original_invoice.xml"
SEAL = "Doc_0/Signs/Sign_0/SignedValue.dat"
LISTED = "Doc_0/Signs/Sign_0/Signature.xml"
SIGNER = Signer()
SEALED = SIGNER.seal(attached(digitalised(NUMBER)))


def say(content: bytes, *authorities: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(read(iter([content]), authorities))
    return said


def check(files: dict[str, bytes], *authorities: str) -> tuple[str, str]:
    signature = say(pack(files), *authorities)["signature"]
    return signature["result"], signature["reason"]


@pytest.mark.parametrize(
    "content", [digitalised(NUMBER), pack(SEALED), digitalised(NUMBER).replace(b"UTF-8", b"utf-8")]
)
def test_a_digitalised_invoice_is_read_from_xml_and_from_the_data_attached_to_an_ofd(content: bytes) -> None:
    said = say(content)
    assert said["faults"] == []
    values = said["values"]
    assert (values["number"], values["code"], values["day"]) == (NUMBER, None, "2026-11-05")
    assert (values["seller_name"], values["seller_tax_number"]) == SELLER
    assert (values["amount"], values["tax"], values["total"]) == ("100.00", "13.00", "113.00")
    assert [line["amount"] for line in said["lines"]] == ["90.00", "-10.00", "20.00"]
    assert said["lines"][0]["tax_rate"] == "0.13"


def test_an_invoice_of_an_older_kind_has_a_code_and_chinese_dates() -> None:
    values = say(pack(attached(older("06737263", "144032200011"))))["values"]
    assert (values["code"], values["number"], values["day"]) == ("144032200011", "06737263", "2026-11-05")
    assert (values["amount"], values["tax"], values["total"]) == ("300.00", "18.00", "318.00")


def test_without_attached_data_the_texts_that_the_tags_name_and_the_properties_are_read() -> None:
    values = say(pack(drawn(NUMBER)))["values"]
    assert (values["number"], values["day"], values["seller_name"]) == (NUMBER, "2026-11-05", SELLER[0])
    assert (values["amount"], values["tax"], values["total"]) == ("1300.00", "0.00", "1300.00")


def test_chinese_encodings_are_read_and_others_than_declared_are_refused() -> None:
    text = digitalised(NUMBER).decode()
    assert say(text.replace("UTF-8", "GBK").encode("gbk"))["values"]["seller_name"] == SELLER[0]
    for wrong in (text.encode("gbk"), text.replace("UTF-8", "GBK").encode(), text.replace("UTF-8", "UTF-7").encode()):
        with pytest.raises(Unreadable):
            say(wrong)


def test_a_signature_is_valid_only_if_its_certificate_is_trusted() -> None:
    assert check(attached(digitalised(NUMBER))) == ("unknown", "none")
    assert check(SEALED) == ("unknown", "untrusted")
    assert check(SEALED, Signer().pem) == ("unknown", "untrusted")
    assert check(SEALED, "no certificate", SIGNER.pem) == ("valid", "trusted")
    assert check(SIGNER.seal(attached(digitalised(NUMBER)), first_form=True), SIGNER.pem) == ("valid", "trusted")
    issued = Signer("示例印章", SIGNER)
    assert check(issued.seal(attached(digitalised(NUMBER))), SIGNER.pem) == ("valid", "trusted")
    assert check(Signer("示例印章", Signer()).seal(attached(digitalised(NUMBER))), SIGNER.pem) == (
        "unknown",
        "untrusted",
    )
    assert say(digitalised(NUMBER, end="<TaxBureauSignature/>"))["signature"]["reason"] == "unsupported"


def test_an_altered_file_is_found_whichever_link_to_the_signature_is_mended() -> None:
    other = digitalised(NUMBER, amount="900.00", total="913.00")
    altered = {**SEALED, DATA: other}
    assert check(altered, SIGNER.pem) == ("invalid", "altered")
    stranger = Signer().seal(attached(other))
    assert check({**stranger, SEAL: SEALED[SEAL]}, SIGNER.pem) == ("invalid", "altered")
    assert check({**SEALED, LISTED: SEALED[LISTED] + b" "}, SIGNER.pem) == ("invalid", "altered")
    forged = stranger[SEAL].replace(stranger[SEAL][-20:], bytes(20))
    assert check({**stranger, SEAL: forged}) == ("invalid", "forged")
    assert check(stranger, SIGNER.pem) == ("unknown", "untrusted")
    assert check({name: content for name, content in SEALED.items() if name != "Doc_0/Document.xml"})[0] == "invalid"


def test_a_signature_that_leaves_out_the_data_proves_nothing() -> None:
    assert check(SIGNER.seal(attached(digitalised(NUMBER)), leaves_out=DATA), SIGNER.pem) == ("unknown", "not_covered")


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        (["total", "sum"], {"total": "999.00"}),
        (["amount", "invalid"], {"amount": "9" * 60}),
        (["tax", "invalid"], {"tax": "1e5"}),
        (["total", "required"], {"total": "", "tax": ""}),
    ],
)
def test_amounts_that_are_none_or_do_not_add_up_are_named(fault: list[str], change: dict[str, str]) -> None:
    assert fault in say(digitalised(NUMBER, **change))["faults"]


def _bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("OFD.xml", bytes(60 << 20))
    return buffer.getvalue()


def _lying() -> bytes:
    """A ZIP that tells a size of one byte for a file with more."""
    content = bytearray(_bomb())
    at = content.rfind(b"PK\x01\x02")
    content[at + 24 : at + 28] = (1).to_bytes(4, "little")
    return bytes(content)


ENTITIES = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">%s]><EInvoice>&b;</EInvoice>'


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (ENTITIES % b"".join(b'<!ENTITY b%d "%s">' % (n, b"&b;" * 10) for n in range(10)), Unreadable),
        (ENTITIES % b'<!ENTITY f SYSTEM "file:///etc/passwd">', Unreadable),
        (b"<a>" * 10_000, TooLarge),
        (b"<a>" + b"<b/>" * 100_001 + b"</a>", TooLarge),
        (_bomb(), TooLarge),
        (_lying(), Unreadable),
        (pack({"OFD.xml": b"<OFD/>", **{f"{n}": b"" for n in range(1_001)}}), TooLarge),
        (pack({"../../OFD.xml": b"<OFD/>"}), Unreadable),
        (pack({"OFD.xml": b"<OFD><CustomData Name='\xe5\x8f\x91'>1</CustomData></OFD>"}), Unreadable),
        (pack({**drawn(NUMBER), **attached(digitalised("24312000000000000002"))}), Unreadable),
        (b"PK\x03\x04", Unreadable),
        (b"%PDF-1.7", Unreadable),
        (b"", Unreadable),
        (b"<html/>", Unreadable),
    ],
)
def test_what_is_no_invoice_or_a_bomb_is_refused(content: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        say(content)
