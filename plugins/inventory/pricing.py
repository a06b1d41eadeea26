"""The lines of an order as they are stored: kinds, prices and taxes completed, and what contradicts itself refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import Record, Request, exact, invalid
from plugins.api.business import GOODS, MAX_QUANTITY, PRICE_PLACES, SERVICE, TEXT, Customers
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import RecordId, StoredAmount, store_price, store_quantity
from plugins.inventory.lines import Line
from plugins.inventory.prices import Proposal, find_proposals
from plugins.inventory.record_types import Product, Tax
from plugins.inventory.records import SUPPLIERS, TAXES
from plugins.inventory.trades import ENABLED, Drafts, find_products

_WORDS = frozenset({"kind", "description", "reference"})  # all that a line of text has
_AS_GIVEN = ("description", "reference", "price_per", "discount", "discount_amount")
_PRICES = ("price", "unit_price")  # the same price by two names
_COUNTED = ("quantity", *_PRICES)
_NOTHING, _MOST = store_quantity(Decimal(0)), Decimal(MAX_QUANTITY)


async def complete_lines(
    req: Request,
    trade: Drafts,
    lines: Sequence[Line],
    order: Mapping[str, Any],
    *,
    before: Sequence[Line] = (),
    among: Sequence[Line] = (),
    entering: bool = False,
) -> list[Record]:
    """Return the lines of a draft with their numbers, kinds, prices and taxes; nothing is shipped of them.

    `order` has the customer or supplier and the day, `before` are the lines that these replace, `among` others that stay
    beside them; `entering`: quantities may still be zero. Raises 40001 for each line that contradicts itself, its product or its tax.
    """
    products = await find_products(req, lines, trade.filter_orderable(), once=False)
    kinds = [_choose_kind(line, products) for line in lines]
    faults = [one for number, line in enumerate(lines) for one in _faults(number, line, kinds[number], products)]
    units = [_find_factor(line, products.get(line.get("product_id"))) for line in lines]
    faults += [one for number, line in enumerate(lines) for one in find_unit_faults(number, line, units[number])]
    counted = [line.get("quantity") for line in lines]
    faults += [
        FieldError(f"lines[{number}].quantity", "minimum")
        for number, (kind, quantity) in enumerate(zip(kinds, counted, strict=True))
        if kind != TEXT and quantity is not None and not exact(quantity) and not entering
    ]
    if faults:
        raise ValidationFailed(faults)
    if not among and all(kind == TEXT for kind in kinds):
        raise invalid("lines", "required")
    proposals = await find_proposals(req, trade, lines, order, products, units)
    priced = {(one.get("product_id"), exact(one["price"])): one.get("priced_by") for one in before if _is_priced(one)}
    taxes = await _find_taxes(req, lines, await _find_own_tax(req, order), products)
    return [
        {
            **{name: line.get(name) for name in ("product_id", *_AS_GIVEN)},
            "line": number,
            "kind": kind,
            "unit": line.get("unit"),
            "unit_factor": store_quantity(factor) if factor not in (None, 1) else None,
            "quantity": _NOTHING if kind == TEXT else line["quantity"],
            **(_price(line, proposal, priced, req.actor.user_id) if kind != TEXT else dict.fromkeys(_PRICES)),
            **(_describe_tax(line, tax) if kind != TEXT else {}),
            "tolerance": _find_tolerance(line, products.get(line.get("product_id"))),
            trade.shipped: _NOTHING,
        }
        for number, (line, kind, tax, proposal, factor) in enumerate(
            zip(lines, kinds, taxes, proposals, units, strict=True), 1
        )
    ]


def _choose_kind(line: Line, products: Mapping[RecordId, Product]) -> str:
    """Return the kind that a line names, or that of its product; without one, words with a quantity or price are a service."""
    product = products.get(line.get("product_id"))
    if line.get("kind") is not None:
        return str(line["kind"])
    if product is not None or line.get("description") is None:
        return (product and product["kind"]) or GOODS
    has_none = all(line.get(name) is None or not exact(line[name]) for name in _COUNTED)
    return TEXT if has_none else SERVICE


def _faults(number: int, line: Line, kind: str, products: Mapping[RecordId, Product]) -> Iterator[FieldError]:
    """Yield what a line of this kind lacks, and what it must not have."""
    product = products.get(line.get("product_id"))
    nothing = {"quantity"} if kind == TEXT and not exact(line.get("quantity")) else set()
    given = {name for name, value in line.items() if value is not None} - nothing
    wrong: dict[str, str] = {}
    if kind == TEXT:
        wrong = dict.fromkeys(sorted(given - _WORDS), "invalid")
    elif product is not None and kind != (product["kind"] or GOODS):
        wrong["kind"] = "invalid"
    needed = {"quantity"} if kind != TEXT else set()
    if product is None:
        needed |= {"product_id"} if kind == GOODS else {"description"} if kind == TEXT else {"description", "price"}
    if "unit_price" in given:
        needed -= {"price"}
        if "price" in given and exact(line["price"]) != exact(line["unit_price"]):
            wrong["unit_price"] = "invalid"
    wrong |= dict.fromkeys(sorted(needed - given), "required")
    yield from (FieldError(f"lines[{number}].{name}", rule) for name, rule in wrong.items())


def _find_factor(line: Line, product: Product | None) -> Decimal | None:
    """Return how many of the product's own unit the unit of a line is; None if it is no unit of the product."""
    unit = line.get("unit")
    if unit is None or product is None or unit == product["unit"]:
        return Decimal(1)
    return next((exact(one["factor"]) for one in product["units"] or () if one["unit"] == unit), None)


def find_unit_faults(number: int, line: Line, factor: Decimal | None) -> Iterator[FieldError]:
    """Yield a unit that is none of the product, and a quantity that is none or too much in the product's own unit."""
    if factor is None:
        yield FieldError(f"lines[{number}].unit", "reference")
        return
    stocked = exact(line.get("quantity")) * factor
    if stocked > _MOST:
        yield FieldError(f"lines[{number}].quantity", "maximum")
    elif stocked != exact(store_quantity(stocked)):
        yield FieldError(f"lines[{number}].quantity", "invalid")


def _is_priced(line: Line) -> bool:
    return line.get("price") is not None


def _price(line: Line, proposal: Proposal, priced: Mapping[tuple[Any, Decimal], Any], by: int) -> Record:
    """Return the price of a line: what it gives, or else what is proposed, and who departed from that.

    `priced` says who did so before, by product and price.
    """
    given = next((line[name] for name in _PRICES if line.get(name) is not None), None)
    price = exact(proposal.price if given is None else given)
    is_other = proposal.price is not None and price != exact(proposal.price)
    per = {"price_per": proposal.per} if given is None and line.get("price_per") is None else {}
    return {
        **dict.fromkeys(_PRICES, store_price(price, PRICE_PLACES)),
        **per,
        "proposed_price": proposal.price,
        "price_list_id": proposal.list_id,
        "priced_by": priced.get((line.get("product_id"), price)) or by if is_other else None,
    }


def _find_tolerance(line: Line, product: Product | None) -> StoredAmount | None:
    own: StoredAmount | None = line.get("tolerance")
    return product["tolerance"] if own is None and product is not None else own


async def _find_own_tax(req: Request, order: Mapping[str, Any]) -> RecordId | None:
    """Return the tax that all lines of the customer or supplier of an order take, or None."""
    if order.get("customer_id") is not None:
        return await req.part(Customers).find_tax(order["customer_id"])
    if order.get("supplier_id") is not None:
        supplier = await req.system_store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
        return supplier["tax_id"] if supplier is not None else None
    return None


async def _find_taxes(
    req: Request, lines: Sequence[Line], own: RecordId | None, products: Mapping[RecordId, Product]
) -> list[Tax | None]:
    """Return the tax of each line: the one that it names, or, where it gives no rate either, the one that is proposed.

    A disabled tax is not proposed. Raises 40001 for one that a line names, and for a rate that is not that of its tax.
    """
    named = [line.get("tax_id") for line in lines]
    proposed = [
        own or (product and product["tax_id"]) for product in (products.get(line.get("product_id")) for line in lines)
    ]
    wanted = [
        tax or (other if line.get("tax_rate") is None else None)
        for line, tax, other in zip(lines, named, proposed, strict=True)
    ]
    if not any(wanted):
        return [None] * len(lines)
    known = {"_id": {"$in": list({id for id in wanted if id is not None})}, **ENABLED}
    found = {tax["id"]: tax for tax in await req.store(TAXES).find(known)}
    faults = []
    for number, (line, id) in enumerate(zip(lines, named, strict=True)):
        rate = line.get("tax_rate")
        if id is not None and id not in found:
            faults.append(FieldError(f"lines[{number}].tax_id", "reference"))
        elif id is not None and rate is not None and exact(rate) != exact(found[id]["rate"]):
            faults.append(FieldError(f"lines[{number}].tax_rate", "invalid"))
    if faults:
        raise ValidationFailed(faults)
    return [found.get(id) if id is not None else None for id in wanted]


def _describe_tax(line: Line, tax: Tax | None) -> Record:
    if tax is None:
        return {"tax_id": None, "tax_rate": line.get("tax_rate"), "tax_included": None}
    return {"tax_id": tax["id"], "tax_rate": tax["rate"], "tax_included": tax["included"]}
