"""How pages show orders and what is shipped of them: the cells of their lines, and what forms of actions begin with."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import View
from plugins.api.business import FURTHER_TERMS, LINE_CELLS, NARROW_CELL
from plugins.inventory.order_records import ASKED_LINE, DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.quotation_records import QUOTATIONS
from plugins.inventory.records import PRODUCTS, REORDER_LEVELS, STOCK, STOCK_ENTRIES, SUPPLIERS
from plugins.inventory.revision_records import PURCHASE_ORDER_REVISIONS, TERMS

_LINES: Mapping[str, Mapping[str, object]] = {
    **LINE_CELLS,
    "lines.tolerance": NARROW_CELL,
    "lines.line": {"type": "hidden"},  # of a line that is revised
}


def _propose_open(done: str) -> dict[str, str]:
    return {"warehouse_id": "${warehouse_id}", "lines": f"${{lines | open:{done}:line:product_id}}"}


_ASKED = ":".join(("line", *(name for name in ASKED_LINE if name not in ("unit_price", "kind"))))
_REVISED = {
    **{name: f"${{{name}}}" for name in TERMS},
    "lines": f"${{lines | only:{_ASKED}}}",
}

VIEWS = (
    View(PRODUCTS, columns=("sku", "name", "unit", "price", "on_hand", "reserved", "available", "status")),
    View(STOCK, columns=("product_id", "warehouse_id", "quantity", "reserved", "available", "value", "average_cost")),
    View(REORDER_LEVELS, columns=("product_id", "warehouse_id", "level", "target", "lot", "status")),
    View(
        STOCK_ENTRIES,
        columns=(
            *("product_id", "warehouse_id", "kind", "day", "quantity"),
            *("value", "quantity_after", "document_number"),
        ),
    ),
    View(SUPPLIERS, folded=FURTHER_TERMS),
    View(
        QUOTATIONS,
        folded=FURTHER_TERMS,
        columns=("number", "customer_id", "amount", "currency", "status", "valid_until", "expired", "quoted_on"),
        due="valid_until",
        due_only={"status": "sent,accepted,partly_ordered"},
        widgets={"customer_name": {"visibleOn": "${!customer_id}"}, **_LINES},
        proposals={"order": {"lines": "${lines | open:ordered_quantity:line:product_id}"}},
    ),
    View(
        PURCHASE_ORDERS,
        folded=FURTHER_TERMS,
        due="expected_on",
        due_only={"status": "ordered,partly_received"},
        widgets=_LINES,
        proposals={"receive": _propose_open("received"), "revise": _REVISED},
    ),
    View(
        SALES_ORDERS,
        folded=FURTHER_TERMS,
        due="expected_on",
        due_only={"status": "confirmed,partly_delivered"},
        widgets={"customer_name": {"visibleOn": "${!customer_id}"}, **_LINES},
        proposals={"deliver": _propose_open("delivered"), "revise": _REVISED},
    ),
    View(
        PURCHASE_ORDER_REVISIONS,
        columns=("number", "order_id", "reason", "change", "amount", "status", "revision", "day"),
    ),
    *(
        View(one, widgets={"lines.line": _LINES["lines.line"]}, proposals={"returns": _propose_open("returned")})
        for one in (RECEIPTS, DELIVERIES)
    ),
)
