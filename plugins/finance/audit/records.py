"""The audit of the ledgers as it is stored (the run in progress, and the result of the last one), and its response."""

from __future__ import annotations

from plugins.api import (
    Collection,
    array,
    boolean,
    integer,
    mapping,
    money,
    obj,
    object_id,
    shape,
    text,
    timestamp,
)

RUN, RESULT = "run", "result"
MOST_OF_A_CHECK = 100
_MESSAGE = {"zh": text(nullable=False), "en": text(nullable=False)}

_FOUND = {
    "check": text(label=("核对项代码", "Check"), nullable=False, example="finance-accounts"),
    "resource_id": text(
        label=("记录", "Record"), nullable=False, description="The id of the record that does not agree."
    ),
    "number": text(
        label=("单据编号", "Number"), nullable=False, description="The number or code by which people know the record."
    ),
    "about": text(
        label=("差异字段", "Field"), nullable=False, description="What differs, such as `balance`.", example="balance"
    ),
    "expected": text(
        label=("应为", "Expected"),
        nullable=False,
        description="The value according to the entries; empty if it is no amount.",
    ),
    "found": text(label=("实际", "Found"), nullable=False, description="The stored value."),
}

# two documents: the run in progress, and the result of the last one
LEDGER_AUDITS = Collection(
    name="finance_audits",
    title="LedgerAuditRecord",
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        "run_id": object_id(),
        "started_at": timestamp(),
        "checked_at": timestamp(),
        "next_at": timestamp(),
        "pending": array(text()),
        "after": text(),
        "size": integer(),
        "failures": integer(),
        "records": integer(),
        "differences": array(obj("StoredDifference", {**_FOUND, "message": obj(None, _MESSAGE)})),
        "totals": mapping(integer()),
        "remarks": mapping(obj("StoredRemarks", {"count": integer(), "amount": money()})),
    },
)

_TITLE = text(
    label=("核对项", "Check"),
    nullable=False,
    description="In the caller's language.",
    example="Account balances against vouchers",
)
_CHECK = {"check": _FOUND["check"], "title": _TITLE}

LEDGER_AUDIT = shape(
    "LedgerAudit",
    checked_at=timestamp(
        label=("核对时间", "Checked at"), description="When the last run ended; null before the first one."
    ),
    running=boolean(label=("正在核对", "Running"), nullable=False),
    records=integer(label=("记录数", "Records"), nullable=False, description="How many records the last run has read."),
    total=integer(
        label=("差异总数", "Differences"), nullable=False, description="How many differences there are, listed or not."
    ),
    differences=array(
        obj(
            "LedgerDifference",
            {
                **_CHECK,
                "collection": text(label=("数据类型", "Collection"), nullable=False, example="finance_accounts"),
                **{name: field for name, field in _FOUND.items() if name != "check"},
                "message": text(label=("说明", "Message"), nullable=False, description="In the caller's language."),
            },
            nullable=False,
        ),
        nullable=False,
        description=f"At most {MOST_OF_A_CHECK} of each check.",
        label=("差异", "Differences"),
    ),
    informations=array(
        obj(
            "LedgerInformation",
            {
                **_CHECK,
                "count": integer(label=("数量", "Count"), nullable=False),
                "amount": money(label=("金额", "Amount"), nullable=False),
            },
            nullable=False,
        ),
        nullable=False,
        description="What is worth knowing but is no difference, such as payments without an account.",
        label=("提示", "Information"),
    ),
    checks=array(
        obj(
            "LedgerCheck",
            {**_CHECK, "differences": integer(label=("差异数", "Differences"), nullable=False)},
            nullable=False,
        ),
        nullable=False,
        description="Every check, with how many differences it found.",
        label=("核对项", "Checks"),
    ),
)
