"""Demonstration data: what the people of the demo company would have entered over the last year."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from plugins.api import Actor, Collection, Record, Service, utc_now
from plugins.api.records import Demonstration
from plugins.api.values import ReadOnlyRecord, Typed
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.record_types import Customer
from plugins.crm.records import CONTACTS, CUSTOMERS, FOLLOW_UPS, LEADS, OPPORTUNITIES
from plugins.rbac.api import people_of_the_demo

_NAMES = (
    "晨光科技",
    "远航物流",
    "青禾农业",
    "宏图建材",
    "云帆软件",
    "海纳医疗",
    "瑞丰纺织",
    "金桥贸易",
    "天工机械",
    "蓝海电子",
    "恒信咨询",
    "福瑞食品",
    "华安电力",
    "百川环保",
    "鼎盛地产",
    "启明教育",
    "Northern Light Ltd",
    "Harbour Foods",
    "盛世传媒",
    "新源能源",
)
_INDUSTRIES = (
    "manufacturing",
    "logistics",
    "agriculture",
    "construction",
    "software",
    "healthcare",
    "retail",
    "energy",
)
_LEVELS = ("A", "B", "C")
_SOURCES = ("referral", "website", "exhibition", "phone")
_CONTACTS = ("王芳", "李娜", "张伟", "刘洋", "陈静")
_STAGES = ("initial", "qualified", "proposal", "negotiation")
_LEADS = (("website", 5), ("referral", 3), ("exhibition", 4), ("phone", 2), ("advertising", 2))
_CITIES = {"website": "苏州", "referral": "无锡", "exhibition": "宁波", "phone": "东莞", "advertising": "佛山"}
_TRADES = ("精密机械", "自动化设备", "电子科技", "五金制品", "包装材料")
_MONTHS = 12


async def load(service: Service) -> None:
    """Create twenty customers with their records, in one transaction."""
    people = await people_of_the_demo(service)
    if people:
        await service.database.transaction(_Demo(service, people).load)


class _Demo:
    """Enters records through the plugin's own handlers, at times in the past."""

    def __init__(self, service: Service, people: Mapping[str, Actor]) -> None:
        self._demo, self._boss = Demonstration(service), people["admin"]
        self._people = [people[name] for name in ("sales", "manager", "staff")]
        self._today = utc_now()

    async def load(self) -> None:
        """Create customers first, then their records."""
        made = [await self._create_customer(number, name) for number, name in enumerate(_NAMES)]
        for number, customer in enumerate(made):
            await self._create_records(number, customer)
        for number in range(_MONTHS + 4):
            await self._create_contract(number, made[number % len(made)])
        await self._create_drafts(made[0])
        for source, count in _LEADS:
            for number in range(count):
                await self._create_lead(number, source)

    async def _create_customer(self, number: int, name: str) -> Customer:
        body = {
            "name": name,
            "code": f"C-{number + 1:04}",
            "industry": _INDUSTRIES[number % len(_INDUSTRIES)],
            "level": _LEVELS[number % len(_LEVELS)],
            "source": _SOURCES[number % len(_SOURCES)],
            "phone": f"021-5555 {number + 100:04}",
            "location": {"lng": 121.40 + number % 5 / 50, "lat": 31.18 + number // 5 / 50},
        }
        return await self._create(CUSTOMERS, body, number, days_ago=380 - number * 7)

    async def _create_records(self, number: int, customer: Customer) -> None:
        of = {"customer_id": customer["id"]}
        contact = {**of, "name": _CONTACTS[number % len(_CONTACTS)], "mobile": f"138{number:08}", "is_primary": True}
        await self._create(CONTACTS, contact, number, days_ago=200)
        at = customer["location"]
        position = at and {**at, "lat": at["lat"] + 0.001}
        visit = {**of, "content": "上门拜访，了解年度采购计划", "method": "visit", "position": position}
        await self._create(FOLLOW_UPS, visit, number, days_ago=number)
        deal = {
            **of,
            "name": f"{customer['name']}年度采购",
            "amount": f"{30_000 + number * 7_500}.00",
            "stage": _STAGES[number % len(_STAGES)],
        }
        opened = await self._create(OPPORTUNITIES, deal, number, days_ago=90 - number)
        if number % 5 == 3:
            await self._act(OPPORTUNITIES, "win", opened, {}, number, days_ago=20)
        elif number % 5 == 4:
            await self._act(OPPORTUNITIES, "lose", opened, {"reason": "价格"}, number, days_ago=15)

    async def _create_contract(self, number: int, customer: Customer) -> None:
        days_ago = number % _MONTHS * 30 + 6 + number // _MONTHS
        amount = 20_000 + number * 5_000
        body = {"customer_id": customer["id"], "name": f"{customer['name']}供货合同", "amount": f"{amount}.00"}
        contract = await self._create(CONTRACTS, body, number, days_ago)
        plans = []
        for due in (days_ago - 10, days_ago - 100):
            day = (self._today - timedelta(days=due)).date().isoformat()
            planned = {"contract_id": contract["id"], "amount": f"{amount // 2}.00", "due_date": day}
            plans.append(await self._create(PLANS, planned, number, days_ago))
        await self._act(CONTRACTS, "submit", contract, {}, number, days_ago)
        await self._act(CONTRACTS, "approve", contract, {}, None, days_ago)
        for plan, paid_days_ago in ((plans[0], max(days_ago - 12, number % 5)), (plans[1], number * 2)):
            if plan is plans[0] or number % 3:
                paid = {
                    "contract_id": contract["id"],
                    "plan_id": plan["id"],
                    "amount": f"{amount // 2}.00",
                    "method": "transfer",
                }
                await self._create(PAYMENTS, paid, number, paid_days_ago)

    async def _create_drafts(self, customer: Customer) -> None:
        for name, submitted in (("框架协议（草稿）", False), ("服务合同（待审批）", True)):
            body = {"customer_id": customer["id"], "name": name, "amount": "66000.00"}
            contract = await self._create(CONTRACTS, body, 0, days_ago=2)
            if submitted:
                await self._act(CONTRACTS, "submit", contract, {}, 0, days_ago=1)

    async def _create_lead(self, number: int, source: str) -> None:
        status = ("new", "contacted", "qualified", "invalid")[number % 4]
        body = {
            "name": _CONTACTS[number],
            "company": f"{_CITIES[source]}{_TRADES[number]}有限公司",
            "source": source,
            "status": status,
        }
        await self._create(LEADS, body, number, days_ago=number * 6)

    async def _create(self, collection: Collection[Typed], body: Record, person: int, days_ago: int) -> Typed:
        """Create a record as this person would have done `days_ago` days ago."""
        return await self._demo.create(collection, body, self._people[person % 3], self._at(days_ago, person))

    async def _act(
        self,
        collection: Collection,
        action: str,
        record: ReadOnlyRecord,
        body: Record,
        person: int | None,
        days_ago: int,
    ) -> None:
        """Perform an action on a record. `person` None is the boss, because nobody may approve their own requests."""
        actor = self._boss if person is None else self._people[person % 3]
        await self._demo.act(collection, action, record, actor, self._at(days_ago, person or 0), body)

    def _at(self, days_ago: int, person: int) -> datetime:
        return self._today - timedelta(days=days_ago, hours=person % 3)
