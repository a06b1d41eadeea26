"""Ports: what holds when no plugin answers is stated for every question."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from handlers.ports import (
    Absences,
    Accounts,
    Approvals,
    Attachments,
    Departments,
    DirectLinks,
    OwnRequests,
    WorkingTime,
)
from handlers.service import Parts, Port
from plugins.api.business import BilledOrder, Books, Contracts, Customers, Party, PaymentTerms, PricedLines, Suppliers

pytestmark = pytest.mark.gen_test
MORNING, HOUR = datetime(2026, 1, 5, 8, tzinfo=UTC), timedelta(hours=1)
# the answer to each question, with what it is asked about
UNANSWERED: dict[tuple[type[Any], str], tuple[dict[str, Any], object]] = {
    (Departments, "below"): ({"id": 7}, {7}),
    (OwnRequests, "allowed"): ({}, False),
    (Accounts, "actor_of"): ({"user_id": 7}, None),
    (Approvals, "pending"): ({"biz_type": "CONTRACT", "resource_id": "7"}, None),
    (DirectLinks, "link"): ({"user_id": 7, "kind": "approval_task", "data": {}, "at": MORNING}, None),
    (Attachments, "exist"): ({"biz_type": "LEAVE", "resource_id": "7"}, True),
    (Attachments, "keep"): ({"biz_type": "LEAVE", "resource_id": "7", "ids": ["1"]}, []),
    (Attachments, "uploaded"): ({"key": "photos/7", "user_id": 7}, True),
    (Attachments, "read"): ({"req": None, "key": "photos/7", "most": 9}, None),
    (Attachments, "attach"): ({"req": None, "key": "photos/7", "biz_type": "INVOICE", "resource_id": "7"}, None),
    (Absences, "away"): ({"user_ids": [7], "at": MORNING}, frozenset()),
    (WorkingTime, "after"): ({"start": MORNING, "duration": HOUR}, MORNING + HOUR),
    (Books, "find_open_day"): ({"day": "2026-01-05"}, "2026-01-05"),
    (Books, "find_owed"): ({"customer_id": 7}, Decimal(0)),
    (Books, "find_billed"): ({"biz_type": "SALES_ORDER", "resource_id": "7"}, BilledOrder()),
    (Customers, "find_terms"): ({"customer_id": 7}, None),
    (Customers, "find_payment_terms"): ({"customer_id": 7}, PaymentTerms()),
    (Customers, "find_party"): ({"req": None, "customer_id": 7}, Party()),
    (Customers, "find_tax"): ({"customer_id": 7}, None),
    (Customers, "find_price_lists"): ({"customer_id": 7}, ()),
    (Customers, "find_currency"): ({"customer_id": 7}, None),
    (Customers, "find_credit_excess"): ({"customer_id": 7, "requested": Decimal(9), "ordered": Decimal(9)}, None),
    (Customers, "find_contacts"): ({"req": None, "customer_ids": [7]}, {}),
    (Contracts, "draft"): ({"req": None, "values": {}}, None),
    (Contracts, "find_currency"): ({"contract_id": 7}, None),
    (Suppliers, "find_terms"): ({"supplier_id": 7}, None),
    (Suppliers, "find_payment_terms"): ({"supplier_id": 7}, PaymentTerms()),
    (Suppliers, "find_currency"): ({"supplier_id": 7}, None),
    (Suppliers, "find_party"): ({"req": None, "supplier_id": 7}, Party()),
    (Suppliers, "find_supplier"): ({"req": None, "vat_number": "91310000MA1SELLER1", "name": "Spruce"}, None),
    (PricedLines, "compute"): ({"req": None, "direction": "out", "lines": [], "terms": {}}, None),
    (PricedLines, "find_billable"): ({"req": None, "biz_type": "SALES_ORDER", "resource_id": "7"}, None),
    (PricedLines, "find_shipped"): (
        {"req": None, "biz_type": "SALES_ORDER", "resource_ids": ["7"], "until": "2026-01-05"},
        {},
    ),
    (PricedLines, "state"): ({"req": None, "lines": [{"line": 1}]}, [{"line": 1}]),
}


@pytest.mark.parametrize(("port", "question"), UNANSWERED, ids=lambda one: getattr(one, "__name__", one))
async def test_a_question_that_no_plugin_answers_has_a_stated_answer(port: type[Any], question: str) -> None:
    about, answer = UNANSWERED[port, question]
    assert await getattr(Parts()[port], question)(**about) == answer


def test_no_question_is_without_one() -> None:
    ports = [port for port in Port.__subclasses__() if port.__module__.endswith(".ports")]
    asked = {(port, name) for port in ports for name, _ in inspect.getmembers(port, inspect.isfunction)}
    assert asked == set(UNANSWERED)
