"""How the console shows months, what is owed, opening items and invoices; an invoice can be begun from what it is to bill."""

from plugins.api import View
from plugins.api.business import FURTHER_TERMS, LINE_CELLS, NARROW_CELL, WIDE_CELL
from plugins.api.records import Makes
from plugins.finance.open_items import CLAIM, INVOICE, OPENING
from plugins.finance.opening_items import OPENING_ITEMS
from plugins.finance.payment_records import OPEN_ITEMS, SHOWN_OF_ITEMS
from plugins.finance.records import FINAL, INVOICES, PART, PERIODS, PREPAYMENT

# all that can be billed, where nothing is yet; the next invoice of a part is typed
_WHOLE = "${{invoiced > 0 ? '' : {}}}"
_BILL = Makes(
    "POST /api/v1/finance/invoices",
    {
        "direction": "${direction}",
        "open_item_id": "${id}",
        "amount": _WHOLE.format("(net || document_amount)"),
        "tax": _WHOLE.format("tax"),
    },
    fits=f"biz_type != '{INVOICE}' && biz_type != '{CLAIM}' && biz_type != '{OPENING}'",
)
# the cash discount that is offered, as long as it holds and nothing was taken off
_OFFERED = "${{discount_until >= DATETOSTR(TODAY(), 'YYYY-MM-DD') && !(adjusted > 0) ? {} : ''}}"
_ADJUST = Makes(
    "POST /api/v1/finance/open-items/{id}/adjustments",
    {"kind": _OFFERED.format("'cash_discount'"), "amount": _OFFERED.format("discount_amount")},
    shows=("discount_until",),
    fits=f"biz_type != '{CLAIM}' && (status == 'open' || status == 'partly_paid')",
)
# nobody states the sums of a new invoice that its lines or its rate make
_SUMS = {
    "visibleOn": f"${{id || !(kind == '{PART}' || kind == '{FINAL}' || (kind == '{PREPAYMENT}' && prepayment_rate))}}",
    "clearValueOnHidden": True,
}
VIEWS = (
    View(PERIODS, columns=("id", "closed", "closed_at", "closed_by", "last_number")),  # the id is the month
    View(
        OPEN_ITEMS,
        columns=SHOWN_OF_ITEMS,
        due="due_on",
        due_only={"status": "open,partly_paid"},
        makes=(_BILL, _ADJUST),
    ),
    View(
        OPENING_ITEMS,
        columns=("number", "counterparty", "currency", "amount", "due_on", "kind", "day", "status"),
        widgets={
            "counterparty": {"visibleOn": "${!customer_id && !supplier_id}"},
            "customer_id": {"visibleOn": "${kind != 'payable'}", "clearValueOnHidden": True},
            "supplier_id": {"visibleOn": "${kind == 'payable'}", "clearValueOnHidden": True},
        },
    ),
    View(
        INVOICES,
        columns=("number", "status", "direction", "kind", "counterparty", "day", "currency", "total", "paid"),
        groups={
            ("开票", "Invoice"): (
                *("direction", "kind", "open_item_id", "open_item_ids", "prepayment_rate"),
                *("number", "day", "currency", "rate", "terms_days", "due_on"),
            ),
            ("往来单位", "Party"): (
                *("customer_id", "supplier_id", "counterparty", "vat_number", "billing_address_name"),
                *("billing_address", "delivery_address_name", "delivery_address"),
            ),
            ("金额", "Amounts"): ("prices_include_tax", "lines", "amount", "tax", "total", "paid"),
        },
        folded=FURTHER_TERMS,
        widgets={
            "counterparty": {"visibleOn": "${!open_item_id && !open_item_ids && !customer_id && !supplier_id}"},
            "prepayment_rate": {"visibleOn": f"${{kind == '{PREPAYMENT}'}}", "clearValueOnHidden": True},
            "amount": _SUMS,
            "tax": _SUMS,
            # the service makes the lines of a prepayment
            "lines": {"visibleOn": f"${{kind != '{PREPAYMENT}'}}", "clearValueOnHidden": True},
            # which have no picker, as they are of a plugin that need not be there
            "shipment_ids": {"type": "hidden"},
            "lines.shipment_id": {"type": "hidden"},
            **LINE_CELLS,
            "lines.open_item_id": WIDE_CELL,
            "lines.order_line": NARROW_CELL,
        },
    ),
)
