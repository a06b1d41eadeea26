"""The data of the thirteen dashboards: a company with years of trade, staff, stock and books.

Documents are inserted directly into MongoDB, as the service would have stored them, without indexes; those are built
afterwards.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bson import Decimal128, ObjectId
from pymongo import MongoClient
from pymongo.database import Database

from handlers.data.visible.responsible import new_fields
from plugins.approval.records import INSTANCES
from plugins.crm.contract_records import CONTRACTS, PAYMENTS
from plugins.crm.ownership import build_sharing
from plugins.crm.records import LEADS, OPPORTUNITIES
from plugins.finance.records import VOUCHERS
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.records import EMPLOYEES
from plugins.inventory.order_records import PURCHASE_ORDERS, SALES_ORDERS
from plugins.inventory.records import STOCK, WAREHOUSES
from tests.experiments.benchmark.servers import DATABASE
from tests.experiments.benchmark.world import audited, batches, make_payments, make_world, unindexed

WAREHOUSE_COUNT = 20
ATTENDED_DAYS = 120
Row = dict[str, Any]
Owner = tuple[ObjectId, int, int]  # a customer, its creator, and their department


def make_company(port: int, uri: str, admin_password: str, customers: int, payments: int) -> Row:
    """Fill a new database, and return what later runs need to know."""
    world = make_world(port, uri, admin_password, customers, 0)
    with MongoClient[Row](uri) as client:
        database = client[DATABASE]
        named = database.crm_customers.find({}, ["creator_id", "creator_department_id"])
        owners = [(one["_id"], one["creator_id"], one["creator_department_id"]) for one in named]
        with unindexed(database, PAYMENTS.name):
            make_payments(database, owners, payments)
        _Company(database, owners).fill()
    return world | {"payments": payments}


class _Company:
    """Records of three years, whose numbers are in proportion to the customers."""

    def __init__(self, database: Database[Row], owners: list[Owner]) -> None:
        self._database, self._owners, self._count = database, owners, len(owners)
        self._draw, self._now = random.Random(13), datetime.now(UTC).replace(microsecond=0)
        self._warehouses = [ObjectId() for _ in range(WAREHOUSE_COUNT)]

    def fill(self) -> None:
        """Insert all records."""
        sizes: Mapping[str, tuple[int, Callable[[int], Row]]] = {
            CONTRACTS.name: (self._count, self._contract),
            OPPORTUNITIES.name: (self._count, self._opportunity),
            LEADS.name: (self._count // 2, self._lead),
            INSTANCES.name: (self._count // 10, self._approval),
            VOUCHERS.name: (self._count, self._voucher),
            SALES_ORDERS.name: (self._count, lambda number: self._order(number, "SO", "delivered")),
            PURCHASE_ORDERS.name: (self._count // 4, lambda number: self._order(number, "PO", "received")),
            WAREHOUSES.name: (WAREHOUSE_COUNT, self._warehouse),
            STOCK.name: (self._count // 2, self._stock),
        }
        for name, (count, make) in sizes.items():
            self._insert(name, count, make)
        self._staff()

    def _insert(self, name: str, count: int, make: Callable[[int], Row]) -> None:
        with unindexed(self._database, name):
            for numbers in batches(count):
                self._database[name].insert_many([make(number) for number in numbers], ordered=False)

    def _of_customer(self, of: int, /, **values: Any) -> Row:
        customer, creator, department = self._owners[of % self._count]
        at = self._moment()
        return {
            "_id": ObjectId(),
            "customer_id": customer,
            "owner_id": creator,
            **values,
            **build_sharing(creator, (), creator),
            **new_fields(department, department),
            **audited(creator, department, at),
        }

    def _own(self, of: int, /, **values: Any) -> Row:
        _, creator, department = self._owners[of % self._count]
        return {"_id": ObjectId(), **values, **audited(creator, department, self._moment())}

    def _contract(self, number: int) -> Row:
        status = self._draw.choices(("in_force", "completed", "draft", "pending", "terminated"), (50, 35, 8, 4, 3))[0]
        return self._of_customer(
            number,
            number=f"HT-{number:07}",
            name=f"合同 {number}",
            amount=self._amount(),
            signed_date=self._day(),
            status=status,
            opportunity_id=None,
            received_amount=Decimal128("0.00"),
            planned_amount=Decimal128("0.00"),
            **CONTRACTS.derived({"number": f"HT-{number:07}"}),
        )

    def _opportunity(self, number: int) -> Row:
        stage = self._draw.choice(("initial", "qualified", "proposal", "negotiation", "won", "lost"))
        return self._of_customer(
            number,
            name=f"商机 {number}",
            amount=self._amount(),
            stage=stage,
            probability=50,
            stage_history=[],
            expected_close_date=self._day(),
            source="referral",
            **OPPORTUNITIES.derived({"name": str(number)}),
        )

    def _lead(self, number: int) -> Row:
        source = self._draw.choice(("website", "referral", "exhibition", "phone", "advertisement", None))
        return self._of_customer(
            number,
            name=f"线索 {number}",
            company=f"公司 {number}",
            source=source,
            status="new",
            phone=f"139{number:08}",
            **LEADS.derived({"name": str(number)}),
        )

    def _approval(self, number: int) -> Row:
        status = "pending" if number % 20 == 0 else "approved"
        return self._own(
            number,
            title=f"请假 {number}",
            definition_id=ObjectId(),
            record={},
            biz_type="LEAVE",
            resource_id=str(ObjectId()),
            status=status,
            initiator_id=self._owners[number][1],
            nodes=[],
            tasks=[],
            history=[],
            copied=[],
            todo=[],
            done=[],
            shared_with=[],
            **INSTANCES.derived({"title": str(number)}),
        )

    def _voucher(self, number: int) -> Row:
        kind = self._draw.choices(("expense", "income", "transfer"), (6, 3, 1))[0]
        return self._own(
            number,
            number=f"V-{number:07}",
            kind=kind,
            account_id=self._warehouses[number % 7],
            to_account_id=None,
            amount=self._amount(),
            day=self._day(),
            category="office",
            counterparty="晨光科技",
            reverses_id=None,
            reversed_by_id=None,
            **VOUCHERS.derived({"number": str(number)}),
        )

    def _order(self, number: int, prefix: str, done: str) -> Row:
        lines: list[Row] = [
            {
                "product_id": ObjectId(),
                "quantity": Decimal128("2.0000"),
                "price": self._amount(),
                "discount": None,
                "amount": self._amount(),
                done: Decimal128("1.0000"),
            }
            for _ in range(3)
        ]
        finished = {"delivered": "delivered", "received": "received"}[done]
        status = self._draw.choices((finished, "closed", "draft", "cancelled"), (80, 5, 10, 5))[0]
        amount = sum((line["amount"].to_decimal() for line in lines), start=Decimal128("0").to_decimal())
        return self._own(
            number,
            number=f"{prefix}-{number:08}",
            ordered_on=self._day(),
            lines=lines,
            amount=Decimal128(amount),
            status=status,
            warehouse_id=self._warehouses[number % WAREHOUSE_COUNT],
            customer_name="晨光科技",
            **SALES_ORDERS.derived({"number": f"{prefix}-{number:08}"}),
        )

    def _warehouse(self, number: int) -> Row:
        return self._own(
            number,
            code=f"WH-{number:02}",
            name=f"仓库 {number:02}",
            status="enabled",
            **WAREHOUSES.derived({"code": f"WH-{number:02}"}),
        ) | {"_id": self._warehouses[number]}

    def _stock(self, number: int) -> Row:
        _, creator, department = self._owners[0]
        return self._own(
            number,
            product_id=ObjectId(),
            warehouse_id=self._warehouses[number % WAREHOUSE_COUNT],
            quantity=Decimal128("25.0000"),
            value=self._amount(),
            average_cost=Decimal128("10.00"),
            warehouse_creator_id=creator,
            warehouse_department_id=department,
        )

    def _staff(self) -> None:
        people = [self._employee(number) for number in range(max(self._count // 40, 10))]
        self._insert(EMPLOYEES.name, len(people), people.__getitem__)
        days = itertools.product(people, range(ATTENDED_DAYS))
        self._insert(DAYS.name, len(people) * ATTENDED_DAYS, lambda _: self._attended(*next(days)))

    def _employee(self, number: int) -> Row:
        hired, left = self._day(), None
        if number % 5 == 0:
            left = (self._now - timedelta(days=self._draw.randrange(300))).date().isoformat()
            hired = min(hired, left)
        return self._own(
            number,
            number=f"E-{number:06}",
            name=f"员工 {number}",
            user_id=None,
            position_id=None,
            hired_on=hired,
            left_on=left,
            department_id=self._owners[number][2],
            attendance_group_id=None,
            attends_from=None,
            shared_with=[],
            **EMPLOYEES.derived({"number": f"E-{number:06}"}),
        )

    def _attended(self, employee: Row, back: int) -> Row:
        status, late = self._draw.choices(
            (("normal", 0), ("late", 12), ("missed", 0), ("absent", 0), ("rest", 0)), (80, 8, 3, 1, 8)
        )[0]
        day = (self._now - timedelta(days=back)).date().isoformat()
        return self._own(
            0,
            employee_id=employee["_id"],
            employee_name=employee["name"],
            user_id=None,
            day=day,
            status=status,
            department_id=employee["department_id"],
            arrived_at=self._now,
            departed_at=self._now,
            late_minutes=late,
            early_minutes=0,
            settles_at=None,
        )

    def _moment(self) -> datetime:
        return self._now - timedelta(seconds=self._draw.randrange(3 * 365 * 86_400))

    def _day(self) -> str:
        return self._moment().date().isoformat()

    def _amount(self) -> Decimal128:
        return Decimal128(f"{self._draw.randrange(100, 9_999_999) / 100:.2f}")
