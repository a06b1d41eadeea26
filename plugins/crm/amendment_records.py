"""Amendments and renewals of contracts, the versions that they make, and what one would change."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    array,
    choice,
    day,
    integer,
    money,
    obj,
    object_id,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.api.business import RATES_TABLE, version_days
from plugins.crm.contract_records import CONTRACTS, OF_CONTRACT, OF_CURRENCY, SALESPERSON
from plugins.crm.messages import AMENDED
from plugins.crm.record_types import ContractAmendment
from plugins.crm.records import EDITORS, FOLLOWS_CUSTOMER
from plugins.crm.states import AMENDMENT_STATES

KINDS = AMENDMENT, RENEWAL = ("amendment", "renewal")
TERMS = ("name", "amount", "start_date", "end_date")  # what an amendment can change
_TERMS = {name: CONTRACTS.fields[name].but(required=False, search=False, filter=False, sort=False) for name in TERMS}
_KEPT = "Null: as before."


def _changed(name: str) -> Field:
    return _TERMS[name].but(nullable=True, description=_KEPT)


AMENDMENTS: Collection[ContractAmendment] = Collection(
    name="crm_contract_amendments",
    title="ContractAmendment",
    noun=Message("合同变更", "contract amendment"),
    label="number",
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={
        "number": text(
            label=("变更编号", "Number"),
            max_length=80,
            read_only=True,
            search=True,
            description="That of the contract, with a sequence.",
        ),
        "contract_id": object_id(
            label=("合同", "Contract"), required=True, ref=CONTRACTS.name, filter=True, held=AMENDED
        ),
        "customer_id": OF_CONTRACT,
        "kind": choice(
            *KINDS, label=("变更类型", "Kind"), default=AMENDMENT, filter=True, description="A renewal moves the end."
        ),
        "effective_on": day(
            label=("生效日期", "Effective on"),
            filter=True,
            sort=True,
            description="Today unless given; that of a renewal, the day after the end of the contract if that is later. "
            "Not before the contract was signed, nor before an earlier amendment takes effect.",
        ),
        **{name: _changed(name) for name in TERMS},
        "currency": OF_CURRENCY,
        "description": text(
            label=("变更说明", "What is agreed"),
            max_length=5000,
            description="Required if no figure changes.",
            example="双方同意追加两台设备",
        ),
        "status": AMENDMENT_STATES.choice(label=("变更状态", "Status"), filter=True, sort=True),
        "before": obj(
            "ContractTerms",
            _TERMS,
            label=("变更前", "Before"),
            read_only=True,
            description="Null until it takes effect.",
        ),
        "change": money(
            label=("金额增减", "Change of the amount"),
            read_only=True,
            description="By how much more the contract comes to; below zero: less. Null until it takes effect.",
        ),
        "base_change": money(
            label=("本位币金额增减", "Change in own currency"),
            read_only=True,
            only_with=RATES_TABLE,
            description="`change` in the company's currency; null where it is in that.",
        ),
        "booked_on": day(
            label=("入账日期", "Booked on"),
            read_only=True,
            description="By which day figures count the change: `effective_on`, or the first open day after it.",
        ),
        "taken_off_on": day(
            label=("冲减日期", "Taken off on"),
            read_only=True,
            description="By which day figures no longer count the change of a terminated contract, as for the contract.",
        ),
        "owner_id": FOLLOWS_CUSTOMER.but(description="The contract's owner."),
        "salesperson_id": SALESPERSON.but(description="The contract's owner when it took effect."),
        "submitted_at": timestamp(label=("提交时间", "Submitted at"), read_only=True),
        "submitted_by": integer(label=("提交人", "Submitted by"), read_only=True, ref="users"),
        "decided_at": timestamp(label=("审批时间", "Decided at"), read_only=True),
        "reason": text(label=("驳回或取消原因", "Reason"), read_only=True),
    },
    indexes=(
        Index("contract_id", "-created_at"),
        Index("customer_id", "-created_at"),
        Index("owner_id", "-created_at"),
        Index("status", "effective_on"),
        # these cover the queries of the dashboards by day
        Index("status", "-booked_on", "change", "base_change", "salesperson_id", "owner_id"),
        Index("taken_off_on", where={"taken_off_on": {"$type": "string"}}),
    ),
    internal=(EDITORS, "blocked"),
    states=AMENDMENT_STATES,
    dated="effective_on",
)

_VERSION = {
    "version": integer(label=("版本", "Version"), minimum=1),
    **version_days(first="the day of signing"),
    "amendment_id": object_id(label=("合同变更", "Amendment"), ref=AMENDMENTS.name, description="Which made it."),
    **_TERMS,
}
VERSIONS = shape(
    "ContractVersions",
    items=array(
        obj("ContractVersion", service_fields(version=_VERSION["version"]) | {**_VERSION}, nullable=False),
        label=("合同版本", "Versions"),
        nullable=False,
    ),
)

_ASKED = ("kind", "effective_on", *TERMS, "description")
REHEARSAL_BODY = shape("RehearsedAmendment", **{name: AMENDMENTS.fields[name] for name in _ASKED})


def _sums(*names: tuple[str, str, str]) -> dict[str, Field]:
    return service_fields(**{name: money(label=(zh, en)) for name, zh, en in names})


EFFECT = shape(
    "AmendmentEffect",
    effective_on=AMENDMENTS.fields["effective_on"].but(read_only=True, description=None),
    currency=OF_CURRENCY,
    before=obj("TermsBefore", _TERMS, label=("变更前", "Before"), nullable=False),
    after=obj("TermsAfter", _TERMS, label=("变更后", "After"), nullable=False),
    **_sums(
        ("change", "金额增减", "Change of the amount"),
        ("received_amount", "已回款金额", "Amount received"),
        ("open_before", "变更前未收", "Open before"),
        ("open_after", "变更后未收", "Open after"),
        ("planned_amount", "计划回款金额", "Planned amount"),
        ("unplanned_before", "变更前未计划", "In no plan before"),
        ("unplanned_after", "变更后未计划", "In no plan after"),
    ),
    credit=obj(
        "AmendedCredit",
        _sums(
            ("limit", "信用额度", "Credit limit"),
            ("used_before", "变更前已占用", "Used before"),
            ("used_after", "变更后已占用", "Used after"),
            ("excess", "超出额度", "Over the limit"),
        ),
        label=("信用", "Credit"),
        description="What the customer owes beside the credit limit, in the company's currency; null without one.",
    ),
    forecast=array(
        obj(
            "ForecastMonth",
            {
                "month": text(
                    label=("月份", "Month"), max_length=7, description="As 2026-12; null: the contract has no end."
                ),
                **_sums(("before", "变更前", "Before"), ("after", "变更后", "After")),
            },
            nullable=False,
        ),
        label=("回款预测", "Expected receipts"),
        nullable=False,
        description="What is still to come in each month: open plans when they are due, and what is in no plan when the "
        "contract ends.",
    ),
)
