"""E-invoices: what is read, the draft that it becomes, and what is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from plugins.testing import Client, People, expect, serving, unique
from tests.api.files.samples import upload
from tests.api.finance.books import AT
from tests.support.e_invoice_files import BUYER, SELLER, Signer, attached, digitalised, fresh_number, older, pack

pytestmark = pytest.mark.gen_test(timeout=30)
READ, DRAFT = f"{AT}/invoices/read-document", f"{AT}/invoices/from-document"
CONFIGS = "/api/v1/system/configs"
MARKS = ("e_invoice_signature", "made_out_to_us")
FOR_CLAIM = f"{AT}/expense-claims/read-document"


async def key_of(client: Client, content: bytes, name: str = "invoice.xml") -> str:
    return str((await upload(client, content, name))["objectKey"])


async def test_an_e_invoice_becomes_a_draft_of_its_supplier_with_lines_and_its_file(admin: Client) -> None:
    number, tax_number, name = fresh_number(), unique("9131")[:18].upper(), unique("供应商")
    made = {"code": unique("SUP"), "name": name, "vat_number": tax_number}
    supplier = expect(await admin.post("/api/v1/inventory/suppliers", made))
    body = {"object_key": await key_of(admin, digitalised(number, seller=(f"{name}有限公司", tax_number)))}
    said = expect(await admin.post(READ, body))
    assert (said["receipt_number"], said["supplier_id"], said["duplicate_of"]) == (number, supplier["id"], None)
    assert (said["signature"], said["format"], said["kind"]) == ("unknown", "xml", "增值税专用发票")
    draft = expect(await admin.post(DRAFT, {**body, "remark": "十一月"}))
    assert (draft["status"], draft["direction"], draft["number"], draft["day"]) == ("draft", "in", number, "2026-11-05")
    assert (draft["counterparty"], draft["vat_number"], draft["remark"]) == (name, tax_number, "十一月")
    assert (draft["amount"], draft["tax"], draft["total"]) == ("100.00", "13.00", "113.00")
    assert [(line["net"], line["discount_amount"]) for line in draft["lines"]] == [("80.00", "10.00"), ("20.00", None)]
    files = expect(await admin.get(f"/api/attachments?biz_type=INVOICE&resource_id={draft['id']}"))["items"]
    assert [file["object_key"] for file in files] == [body["object_key"]]
    known = {"biz_type": "INVOICE", "id": draft["id"], "number": number}
    assert expect(await admin.post(READ, body))["duplicate_of"] == known
    assert expect(await admin.post(DRAFT, body), 40900)["field"] == "number"


async def supplier(admin: Client, **values: Any) -> str:
    code = unique("SUP")
    return str(expect(await admin.post("/api/v1/inventory/suppliers", {"code": code, "name": code, **values}))["id"])


async def test_an_e_invoice_is_entered_once_even_for_two_suppliers_at_once(admin: Client) -> None:
    key = await key_of(admin, digitalised(fresh_number()))
    bodies = [{"object_key": key, "supplier_id": await supplier(admin)} for _ in range(3)]
    replies = await asyncio.gather(*(admin.post(DRAFT, body) for body in bodies[1:]))
    assert sorted(reply.code for reply in replies) == [0, 40900]
    assert expect(await admin.post(DRAFT, bodies[0]), 40900)["field"] == "number"


async def test_an_e_invoice_is_in_yuan_whatever_its_supplier_is_paid_in(admin: Client) -> None:
    body = {"object_key": await key_of(admin, digitalised(fresh_number()))}
    draft = expect(await admin.post(DRAFT, {**body, "supplier_id": await supplier(admin, currency="MOP")}))
    assert (draft["currency"], draft["total"]) == (None, "113.00")


async def test_sums_that_our_rules_do_not_reach_from_the_lines_stay_those_of_the_paper(admin: Client) -> None:
    content = digitalised(fresh_number(), amount="100.01", tax="13.02", total="113.03")
    draft = expect(await admin.post(DRAFT, {"object_key": await key_of(admin, content)}))
    assert (draft["amount"], draft["tax"], draft["lines"]) == ("100.01", "13.02", None)
    assert draft["counterparty"] == SELLER[0]


async def test_a_claimant_enters_receipts_of_each_kind_without_seeing_invoices(people: People) -> None:
    person, code = await people.person(["finance:expense-claim:create"]), "144032200011"
    numbers = [fresh_number(8), fresh_number()]
    contents = {"a.ofd": pack(attached(older(numbers[0], code))), "b.xml": digitalised(numbers[1])}
    keys = [await key_of(person, content, name) for name, content in contents.items()]
    said = expect(await person.post(FOR_CLAIM, {"object_key": keys[0]}))
    assert (said["receipt_number"], said["total"], said["day"]) == (code + numbers[0], "318.00", "2026-11-05")
    body = {"object_keys": keys, "title": "客户拜访", "category": "travel"}
    claim = expect(await person.post(f"{AT}/expense-claims/from-documents", body))
    assert (claim["status"], claim["amount"]) == ("draft", "431.00")
    assert [line["receipt_number"] for line in claim["lines"]] == [code + numbers[0], numbers[1]]
    assert claim["lines"][0]["description"] == f"{SELLER[0]} 餐费"
    again = expect(await person.post(FOR_CLAIM, {"object_key": keys[0]}))
    assert again["duplicate_of"] == {"biz_type": "EXPENSE", "id": claim["id"], "number": claim["number"]}
    expect(await person.post(f"{AT}/expense-claims/from-documents", body), 40900)
    expect(await person.post(READ, {"object_key": keys[0]}), 40300)


async def test_a_company_abroad_claims_what_an_e_invoice_is_worth_to_it(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path) as running:
        admin = await Client(running.url).log_in("admin")
        expect(await admin.patch(CONFIGS, {"values": {"finance_currency": "USD"}}))
        body = {
            "object_keys": [await key_of(admin, digitalised(fresh_number()))],
            "title": "trip",
            "category": "travel",
        }
        assert (await admin.post(f"{AT}/expense-claims/from-documents", body)).fields == {"object_keys[0]"}
        expect(await admin.post(f"{AT}/exchange-rates", {"currency": "CNY", "day": "2026-11-01", "rate": "0.14"}))
        assert expect(await admin.post(f"{AT}/expense-claims/from-documents", body))["amount"] == "15.82"


async def test_a_signature_is_valid_once_its_certificate_is_trusted_and_an_altered_file_becomes_no_draft(
    admin: Client,
) -> None:
    number, signer, setting = fresh_number(), Signer(), "finance_e_invoice_authorities"
    sealed = signer.seal(attached(digitalised(number)))
    whole = {"object_key": await key_of(admin, pack(sealed), "a.ofd")}
    said = expect(await admin.post(READ, whole, headers={"Accept-Language": "en"}))
    assert (said["signature"], said["signer"]) == ("unknown", "示例税务局")
    assert said["signature_reason"].startswith("The file is as it was signed, but who signed it is not known")
    expect(await admin.patch(CONFIGS, {"values": {setting: ["a certificate"]}}), 40001)
    expect(await admin.patch(CONFIGS, {"values": {setting: [signer.pem]}}))
    assert expect(await admin.post(READ, whole))["signature"] == "valid"
    expect(await admin.patch(CONFIGS, {"values": {setting: []}}))
    altered = {**sealed, "Doc_0/Attachs/original_invoice.xml": digitalised(number, amount="900.00", total="913.00")}
    body = {"object_key": await key_of(admin, pack(altered), "a.ofd")}
    assert expect(await admin.post(READ, body))["signature"] == "invalid"
    assert (await admin.post(DRAFT, body)).fields == {"object_key"}
    claim = {"object_keys": [body["object_key"]], "title": "trip", "category": "travel"}
    assert (await admin.post(f"{AT}/expense-claims/from-documents", claim)).fields == {"object_keys[0]"}


async def test_a_draft_keeps_whether_its_e_invoice_is_signed_and_made_out_to_the_company(admin: Client) -> None:
    signer = Signer()
    trusted = {"finance_e_invoice_authorities": [signer.pem]}
    sealed = [pack(signer.seal(attached(digitalised(fresh_number())))) for _ in range(2)]
    number = BUYER[1].lower()
    try:
        for values, name, content, kept in (
            ({}, "a.xml", digitalised(fresh_number()), ["absent", "unknown"]),
            ({"finance_tax_number": f" {number[:6]}-{number[6:]} "}, "a.ofd", sealed[0], ["unchecked", "yes"]),
            ({"finance_tax_number": SELLER[1], **trusted}, "a.ofd", sealed[1], ["valid", "no"]),
        ):
            expect(await admin.patch(CONFIGS, {"values": values}))
            body = {"object_key": await key_of(admin, content, name)}
            said, draft = expect(await admin.post(READ, body)), expect(await admin.post(DRAFT, body))
            assert [said["made_out_to_us"], *(draft[one] for one in MARKS)] == [kept[1], *kept]
            query = "&".join(f"{one}={draft[one]}" for one in MARKS)
            found = expect(await admin.get(f"{AT}/invoices?{query}&number={draft['number']}"))["items"]
            assert [one["id"] for one in found] == [draft["id"]]
        change = {"made_out_to_us": "yes", "version": draft["version"]}
        assert (await admin.patch(f"{AT}/invoices/{draft['id']}", change)).fields == {"made_out_to_us"}
    finally:
        expect(await admin.patch(CONFIGS, {"values": {"finance_tax_number": "", "finance_e_invoice_authorities": []}}))


async def test_a_claim_keeps_the_worst_of_its_e_invoices(admin: Client) -> None:
    signer = Signer()
    contents = {"a.ofd": pack(signer.seal(attached(digitalised(fresh_number())))), "b.xml": digitalised(fresh_number())}
    keys = [await key_of(admin, content, name) for name, content in contents.items()]
    try:
        expect(await admin.patch(CONFIGS, {"values": {"finance_tax_number": BUYER[1]}}))
        body = {"object_keys": keys, "title": "trip", "category": "travel"}
        claim = expect(await admin.post(f"{AT}/expense-claims/from-documents", body))
    finally:
        expect(await admin.patch(CONFIGS, {"values": {"finance_tax_number": ""}}))
    assert [claim[one] for one in MARKS] == ["absent", "yes"]


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><EInvoice>&b;</EInvoice>', "a.xml", 41500),
        (b'<?xml version="1.0"?>' + b"<a>" * 10_000, "a.xml", 41300),
        (pack({"OFD.xml": bytes(60 << 20)}), "a.ofd", 41300),
        (b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n", "a.pdf", 41500),
        (digitalised(fresh_number(), total="999.00"), "a.xml", 40001),
        (digitalised(fresh_number(), amount="-100.00", tax="-13.00", total="-113.00", lines=""), "a.xml", 40001),
    ],
    ids=["entities", "nested", "bomb", "pdf", "sums", "credit note"],
)
async def test_hostile_and_other_files_are_refused_and_leave_nothing(
    content: bytes, name: str, code: int, admin: Client
) -> None:
    body = {"object_key": await key_of(admin, content, name)}
    reply = await admin.post(DRAFT, body)
    expect(reply, code)
    assert code != 40001 or reply.fields == {"total"}


async def test_somebody_elses_private_file_is_not_read(admin: Client, people: People) -> None:
    person = await people.person(["finance:invoice:create"])
    body: dict[str, Any] = {"object_key": await key_of(admin, digitalised(fresh_number()))}
    for path in (READ, DRAFT):
        expect(await person.post(path, body), 40400)
