"""What documents say of a customer or supplier: its tax number and addresses, copied as they are on that day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handlers.schema.errors import invalid
from handlers.schema.fields import Field, array, boolean, obj, text
from handlers.schema.values import ReadOnlyRecord, Record

BILLING, DELIVERY = "billing", "delivery"  # the uses of an address
_USES = {BILLING: ("用于开票", "For billing"), DELIVERY: ("用于收货", "For delivery")}
_MOST_ADDRESSES = 20
_ADDRESS = text(label=("地址", "Address"), max_length=500, example="上海市浦东新区世纪大道 100 号")
_LABELS = {BILLING: ("开票地址", "Billing address"), DELIVERY: ("收货地址", "Delivery address")}
VAT_NUMBER = text(label=("税号", "VAT number"), max_length=32, example="91310000MA1K30000X")


@dataclass(frozen=True)
class Party:
    """A customer or supplier as documents name it. Each of its `addresses` has a `name` and says what it is for."""

    vat_number: str | None = None
    addresses: Sequence[Mapping[str, Any]] = ()


def party_fields() -> dict[str, Field]:
    """Return the fields of a customer or supplier that documents copy."""
    of_address = {
        "name": text(label=("地址名称", "Name"), min_length=1, max_length=100, required=True, example="总部"),
        "address": _ADDRESS.but(required=True, nullable=False),
        "contact": text(label=("联系人", "Contact person"), max_length=100),
        "phone": text(label=("电话", "Phone"), max_length=50),
        **{
            use: boolean(label=label, description="One that is for neither is for both.")
            for use, label in _USES.items()
        },
    }
    return {
        "vat_number": VAT_NUMBER.but(filter=True, search=True),
        "addresses": array(
            obj("PartyAddress", of_address),
            label=("地址簿", "Addresses"),
            max_items=_MOST_ADDRESSES,
            default=[],
            nullable=True,
            description="Documents take the first of each use unless they name another.",
        ),
    }


def copied_fields() -> dict[str, Field]:
    """Return the fields of a document that are copied of its party, and those that choose its addresses."""
    vat_number = VAT_NUMBER.but(description="That of the customer or supplier unless given.")
    return {"vat_number": vat_number, **address_fields(BILLING), **address_fields(DELIVERY)}


def address_fields(use: str) -> dict[str, Field]:
    """Return the field of a document with an address of its party, of the use `BILLING` or `DELIVERY`, and that which chooses it."""
    about = f"Copied of the customer or supplier: the address that `{use}_address_name` names, or else the first of this use."
    zh, en = _LABELS[use]
    name = text(label=(f"{zh}名称", f"Name of the {en.lower()}"), max_length=100, write_only=True)
    return {f"{use}_address": _ADDRESS.but(label=_LABELS[use], description=about), f"{use}_address_name": name}


def copy_party(party: Party, given: ReadOnlyRecord) -> Record:
    """Return what a document copies of its party, unless the body says otherwise. Raises 40001 for an unknown address."""
    addresses = {f"{use}_address": choose_address(party, given, use) for use in _USES}
    return {"vat_number": given.get("vat_number") or party.vat_number, **addresses}


def choose_address(party: Party, given: ReadOnlyRecord, use: str) -> str | None:
    """Return the address of a use that a document takes: of its body, or else of its party. Raises 40001 as `copy_party`."""
    field, name = f"{use}_address", given.get(f"{use}_address_name")
    named = [one for one in party.addresses if one["name"] == name] if name is not None else None
    if named == []:
        raise invalid(f"{field}_name", "reference")
    fitting = named or [one for one in party.addresses if one.get(use)]
    fitting = fitting or [one for one in party.addresses if not any(one.get(other) for other in _USES)]
    return given.get(field) or (_write(fitting[0]) if fitting else None)


def _write(address: Mapping[str, Any]) -> str:
    """Return an address as documents print it: with whom to ask for there."""
    person = " ".join(filter(None, (address.get("contact"), address.get("phone"))))
    return str(address["address"]) + (f" ({person})" if person else "")
