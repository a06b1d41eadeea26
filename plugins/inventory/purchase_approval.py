"""What the approvers of a purchase order see besides the order itself."""

from __future__ import annotations

from plugins.api import Step, as_json
from plugins.inventory.documents import PURCHASE_ORDERS
from plugins.inventory.lines import Record
from plugins.inventory.records import PRODUCTS, SUPPLIERS


async def describe(step: Step) -> Record:
    """Return the names of the supplier and the products, which the approvers may not be allowed to look up."""
    order = step.record
    supplier = await step.store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    wanted = {"_id": {"$in": [line["product_id"] for line in order["lines"]]}}
    products = {str(one["id"]): one["name"] for one in await step.store(PRODUCTS).find(wanted, fields=["name"])}
    lines = as_json(PURCHASE_ORDERS.read, order)["lines"]
    return {
        "supplier": supplier and supplier["name"],
        "lines": [{**line, "product": products.get(line["product_id"])} for line in lines],
    }
