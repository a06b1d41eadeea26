"""How the console shows months, what is owed, and invoices; an invoice can be begun from what it is to bill."""

from plugins.api import View
from plugins.api.records import Makes
from plugins.finance.open_items import CLAIM, INVOICE
from plugins.finance.payment_records import OPEN_ITEMS, SHOWN_OF_ITEMS
from plugins.finance.records import INVOICES, PERIODS

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
    fits=f"biz_type != '{INVOICE}' && biz_type != '{CLAIM}'",
)
_ADJUST = Makes(
    "POST /api/v1/finance/open-items/{id}/adjustments",
    {},
    fits=f"biz_type != '{CLAIM}' && (status == 'open' || status == 'partly_paid')",
)
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
        INVOICES,
        widgets={"counterparty": {"visibleOn": "${!open_item_id && !open_item_ids && !customer_id && !supplier_id}"}},
    ),
)
