"""Chinese e-invoices from XML and OFD: what a file says is read and checked, and becomes a draft with the file attached.

A worker process reads the file. A number that is an invoice or a claimed receipt already is told when it is read, and
refused when the draft is made. A signature is `valid` only if its certificate is one of those that administrators trust.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from plugins.api import (
    NOT_FOUND,
    ApiError,
    Message,
    Option,
    Record,
    Refusal,
    Request,
    Route,
    array,
    choice,
    day,
    link,
    money,
    obj,
    object_id,
    quantity,
    route,
    shape,
    store_money,
    text,
)
from plugins.api.business import SERVICE, Suppliers, complete_currency, in_base
from plugins.api.errors import DUPLICATE, MEDIA_TYPE, TOO_LARGE, FieldError, ValidationFailed
from plugins.api.ports import Attachments, OptionValues
from plugins.api.values import store_quantity
from plugins.api.workers import Lane, TooCostly, WorkFailed
from plugins.finance import claims, invoices
from plugins.finance.claim_records import CLAIM_LINE, EXPENSE_CLAIMS
from plugins.finance.e_invoice_marks import MADE_OUT_TO_US, TAX_NUMBER, is_made_out_to_us, mark
from plugins.finance.e_invoice_reading import MOST_LINES
from plugins.finance.messages import (
    E_INVOICE_TOO_LARGE,
    E_INVOICE_UNREADABLE,
    FILE_UNSEEN,
    INVALID_SIGNATURE,
    NOT_ABOVE_ZERO,
    SIGNATURES,
)
from plugins.finance.receipts import find_claim, find_invoice, number_key, refuse_invoiced
from plugins.finance.record_types import ExpenseClaim, Invoice
from plugins.finance.records import CATEGORY, INVOICES, REMARK, SUPPLIER

MOST_BYTES = 10 << 20
INVOICE, EXPENSE = "INVOICE", "EXPENSE"
_CURRENCY = "CNY"  # of every Chinese e-invoice, whatever its supplier is paid in

AUTHORITIES = Option(
    "finance_e_invoice_authorities",
    array(
        text(
            max_length=8_000,
            pattern=r"^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$",
            nullable=False,
        ),
        max_items=20,
        default=[],
        nullable=False,
    ),
    Message(
        "受信任的电子发票签章证书（PEM）：由其签发或即为其本身的签章视为有效",
        "Certificates (PEM) that are trusted to sign e-invoices, or to issue the certificates of those who do",
    ),
    super_only=True,
)
OPTIONS = (AUTHORITIES, TAX_NUMBER)

_PARTIES = {
    "seller_name": ("销售方名称", "Seller"),
    "seller_tax_number": ("销售方税号", "Seller's tax number"),
    "buyer_name": ("购买方名称", "Buyer"),
    "buyer_tax_number": ("购买方税号", "Buyer's tax number"),
}
_AS_PRINTED = "As it is on the invoice."
_LINE = obj(
    "EInvoiceLine",
    {
        "name": text(label=("项目名称", "Item"), max_length=200),
        "specification": text(label=("规格型号", "Specification"), max_length=200),
        "unit": text(label=("单位", "Unit"), max_length=200),
        "quantity": text(label=("数量", "Quantity"), max_length=40, description=_AS_PRINTED),
        "price": text(label=("单价", "Price"), max_length=40, description=f"{_AS_PRINTED} Without tax."),
        "amount": money(
            label=("金额", "Amount"), description="Without tax; below zero: a discount of the line before."
        ),
        "tax_rate": quantity(label=("税率", "Tax rate"), description="As a fraction; null: exempt, or not told."),
        "tax": money(label=("税额", "Tax")),
    },
)
E_INVOICE = shape(
    "EInvoice",
    format=choice("xml", "ofd", label=("文件格式", "Format"), nullable=False),
    kind=text(
        label=("发票种类", "Kind"), max_length=100, description="As the issuer calls it, such as 增值税专用发票."
    ),
    code=text(label=("发票代码", "Code"), max_length=32, description="Of invoices of the older kinds."),
    number=text(label=("发票号码", "Number"), max_length=32, nullable=False, description=_AS_PRINTED),
    receipt_number=text(
        label=("票据号码", "Receipt number"),
        max_length=64,
        nullable=False,
        description="What identifies it: the number, after the code if there is one. Invoices and claims take it.",
        example="24312000000000000001",
    ),
    day=day(label=("开票日期", "Date"), nullable=False),
    **{name: text(label=label, max_length=100) for name, label in _PARTIES.items()},
    amount=money(label=("不含税金额", "Net amount"), nullable=False),
    tax=money(label=("税额", "Tax"), nullable=False),
    total=money(label=("价税合计", "Total"), nullable=False, description="Below zero on a credit note."),
    lines=array(_LINE, label=("发票明细", "Lines"), max_items=MOST_LINES, nullable=False),
    signature=choice(
        "valid",
        "invalid",
        "unknown",
        label=("签章校验", "Signature"),
        nullable=False,
        description="`valid`: the file is as it was signed, and the certificate is trusted; `invalid`: it is not as it was "
        "signed; `unknown`: not signed, or not all of that could be checked, as `signature_reason` says.",
    ),
    signature_reason=text(label=("校验说明", "Reason"), max_length=300, nullable=False),
    signer=text(label=("签章人", "Signer"), max_length=200, description="Whom the certificate names, trusted or not."),
    made_out_to_us=MADE_OUT_TO_US.but(nullable=False),
    supplier_id=SUPPLIER.but(description="The one with the seller's tax number, or else of its name."),
    duplicate_of=obj(
        "EInvoiceDuplicate",
        {
            "biz_type": choice(INVOICE, EXPENSE, nullable=False),
            "id": object_id(description="Null: outside of the caller's data scope."),
            "number": text(max_length=64, nullable=False, description="Of that document."),
        },
        label=("已登记于", "Already entered as"),
        description="The supplier's invoice or the expense claim that has its number already.",
    ),
)
_FILE = link(
    label=("电子发票文件", "E-invoice file"),
    web=False,
    own=False,
    key=True,
    max_length=100,
    required=True,
    description="The key of an uploaded file, XML or OFD.",
    example="20261105-0123456789abcdef0123456789abcdef.ofd",
)
READ_BODY = shape("EInvoiceFile", object_key=_FILE)
DRAFT_BODY = shape(
    "EInvoiceDraft",
    object_key=_FILE,
    supplier_id=SUPPLIER.but(description="Unless given, the one with the seller's tax number, or else of its name."),
    category=CATEGORY,
    remark=REMARK,
)
_CLAIM_LINE = CLAIM_LINE.fields or {}
CLAIM_BODY = shape(
    "EInvoiceClaim",
    object_keys=array(
        _FILE, label=("电子发票文件", "E-invoice files"), min_items=1, max_items=20, unique=True, required=True
    ),
    title=EXPENSE_CLAIMS.fields["title"],
    category=_CLAIM_LINE["category"].but(description="Of each line."),
    remark=REMARK,
)


@dataclass(frozen=True)
class EInvoices:
    """Reads e-invoices in worker processes."""

    lane: Lane

    async def read(self, req: Request, key: str, at: str = "") -> Record:
        """Return what the file of this key says. Raises 40400, 41300, 41500, and 40001 that names what is wrong `at` it."""
        content = await req.part(Attachments).read(req, key, MOST_BYTES)
        if content is None:
            raise ApiError(NOT_FOUND)
        options = req.service.parts.get(OptionValues)
        trusted = await options.value(AUTHORITIES.key) if options is not None else []
        try:
            said = await self.lane.run("plugins.finance.e_invoice_reading:read", content, trusted, request=req)
        except TooCostly as error:
            raise ApiError(TOO_LARGE, E_INVOICE_TOO_LARGE) from error
        except WorkFailed as failure:
            raise _REFUSED[failure.kind]() if failure.kind in _REFUSED else failure from failure
        found: Record = orjson.loads(said)
        if found["faults"]:
            raise ValidationFailed([FieldError(f"{at}{name}", rule) for name, rule in found["faults"]])
        return found

    async def read_sound(self, req: Request, key: str, field: str, at: str = "") -> Record:
        """Return what a file says that can be entered.

        Raises as `read`, and 40001 for `field` if it was altered after it was signed, and for a credit note.
        """
        found = await self.read(req, key, at)
        if found["signature"]["result"] == "invalid":
            raise ValidationFailed([FieldError(field, "invalid")], INVALID_SIGNATURE)
        if Decimal(found["values"]["total"]) <= 0:
            raise ValidationFailed([FieldError(f"{at}total", "minimum")], NOT_ABOVE_ZERO)
        return found


_REFUSED = {
    "Unreadable": lambda: ApiError(MEDIA_TYPE, E_INVOICE_UNREADABLE),
    "TooLarge": lambda: ApiError(TOO_LARGE, E_INVOICE_TOO_LARGE),
}


async def read_for_invoice(req: Request) -> Record:
    """Return what an e-invoice says, its supplier, and whether it is entered already. Raises as `EInvoices.read`."""
    described = await read_for_claim(req)
    described["supplier_id"] = await _find_supplier(req, described)
    return described


async def read_for_claim(req: Request) -> Record:
    """Return what an e-invoice says, and whether it is entered already. Raises as `EInvoices.read`."""
    found = await req.part(EInvoices).read(req, req.body["object_key"])
    values, signature = found["values"], found["signature"]
    receipt = _identify(values)
    return {
        **values,
        **{name: store_money(Decimal(values[name])) for name in ("amount", "tax", "total")},
        "receipt_number": receipt,
        "lines": [_describe_line(line) for line in found["lines"]],
        "signature": signature["result"],
        "signature_reason": SIGNATURES[signature["reason"]].text(req.language),
        "signer": signature["signer"],
        "made_out_to_us": await is_made_out_to_us(req, values),
        "supplier_id": None,
        "duplicate_of": await _find_duplicate(req, receipt),
    }


async def create_draft(req: Request) -> Invoice:
    """Make a draft of an e-invoice, with its file attached.

    Raises as `EInvoices.read_sound`, and 40900 for a number that is entered already.
    """
    body: Record = req.body
    found = await req.part(EInvoices).read_sound(req, body["object_key"], "object_key")
    values = found["values"]
    supplier_id = body.get("supplier_id") or await _find_supplier(req, values)
    given = {
        "direction": "in",
        "number": _identify(values),
        "vat_number": values["seller_tax_number"],
        "currency": _CURRENCY,
        "supplier_id": str(supplier_id) if supplier_id is not None else None,
        **({} if supplier_id is not None else {"counterparty": values["seller_name"]}),
        **{name: values[name] for name in ("day", "amount", "tax")},
        **{name: body.get(name) for name in ("category", "remark")},
    }

    kept = await mark(req, [found])

    async def work() -> Invoice:
        # its number is its own in the whole country, so another supplier does not make it another invoice
        await refuse_invoiced(req, {number_key(given["number"]): "number"})
        invoice = await _enter(req, given, _price_lines(found["lines"]), kept)
        await req.part(Attachments).attach(req, body["object_key"], INVOICE, str(invoice["id"]))
        return invoice

    return await req.transaction(work)


async def _enter(req: Request, given: Record, lines: Sequence[Record], kept: Record) -> Invoice:
    """Make the draft with these lines, or only with the sums if lines priced and taxed here come to something else."""
    if lines:
        try:
            return await _enter(req, {**given, "lines": lines}, (), kept)
        except ValidationFailed as failure:
            if not all(one.field.startswith(("lines", "amount", "tax")) for one in failure.errors):
                raise
    _replace_body(req, invoices.ROUTES, "POST /api/v1/finance/invoices", given, kept)
    return await invoices.create(req)


async def create_claim(req: Request) -> ExpenseClaim:
    """Make a draft of an expense claim with a line for each e-invoice, and their files attached.

    Raises as `EInvoices.read_sound`, and 40900 for a receipt that is entered already.
    """
    body: Record = req.body
    reader, lines, read = req.part(EInvoices), list[Record](), list[Record]()
    for place, key in enumerate(body["object_keys"]):
        field = f"object_keys[{place}]"
        found = await reader.read_sound(req, key, field, f"{field}.")
        read.append(found)
        values, names = found["values"], [line["name"] for line in found["lines"][:1]]
        about = " ".join(part for part in (values["seller_name"], *names) if part)
        paid_in = await complete_currency(req, {"currency": _CURRENCY}, values["day"], field)
        worth = f"{in_base(Decimal(values['total']), paid_in):.2f}"  # claims are in the company's own currency
        line = {"day": values["day"], "amount": worth, "receipt_number": _identify(values)}
        lines.append({**line, "category": body["category"], "description": about or None})
    given = {"lines": lines, **{name: body.get(name) for name in ("title", "remark")}}
    kept = await mark(req, read)

    async def work() -> ExpenseClaim:
        _replace_body(req, claims.ROUTES, "POST /api/v1/finance/expense-claims", given, kept)
        claim = await claims.create(req)
        for key in body["object_keys"]:
            await req.part(Attachments).attach(req, key, EXPENSE, str(claim["id"]))
        return claim

    return await req.transaction(work)


def _replace_body(req: Request, routes: Sequence[Route], name: str, given: Record, kept: Record) -> None:
    """Make `given` the body of the request, as the route of this name checks it, with what is `kept`. Raises 40001."""
    check = next(one for one in routes if one.name == name).check_body
    if check is None:
        raise RuntimeError(f"{name} takes no body")
    req.body = {**req.checked(check, given), **kept}


def _identify(values: Mapping[str, Any]) -> str:
    return f"{values['code'] or ''}{values['number']}"


async def _find_supplier(req: Request, values: Mapping[str, Any]) -> Any:
    return await req.part(Suppliers).find_supplier(req, values["seller_tax_number"], values["seller_name"])


async def _find_duplicate(req: Request, receipt: str) -> Record | None:
    key = number_key(receipt)
    if (invoice := await find_invoice(req, key)) is not None:
        seen = await req.store(INVOICES).find_one({"_id": invoice["id"]}) is not None
        return {"biz_type": INVOICE, "id": invoice["id"] if seen else None, "number": invoice["number"]}
    if (claim := await find_claim(req, key)) is not None:
        own = claim["creator_id"] == req.actor.user_id
        return {"biz_type": EXPENSE, "id": claim["id"] if own else None, "number": claim["number"]}
    return None


def _describe_line(line: Mapping[str, str | None]) -> Record:
    amounts = {name: store_money(Decimal(value)) if (value := line[name]) else None for name in ("amount", "tax")}
    rate = line["tax_rate"]
    return {**line, **amounts, "tax_rate": store_quantity(Decimal(rate)) if rate is not None else None}


def _price_lines(lines: Sequence[Mapping[str, str | None]]) -> list[Record]:
    """Return the lines of a draft; a discount, which has a line of its own on paper, is taken off the line before it.

    None where a line has no amount or rate.
    """
    made: list[Record] = []
    for line in lines:
        amount, rate = Decimal(line["amount"] or 0), line["tax_rate"]
        if not amount or rate is None or (amount < 0 and not made):
            return []
        if amount < 0:
            made[-1]["discount_amount"] = f"{Decimal(made[-1].get('discount_amount', 0)) - amount:.2f}"
            continue
        units, price = Decimal(line["quantity"] or 0), round(Decimal(line["price"] or 0), 6)
        if units != round(units, 4) or round(units * price, 2) != amount or units <= 0:
            units, price = Decimal(1), amount  # the price on paper is rounded
        made.append(
            {
                "kind": SERVICE,
                "description": " ".join(part for part in (line["name"], line["specification"]) if part) or None,
                "unit": line["unit"][:32] if line["unit"] else None,
                "quantity": f"{units:f}",
                "price": f"{price:f}",
                "tax_rate": rate,
            }
        )
    return made


_REFUSALS = (Refusal(NOT_FOUND, hint=FILE_UNSEEN),)
_ERRORS = (MEDIA_TYPE, TOO_LARGE)
_TITLE = ("读取电子发票", "Read an e-invoice")
ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/finance/invoices/read-document",
        read_for_invoice,
        summary="Read an e-invoice of a supplier",
        title=_TITLE,
        access="finance:invoice:create",
        body=READ_BODY,
        returns=E_INVOICE,
        refusals=_REFUSALS,
        errors=_ERRORS,
    ),
    route(
        "POST /api/v1/finance/expense-claims/read-document",
        read_for_claim,
        summary="Read an e-invoice for an expense claim",
        title=_TITLE,
        access="finance:expense-claim:create",
        body=READ_BODY,
        returns=E_INVOICE,
        refusals=_REFUSALS,
        errors=_ERRORS,
    ),
    route(
        "POST /api/v1/finance/invoices/from-document",
        create_draft,
        summary="Create an invoice from an e-invoice",
        title=("从电子发票新增", "New from an e-invoice"),
        access="finance:invoice:create",
        body=DRAFT_BODY,
        record=INVOICES,
        refusals=_REFUSALS,
        errors=(*_ERRORS, DUPLICATE),
    ),
    route(
        "POST /api/v1/finance/expense-claims/from-documents",
        create_claim,
        summary="Create an expense claim from e-invoices",
        title=("从电子发票新增", "New from e-invoices"),
        access="finance:expense-claim:create",
        body=CLAIM_BODY,
        record=EXPENSE_CLAIMS,
        refusals=_REFUSALS,
        errors=(*_ERRORS, DUPLICATE),
    ),
)
