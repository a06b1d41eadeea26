"""The types of the records of CRM. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class PartyAddress(TypedDict):
    """An object within `Customer`."""

    name: str
    address: str
    contact: NotRequired[str | None]
    phone: NotRequired[str | None]
    billing: NotRequired[bool | None]
    delivery: NotRequired[bool | None]


class Position(TypedDict):
    """An object within `Customer`."""

    lng: float
    lat: float


class Instalment(TypedDict):
    """An object within `Customer`."""

    percent: StoredAmount
    days: int


class Collaborator(TypedDict):
    """An object within `Customer`."""

    user_id: int
    access: Literal["read", "write"]


class Customer(TypedDict):
    """A record of `crm_customers`."""

    id: StoredId
    name: str
    code: str | None
    industry: str | None
    level: str | None
    source: str | None
    phone: str | None
    email: str | None
    website: str | None
    address: str | None
    vat_number: str | None
    addresses: list[PartyAddress] | None
    location: Position | None
    owner_id: int | None
    status: str
    tags: list[str]
    remark: str | None
    credit_limit: StoredAmount | None
    terms_days: int | None
    terms_from: Literal["document", "month_end"] | None
    instalments: list[Instalment] | None
    discount_percent: StoredAmount | None
    discount_days: int | None
    currency: str | None
    tax_id: StoredId | None
    price_list_ids: list[StoredId] | None
    last_follow_at: datetime | None
    next_follow_at: datetime | None
    collaborators: list[Collaborator]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    pool_left_at: NotRequired[object]
    owned_since: NotRequired[object]
    name_key: NotRequired[object]
    phone_key: NotRequired[object]
    point: NotRequired[object]
    reminded_for: NotRequired[object]
    editors: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class Contact(TypedDict):
    """A record of `crm_contacts`."""

    id: StoredId
    customer_id: StoredId
    name: str
    title: str | None
    phone: str | None
    mobile: str | None
    email: str | None
    is_primary: bool
    remark: str | None
    owner_id: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    editors: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class Lead(TypedDict):
    """A record of `crm_leads`."""

    id: StoredId
    name: str
    company: str | None
    phone: str | None
    email: str | None
    source: str | None
    status: Literal["new", "contacted", "qualified", "converted", "invalid"]
    owner_id: int | None
    remark: str | None
    converted_at: datetime | None
    customer_id: StoredId | None
    contact_id: StoredId | None
    opportunity_id: StoredId | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    editors: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class StageChange(TypedDict):
    """An object within `Opportunity`."""

    from_stage: NotRequired[Literal["initial", "qualified", "proposal", "negotiation", "won", "lost"] | None]
    stage: Literal["initial", "qualified", "proposal", "negotiation", "won", "lost"]
    at: datetime
    user_id: int
    reason: NotRequired[str | None]


class Opportunity(TypedDict):
    """A record of `crm_opportunities`."""

    id: StoredId
    customer_id: StoredId
    name: str
    amount: StoredAmount
    stage: Literal["initial", "qualified", "proposal", "negotiation", "won", "lost"]
    probability: int | None
    expected_close_date: str | None
    source: str | None
    remark: str | None
    owner_id: int | None
    won_reason: str | None
    lost_reason: str | None
    closed_at: datetime | None
    stage_history: list[StageChange]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    editors: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class FollowUp(TypedDict):
    """A record of `crm_follow_ups`."""

    id: StoredId
    customer_id: StoredId
    opportunity_id: StoredId | None
    contact_id: StoredId | None
    content: str
    method: str | None
    position: Position | None
    address: str | None
    next_follow_at: datetime | None
    owner_id: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    point: NotRequired[object]
    editors: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class Contract(TypedDict):
    """A record of `crm_contracts`."""

    id: StoredId
    number: str | None
    customer_id: StoredId
    opportunity_id: StoredId | None
    name: str
    amount: StoredAmount
    currency: str | None
    rate: StoredAmount | None
    signed_date: str | None
    booked_on: str | None
    taken_off_on: str | None
    start_date: str | None
    end_date: str | None
    reference: str | None
    remark: str | None
    owner_id: int | None
    salesperson_id: int | None
    status: Literal["draft", "pending", "in_force", "rejected", "completed", "terminated"]
    received_amount: StoredAmount
    planned_amount: StoredAmount
    amended_amount: StoredAmount | None
    on_hold: bool | None
    hold_reason: str | None
    disputed: bool | None
    held_at: datetime | None
    held_by: int | None
    submitted_at: datetime | None
    submitted_by: int | None
    decided_at: datetime | None
    ended_at: datetime | None
    reason: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    editors: NotRequired[object]
    amendments: NotRequired[object]
    reminded: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class ContractTerms(TypedDict):
    """An object within `ContractAmendment`."""

    name: str
    amount: StoredAmount
    start_date: NotRequired[str | None]
    end_date: NotRequired[str | None]


class ContractAmendment(TypedDict):
    """A record of `crm_contract_amendments`."""

    id: StoredId
    number: str | None
    contract_id: StoredId
    customer_id: StoredId | None
    kind: Literal["amendment", "renewal"]
    effective_on: str | None
    name: str | None
    amount: StoredAmount | None
    start_date: str | None
    end_date: str | None
    currency: str | None
    description: str | None
    status: Literal["draft", "pending", "approved", "in_force", "rejected", "cancelled", "ended"]
    before: ContractTerms | None
    change: StoredAmount | None
    base_change: StoredAmount | None
    booked_on: str | None
    taken_off_on: str | None
    owner_id: int | None
    salesperson_id: int | None
    submitted_at: datetime | None
    submitted_by: int | None
    decided_at: datetime | None
    reason: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    editors: NotRequired[object]
    blocked: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class PaymentPlan(TypedDict):
    """A record of `crm_payment_plans`."""

    id: StoredId
    contract_id: StoredId
    customer_id: StoredId | None
    sequence: int | None
    amount: StoredAmount
    currency: str | None
    due_date: str
    remark: str | None
    status: Literal["pending", "partial", "paid", "overdue"] | None
    paid_amount: StoredAmount
    owner_id: int | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    settled: NotRequired[object]
    reminded: NotRequired[object]
    editors: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class Payment(TypedDict):
    """A record of `crm_payments`."""

    id: StoredId
    contract_id: StoredId
    customer_id: StoredId | None
    plan_id: StoredId | None
    amount: StoredAmount
    currency: str | None
    rate: StoredAmount | None
    base_amount: StoredAmount | None
    paid_at: datetime | None
    method: str | None
    reference: str | None
    account_id: StoredId | None
    remark: str | None
    owner_id: int | None
    salesperson_id: int | None
    finance_payment_id: StoredId | None
    reverses_id: StoredId | None
    reversed_by_id: StoredId | None
    reversed_at: datetime | None
    reversed_on: str | None
    reason: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    owner_department_id: int | None
    editors: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class ImportFault(TypedDict):
    """An object within `CustomerImport`."""

    row: int
    column: str
    rule: str
    message: str


class CustomerImport(TypedDict):
    """A record of `crm_imports`."""

    id: StoredId
    file_name: str | None
    dry_run: bool
    atomic: bool
    status: Literal["reading", "running", "finished", "failed"]
    total: int
    done: int
    created: int
    updated: int
    unchanged: int
    failed: int
    errors: list[ImportFault]
    warnings: list[ImportFault]
    finished_at: datetime | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    headers: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class CustomerImportRows(TypedDict):
    """A record of `crm_import_rows`."""

    id: StoredId
    import_id: object
    at: datetime | None
    faulty: bool | None
    rows: list[object] | None
