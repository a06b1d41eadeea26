"""The company: its departments, what each role may do, and its twenty people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# department → the one above it, and who leads it
DEPARTMENTS: Mapping[str, tuple[str | None, str]] = {
    "总公司": (None, "chen"),
    "北区销售部": ("总公司", "wang"),
    "南区销售部": ("总公司", "zhou"),
    "供应链部": ("总公司", "han"),
    "财务部": ("总公司", "xu"),
    "行政部": ("总公司", "shi"),
}

_SOLD = ("customer", "contact", "lead", "opportunity", "follow-up", "contract")
_SELLING = (
    *(f"crm:{entity}:{action}" for entity in _SOLD for action in ("list", "read", "create", "update")),
    "crm:customer:claim",
    "crm:customer:release",
    "crm:lead:convert",
    "crm:opportunity:advance",
    "crm:opportunity:win",
    "crm:opportunity:lose",
    "crm:contract:submit",
    "crm:contract:withdraw",
    "crm:payment-plan:*",
    "crm:payment:list",
    "crm:payment:read",
    "inventory:product:list",
    "inventory:product:read",
    "inventory:stock:list",
    "inventory:sales-order:*",
    "inventory:delivery:list",
)


@dataclass(frozen=True)
class Role:
    """A data scope, and patterns of permission codes."""

    scope: str
    permissions: tuple[str, ...]


ROLES: Mapping[str, Role] = {
    "everybody": Role(
        "self",
        (
            "dashboard:chart:*",
            "hrm:attendance:punch",
            "hrm:attendance:list",
            "hrm:leave:list",
            "hrm:leave:read",
            "hrm:leave:create",
            "hrm:leave:update",
            "hrm:leave:submit",
            "finance:expense-claim:list",
            "finance:expense-claim:read",
            "finance:expense-claim:create",
            "finance:expense-claim:update",
            "finance:expense-claim:submit",
            "approval:task:*",
            "approval:instance:list",
            "approval:instance:read",
        ),
    ),
    "owner": Role(
        "all",
        (
            *("crm:*", "inventory:*", "finance:*", "hrm:*", "approval:*"),
            *("system:user:list", "system:user:read", "system:user:update", "system:user:handover"),
            "system:department:list",
        ),
    ),
    "sales manager": Role("department_and_below", (*_SELLING, "crm:customer:transfer", "crm:customer:share")),
    "seller": Role("self", _SELLING),
    "reception": Role("self", ("crm:lead:list", "crm:lead:read", "crm:lead:create", "crm:customer:create")),
    "operations manager": Role("department_and_below", ("inventory:*:list", "inventory:*:read")),
    "purchaser": Role(
        "self",
        (
            "inventory:product:*",
            "inventory:supplier:*",
            *(f"inventory:purchase-order:{action}" for action in ("list", "read", "create", "update", "submit")),
        ),
    ),
    "storekeeper": Role(
        "all",
        (
            *("inventory:*:list", "inventory:*:read", "inventory:stock:ledger"),
            *("inventory:purchase-order:receive", "inventory:sales-order:deliver"),
            *("inventory:stock-count:create", "inventory:transfer:create"),
        ),
    ),
    "keeper of the spares": Role(
        "self", ("inventory:stock:list", "inventory:stock-count:list", "inventory:stock-count:create")
    ),
    "accountant": Role("all", ("crm:*:list", "crm:*:read", "crm:payment:*", "finance:*")),
    "cashier": Role(
        "all",
        (
            *("finance:*:list", "finance:*:read", "finance:expense-claim:pay"),
            *("finance:invoice:payables", "finance:invoice:pay"),
        ),
    ),
    "hr": Role("all", ("hrm:*",)),
    "legal counsel": Role("self", ("crm:contract:list", "crm:contract:read", "crm:payment-plan:list")),
}


@dataclass(frozen=True)
class Person:
    """Somebody at work: the name, the department, and the roles besides that of everybody."""

    name: str
    department: str
    roles: tuple[str, ...] = ()


STAFF: Mapping[str, Person] = {
    "chen": Person("陈总", "总公司", ("owner",)),
    "wang": Person("王北", "北区销售部", ("sales manager",)),
    "li": Person("李明", "北区销售部", ("seller",)),
    "zhao": Person("赵刚", "北区销售部", ("seller",)),
    "sun": Person("孙悦", "北区销售部", ("seller",)),
    "zhou": Person("周南", "南区销售部", ("sales manager",)),
    "wu": Person("吴敏", "南区销售部", ("seller",)),
    "zheng": Person("郑爽", "南区销售部", ("seller",)),
    "feng": Person("冯雪", "南区销售部", ("seller",)),
    "han": Person("韩冰", "供应链部", ("operations manager",)),
    "yang": Person("杨采", "供应链部", ("purchaser",)),
    "zhu": Person("朱库", "供应链部", ("storekeeper",)),
    "qin": Person("秦备", "供应链部", ("keeper of the spares",)),
    "xu": Person("许会", "财务部", ("accountant",)),
    "he": Person("何账", "财务部", ("accountant",)),
    "luo": Person("罗纳", "财务部", ("cashier",)),
    "shi": Person("施人", "行政部", ("hr",)),
    "zhang": Person("张律", "行政部", ("legal counsel",)),
    "kong": Person("孔前", "行政部", ("reception",)),
    "cao": Person("曹行", "行政部"),
}
MANAGERS, SELLERS = ("wang", "zhou"), ("li", "zhao", "sun", "wu", "zheng", "feng")
