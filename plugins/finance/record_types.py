"""The types of the records of Finance. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class Account(TypedDict):
    """A record of `finance_accounts`."""

    id: StoredId
    code: str
    name: str
    type: Literal["cash", "bank", "other"]
    balance: StoredAmount
    currency: str | None
    cashier_ids: list[int] | None
    status: Literal["enabled", "disabled"]
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Voucher(TypedDict):
    """A record of `finance_vouchers`."""

    id: StoredId
    number: str
    kind: Literal["income", "expense", "transfer"]
    account_id: StoredId
    to_account_id: StoredId | None
    amount: StoredAmount
    to_amount: StoredAmount | None
    currency: str | None
    rate: StoredAmount | None
    base_amount: StoredAmount | None
    day: str | None
    category: str | None
    counterparty: str | None
    remark: str | None
    invoice_id: StoredId | None
    claim_id: StoredId | None
    open_item_id: StoredId | None
    payment_id: StoredId | None
    reverses_id: StoredId | None
    reversed_by_id: StoredId | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Period(TypedDict):
    """A record of `finance_periods`."""

    id: str
    closed: bool
    closed_at: datetime | None
    closed_by: int | None
    last_number: int
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ExpenseLine(TypedDict):
    """An object within `ExpenseClaim`."""

    day: str
    category: str
    amount: StoredAmount
    description: NotRequired[str | None]
    receipt_number: NotRequired[str | None]


class ExpenseClaim(TypedDict):
    """A record of `finance_expense_claims`."""

    id: StoredId
    number: str
    title: str
    lines: list[ExpenseLine]
    amount: StoredAmount
    status: Literal["draft", "submitted", "approved", "rejected", "paid", "reversed"]
    submitted_at: datetime | None
    submitted_by: int | None
    decided_at: datetime | None
    decided_by: int | None
    reason: str | None
    reversed_on: str | None
    paid_at: datetime | None
    voucher_id: StoredId | None
    e_invoice_signature: Literal["absent", "unchecked", "valid"] | None
    made_out_to_us: Literal["no", "unknown", "yes"] | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    receipt_keys: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Instalment(TypedDict):
    """An object within `Invoice`."""

    percent: StoredAmount
    days: int


class InvoiceLine(TypedDict):
    """An object within `Invoice`."""

    product_id: NotRequired[StoredId | None]
    quantity: NotRequired[StoredAmount | None]
    price: NotRequired[StoredAmount | None]
    discount: NotRequired[StoredAmount | None]
    tax_rate: NotRequired[StoredAmount | None]
    tax_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    price_per: NotRequired[StoredAmount | None]
    discount_amount: NotRequired[StoredAmount | None]
    unit: NotRequired[str | None]
    unit_factor: NotRequired[StoredAmount | None]
    reference: NotRequired[str | None]
    unit_price: NotRequired[StoredAmount | None]
    line: NotRequired[int | None]
    tax_included: NotRequired[bool | None]
    net: NotRequired[StoredAmount | None]
    tax: NotRequired[StoredAmount | None]
    amount: StoredAmount
    order_line: NotRequired[int | None]
    shipment_id: NotRequired[StoredId | None]
    open_item_id: NotRequired[StoredId | None]
    prepayment_id: NotRequired[StoredId | None]
    prepayment_line: NotRequired[int | None]
    credited_quantity: NotRequired[StoredAmount | None]
    credited: NotRequired[StoredAmount | None]
    credited_tax: NotRequired[StoredAmount | None]


class InvoiceShare(TypedDict):
    """An object within `Invoice`."""

    open_item_id: NotRequired[StoredId | None]
    amount: NotRequired[StoredAmount | None]
    tax: NotRequired[StoredAmount | None]
    total: NotRequired[StoredAmount | None]
    paid: NotRequired[StoredAmount | None]
    credited: NotRequired[StoredAmount | None]
    credited_tax: NotRequired[StoredAmount | None]
    adjusted: NotRequired[StoredAmount | None]


class Invoice(TypedDict):
    """A record of `finance_invoices`."""

    id: StoredId
    direction: Literal["in", "out"]
    kind: Literal["standard", "prepayment", "part", "final"] | None
    prepayment_rate: StoredAmount | None
    number: str | None
    counterparty: str
    customer_id: StoredId | None
    supplier_id: StoredId | None
    vat_number: str | None
    billing_address: str | None
    billing_address_name: NotRequired[str | None]
    delivery_address: str | None
    delivery_address_name: NotRequired[str | None]
    day: str | None
    currency: str | None
    rate: StoredAmount | None
    due_on: str | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    discount_until: str | None
    discount_amount: StoredAmount | None
    amount: StoredAmount
    tax: StoredAmount
    lines: list[InvoiceLine] | None
    prices_include_tax: bool | None
    shipment_ids: NotRequired[list[StoredId] | None]
    open_item_ids: NotRequired[list[StoredId] | None]
    total: StoredAmount
    paid: StoredAmount
    credited: StoredAmount | None
    credited_tax: StoredAmount | None
    adjusted: StoredAmount | None
    open_item_id: StoredId | None
    billed_items: list[InvoiceShare] | None
    status: Literal["draft", "confirmed", "partly_paid", "paid", "void", "credited"]
    e_invoice_signature: Literal["absent", "unchecked", "valid"] | None
    made_out_to_us: Literal["no", "unknown", "yes"] | None
    category: str | None
    reference: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    party_key: NotRequired[object]
    number_key: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class CreditNoteLine(TypedDict):
    """An object within `CreditNote`."""

    line: NotRequired[int | None]
    product_id: NotRequired[StoredId | None]
    kind: NotRequired[Literal["product", "service", "text"] | None]
    description: NotRequired[str | None]
    quantity: NotRequired[StoredAmount | None]
    tax_rate: NotRequired[StoredAmount | None]
    net: NotRequired[StoredAmount | None]
    tax: NotRequired[StoredAmount | None]
    amount: NotRequired[StoredAmount | None]


class CreditNoteShare(TypedDict):
    """An object within `CreditNote`."""

    open_item_id: NotRequired[StoredId | None]
    amount: NotRequired[StoredAmount | None]
    tax: NotRequired[StoredAmount | None]


class CreditNote(TypedDict):
    """A record of `finance_credit_notes`."""

    id: StoredId
    number: str
    invoice_id: StoredId
    direction: Literal["in", "out"]
    day: str
    amount: StoredAmount
    tax: StoredAmount
    total: StoredAmount
    currency: str | None
    rate: StoredAmount | None
    lines: list[CreditNoteLine] | None
    billed_items: list[CreditNoteShare] | None
    counterparty: str | None
    for_return: bool | None
    reason: str | None
    reverses_id: StoredId | None
    reversed_by_id: StoredId | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class OpenItemPart(TypedDict):
    """An object within `OpenItem`."""

    due_on: str
    amount: StoredAmount
    paid: StoredAmount


class OpenItem(TypedDict):
    """A record of `finance_open_items`."""

    id: StoredId
    direction: Literal["in", "out"]
    biz_type: str
    resource_id: str
    number: str | None
    counterparty: str | None
    customer_id: StoredId | None
    supplier_id: StoredId | None
    day: str | None
    booked_on: str | None
    amount: StoredAmount
    document_amount: StoredAmount | None
    undelivered: StoredAmount | None
    billed_ahead: StoredAmount | None
    net: StoredAmount | None
    tax: StoredAmount | None
    invoiced: StoredAmount | None
    credited: StoredAmount | None
    returned: StoredAmount | None
    credited_returns: StoredAmount | None
    adjusted: StoredAmount | None
    paid: StoredAmount
    currency: str | None
    rate: StoredAmount | None
    base_amount: StoredAmount | None
    base_paid: StoredAmount | None
    due_on: str | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    discount_until: str | None
    discount_amount: StoredAmount | None
    schedule: list[OpenItemPart] | None
    status: Literal["planned", "open", "partly_paid", "paid", "void"]
    paid_elsewhere: bool
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    billings: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class OpenItemEntry(TypedDict):
    """A record of `finance_open_item_entries`."""

    id: StoredId
    direction: Literal["in", "out"]
    day: str
    kind: Literal["owed", "paid", "advance", "rescheduled", "rebate", "cash_discount", "write_off", "charge", "difference"]
    amount: StoredAmount
    open_item_id: StoredId | None
    biz_type: str | None
    resource_id: str | None
    number: str | None
    customer_id: StoredId | None
    supplier_id: StoredId | None
    counterparty: str | None
    due_on: str | None
    currency: str | None
    currency_amount: StoredAmount | None
    settled_on: str | None
    rest: StoredAmount | None
    settles: bool | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Allocation(TypedDict):
    """An object within `FinancePayment`."""

    open_item_id: StoredId
    amount: StoredAmount
    day: NotRequired[str | None]


class AllocationTakenBack(TypedDict):
    """An object within `FinancePayment`."""

    open_item_id: StoredId
    amount: StoredAmount
    day: NotRequired[str | None]
    taken_back_on: NotRequired[str | None]
    reason: NotRequired[str | None]


class FinancePayment(TypedDict):
    """A record of `finance_payments`."""

    id: StoredId
    number: str
    direction: Literal["in", "out"]
    account_id: StoredId
    customer_id: StoredId | None
    supplier_id: StoredId | None
    counterparty: str | None
    amount: StoredAmount
    currency: str | None
    rate: StoredAmount | None
    day: str | None
    method: str | None
    reference: str | None
    category: str | None
    remark: str | None
    allocations: list[Allocation] | None
    taken_back: list[AllocationTakenBack] | None
    repays_id: StoredId | None
    allocated: StoredAmount
    unallocated: StoredAmount
    repaid: StoredAmount
    status: Literal["booked", "reversed"]
    voucher_id: StoredId | None
    reversal_voucher_id: StoredId | None
    reversed_on: str | None
    reversed_at: datetime | None
    reason: str | None
    biz_type: str | None
    resource_id: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class Adjustment(TypedDict):
    """A record of `finance_adjustments`."""

    id: StoredId
    number: str
    direction: Literal["in", "out"]
    kind: Literal["rebate", "cash_discount", "write_off", "charge", "difference"]
    day: str
    amount: StoredAmount
    open_item_id: StoredId | None
    currency: str | None
    rate: StoredAmount | None
    document_number: str | None
    counterparty: str | None
    customer_id: StoredId | None
    supplier_id: StoredId | None
    reason: str | None
    reverses_id: StoredId | None
    reversed_by_id: StoredId | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class OpeningItem(TypedDict):
    """A record of `finance_opening_items`."""

    id: StoredId
    kind: Literal["receivable", "payable"]
    number: str
    counterparty: str
    customer_id: StoredId | None
    supplier_id: StoredId | None
    day: str | None
    due_on: str | None
    amount: StoredAmount
    currency: str | None
    rate: StoredAmount | None
    status: Literal["booked", "reversed"]
    reversed_on: str | None
    reversed_at: datetime | None
    reason: str | None
    remark: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class LedgerAuditRecordDifferencesMessage(TypedDict):
    """An object within `LedgerAuditRecord`."""

    zh: str
    en: str


class StoredDifference(TypedDict):
    """An object within `LedgerAuditRecord`."""

    check: str
    resource_id: str
    number: str
    about: str
    expected: str
    found: str
    message: NotRequired[LedgerAuditRecordDifferencesMessage | None]


class StoredRemarks(TypedDict):
    """An object within `LedgerAuditRecord`."""

    count: NotRequired[int | None]
    amount: NotRequired[StoredAmount | None]


class LedgerAuditRecord(TypedDict):
    """A record of `finance_audits`."""

    id: str
    run_id: StoredId | None
    started_at: datetime | None
    checked_at: datetime | None
    next_at: datetime | None
    pending: list[str] | None
    after: str | None
    size: int | None
    failures: int | None
    records: int | None
    differences: list[StoredDifference] | None
    totals: dict[str, int | None] | None
    remarks: dict[str, StoredRemarks | None] | None


class ExchangeRate(TypedDict):
    """A record of `finance_exchange_rates`."""

    id: StoredId
    currency: str
    day: str
    rate: StoredAmount
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ExchangeDifference(TypedDict):
    """A record of `finance_exchange_differences`."""

    id: StoredId
    day: str
    payment_id: StoredId
    currency: str
    amount: StoredAmount
    payment_rate: StoredAmount
    document_rate: StoredAmount
    difference: StoredAmount
    open_item_id: StoredId | None
    number: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
