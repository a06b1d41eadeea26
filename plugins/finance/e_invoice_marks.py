"""What drafts keep of the e-invoices that they are made of: whether a signature is valid, and whom the paper is made out to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plugins.api import Field, Message, Option, Record, Request, choice, text
from plugins.api.ports import OptionValues
from plugins.finance.e_invoice_signatures import NONE

TAX_NUMBER = Option(
    "finance_tax_number",
    text(max_length=32, default="", nullable=False),
    Message(
        "本公司税号：打印在单据抬头，并与收到的电子发票的购买方税号核对；为空则不打印、不核对",
        "The company's own tax number: on printed papers, and compared with the buyer's on e-invoices; without it neither is done",
    ),
    on_papers=Message("税号", "Tax number"),
)
# of several files the first that is found is kept
_SIGNATURES, _BUYERS = ("absent", "unchecked", "valid"), ("no", "unknown", "yes")
MADE_OUT_TO_US = choice(
    *_BUYERS,
    label=("抬头为本公司", "Made out to this company"),
    description="Whether the buyer's tax number is that of the setting `finance_tax_number`; `unknown`: that is not set.",
)
_WORST = " Of the file that it was made of, whatever was changed since, and of several the worst; null: made of none."
KEPT: Mapping[str, Field] = {
    "e_invoice_signature": choice(
        *_SIGNATURES,
        label=("电子发票签章", "Signature of the e-invoice"),
        read_only=True,
        filter=True,
        description=f"`absent`: the file is not signed; `unchecked`: not all of it could be checked.{_WORST}",
    ),
    "made_out_to_us": MADE_OUT_TO_US.but(
        read_only=True, filter=True, description=f"{MADE_OUT_TO_US.description}{_WORST}"
    ),
}


async def is_made_out_to_us(req: Request, values: Mapping[str, Any]) -> str:
    """Return `yes` or `no` for an e-invoice with these values, or `unknown` where the company has no tax number."""
    options = req.service.parts.get(OptionValues)
    own = _fold(await options.value(TAX_NUMBER.key)) if options is not None else ""
    return ("yes" if _fold(values["buyer_tax_number"] or "") == own else "no") if own else "unknown"


def _fold(number: str) -> str:
    return "".join(filter(str.isalnum, number)).upper()


async def mark(req: Request, read: Sequence[Mapping[str, Any]]) -> Record:
    """Return the values of `KEPT` of a draft that is made of these e-invoices, as they were read."""
    signatures = {_name_signature(one["signature"]) for one in read}
    buyers = {await is_made_out_to_us(req, one["values"]) for one in read}
    return {
        "e_invoice_signature": min(signatures, key=_SIGNATURES.index),
        "made_out_to_us": min(buyers, key=_BUYERS.index),
    }


def _name_signature(signature: Mapping[str, Any]) -> str:
    if signature["result"] == "valid":
        return "valid"
    return "absent" if signature["reason"] == NONE else "unchecked"
