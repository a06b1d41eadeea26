"""Sales of the month: from leads to contracts, payments and deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from plugins.testing import expect
from tests.support.company_month.company import Company
from tests.support.company_month.founding import BEARING, BRACKET
from tests.support.company_month.ledger import Fact
from tests.support.company_month.recorder import Record

CRM = "/api/v1/crm"
LARGE = Decimal(100_000)
_FORM = "a-form"


@dataclass(frozen=True)
class Deal:
    """A lead that becomes a contract. Payments are days ago and amounts; so many of a product are delivered."""

    seller: str
    customer: str
    source: str
    industry: str
    level: str
    amount: str
    signed: int
    payments: tuple[tuple[int, str], ...]
    product: str
    ordered: int
    delivered: int


DEALS = (
    Deal(
        "li",
        "晨光科技",
        "website",
        "manufacturing",
        "A",
        "120000.00",
        24,
        ((20, "48000.00"), (6, "30000.00")),
        BRACKET,
        40,
        25,
    ),
    Deal("zhao", "远航物流", "referral", "logistics", "B", "60000.00", 21, ((15, "30000.00"),), BEARING, 100, 100),
    Deal("sun", "青禾农业", "exhibition", "agriculture", "B", "80000.00", 18, ((12, "20000.00"),), BRACKET, 30, 0),
    Deal(
        "wu",
        "宏图建材",
        "phone",
        "construction",
        "A",
        "150000.00",
        25,
        ((19, "75000.00"), (3, "25000.00")),
        BRACKET,
        120,
        120,
    ),
    Deal("zheng", "云帆软件", "website", "software", "C", "45000.50", 14, ((9, "45000.50"),), BEARING, 60, 60),
    Deal("feng", "海纳医疗", "advertising", "healthcare", "B", "99000.00", 10, ((5, "9900.00"),), BRACKET, 15, 15),
)
# seller, company, source and status of leads that come to nothing
LEADS = (
    ("li", "瑞丰纺织", "phone", "new"),
    ("zhao", "金桥贸易", "website", "invalid"),
    ("sun", "天工机械", "referral", "contacted"),
    ("wu", "蓝海电子", "exhibition", "qualified"),
    ("feng", "恒信咨询", "website", "new"),
)


async def sell(company: Company) -> None:
    """Everything that sellers, managers, reception and accounting do about customers before goods move."""
    for seller, name, source, status in LEADS:
        await _lead(company, seller, name, source, status)
    for deal in DEALS:
        await _close(company, deal)
        await _receive(company, deal)
    await _from_reception(company)
    await _from_manager(company)
    await _pool(company)
    await _pending(company)


async def _lead(company: Company, seller: str, name: str, source: str, status: str = "new") -> tuple[Record, Fact]:
    user = company[seller]
    lead = await user.post(
        f"{CRM}/leads", {"name": "联系人", "company": name, "source": source, "phone": "13900000000"}
    )
    fact = company.ledger.note("lead", seller, owner=seller, source=source)
    if status != "new":
        await user.patch(f"{CRM}/leads/{lead['id']}", status=status)
    return lead, fact


async def _convert(company: Company, seller: str, lead: Record, name: str, amount: str) -> tuple[Record, Fact, Fact]:
    """The opportunity that a lead becomes, and the facts of it and its customer."""
    made = await company[seller].post(f"{CRM}/leads/{lead['id']}/convert", {"opportunity": {"amount": amount}})
    customer = company.ledger.note("customer", seller, owner=seller, name=name, industry=None, level=None)
    deal = company.ledger.note(
        "opportunity", seller, owner=seller, customer=customer, stage="initial", amount=Decimal(amount)
    )
    company.ids[name] = made["customer"]["id"]
    return made["opportunity"], deal, customer


async def _close(company: Company, deal: Deal) -> None:
    """Lead, customer, visit, opportunity, contract with plans and its approval, in the order of a sale."""
    user = company[deal.seller]
    lead, came = await _lead(company, deal.seller, deal.customer, deal.source, "contacted")
    came.values["converted"] = True
    opportunity, chance, customer = await _convert(company, deal.seller, lead, deal.customer, deal.amount)
    of_customer = company.ids[deal.customer]
    customer.values |= {"industry": deal.industry, "level": deal.level}
    await user.patch(f"{CRM}/customers/{of_customer}", industry=deal.industry, level=deal.level)
    await user.post(f"{CRM}/follow-ups", {"customer_id": of_customer, "content": "上门拜访", "method": "visit"})
    await user.post(f"{CRM}/opportunities/{opportunity['id']}/advance", {"stage": "negotiation"})
    await user.post(f"{CRM}/opportunities/{opportunity['id']}/win", {"reason": "方案合适"})
    chance.values["stage"] = "won"
    contract = await _contract(company, deal.seller, deal.customer, deal.amount, company.dates.day(deal.signed))
    for number, (ago, amount) in enumerate(deal.payments):
        body = {"contract_id": contract["id"], "amount": amount, "due_date": company.dates.day(ago)}
        plan = await user.post(f"{CRM}/payment-plans", body)
        company.ids[f"plan {deal.customer} {number}"] = plan["id"]
    await user.post(f"{CRM}/contracts/{contract['id']}/submit")
    await _approve(company, deal, contract)
    read = await user.get(f"{CRM}/contracts/{contract['id']}")
    assert read["status"] == "in_force"
    company.ledger.note(
        "contract",
        deal.seller,
        owner=deal.seller,
        customer=customer,
        amount=Decimal(deal.amount),
        signed=company.dates.day(deal.signed),
    )


async def _contract(company: Company, seller: str, customer: str, amount: str, signed: str | None) -> Record:
    user = company[seller]
    body = {
        "customer_id": await user.pick("crm_customers", customer),
        "name": f"{customer}供货合同",
        "amount": amount,
        "signed_date": signed,
    }
    contract: Record = await user.post(f"{CRM}/contracts", body)
    company.ids[f"contract {customer}"] = contract["id"]
    return contract


async def _approve(company: Company, deal: Deal, contract: Record) -> None:
    """The manager decides; of large ones the legal counsel reads the plans and the signed paper, and decides too."""
    large = Decimal(deal.amount) >= LARGE
    if large:
        await _attach(company, deal.seller, contract)
    await company.decide("wang" if deal.seller in ("li", "zhao", "sun") else "zhou", contract, f"{CRM}/contracts")
    if large:
        legal = company["zhang"]
        plans = await legal.rows(f"{CRM}/payment-plans?contract_id={contract['id']}")
        assert len(plans) == len(deal.payments)
        [paper] = await legal.rows(f"/api/attachments?biz_type=CONTRACT&resource_id={contract['id']}")
        signed = await legal.get(f"/api/file/sign?object_key={paper['object_key']}")
        assert signed["url"]
        file = await legal.call("GET", f"/api/file/dl?object_key={paper['object_key']}")
        assert file.body == b"signed by both sides"
        await company.decide("zhang", contract, f"{CRM}/contracts")


async def _attach(company: Company, seller: str, contract: Record) -> None:
    form = (
        f'--{_FORM}\r\nContent-Disposition: form-data; name="file"; filename="contract.txt"\r\n\r\n'
        f"signed by both sides\r\n--{_FORM}--\r\n"
    )
    media = {"Content-Type": f"multipart/form-data; boundary={_FORM}"}
    sent = expect(await company[seller].call("POST", "/api/upload", raw=form.encode(), headers=media))
    paper = {"biz_type": "CONTRACT", "resource_id": contract["id"], "file_name": "合同.txt", "visibility": "private"}
    await company[seller].post("/api/attachments", {**paper, "object_key": sent["objectKey"]})


async def _receive(company: Company, deal: Deal) -> None:
    """The accountant enters what the customer paid."""
    accountant = company["he"]
    for number, (ago, amount) in enumerate(deal.payments):
        body = {
            "contract_id": await accountant.pick("crm_contracts", f"{deal.customer}供货合同"),
            "plan_id": company.ids[f"plan {deal.customer} {number}"],
            "amount": amount,
            "paid_at": company.dates.moment(ago, "10:30"),
            "method": "transfer",
        }
        await accountant.post(f"{CRM}/payments", body)
        [customer] = company.ledger.of("customer", name=deal.customer)
        company.ledger.note(
            "payment",
            "he",
            owner=deal.seller,
            customer=customer,
            amount=Decimal(amount),
            day=company.dates.day(ago),
        )
    shown = await company[deal.seller].rows(f"{CRM}/payments?customer_id={company.ids[deal.customer]}")
    assert len(shown) == len(deal.payments), "the seller sees what was paid"


async def _from_reception(company: Company) -> None:
    """Reception enters a call for wu, who makes a customer of it; and a walk-in as a customer of zhao."""
    kong = company["kong"]
    body = {"name": "来电", "company": "福瑞食品", "source": "phone", "owner_id": await kong.colleague("吴敏")}
    lead = await kong.post(f"{CRM}/leads", body)
    company.ledger.note("lead", "kong", owner="wu", source="phone")
    await _convert(company, "wu", lead, "福瑞食品", "26000.00")
    await kong.post(f"{CRM}/customers", {"name": "华安电力", "owner_id": await kong.colleague("赵刚"), "level": "C"})
    company.ledger.note("customer", "kong", owner="zhao", name="华安电力", industry=None, level="C")
    for manager, name in (("wang", "华安电力"), ("zhou", "福瑞食品")):
        assert name in [one["name"] for one in await company[manager].rows(f"{CRM}/customers")]


async def _from_manager(company: Company) -> None:
    """A manager gives one of their own customers to a seller, who begins a deal."""
    wang, zhao = company["wang"], company["zhao"]
    made = await wang.post(f"{CRM}/customers", {"name": "百川环保", "industry": "energy"})
    customer = company.ledger.note("customer", "wang", owner="zhao", name="百川环保", industry="energy", level=None)
    await wang.post(f"{CRM}/customers/{made['id']}/transfer", {"owner_id": await wang.colleague("赵刚")})
    deal = {"customer_id": await zhao.pick("crm_customers", "百川环保"), "name": "环保设备", "amount": "70000.00"}
    opened = await zhao.post(f"{CRM}/opportunities", deal)
    await zhao.post(f"{CRM}/opportunities/{opened['id']}/advance")
    company.ledger.note(
        "opportunity", "zhao", owner="zhao", customer=customer, stage="qualified", amount=Decimal("70000.00")
    )


async def _pool(company: Company) -> None:
    """A deal is lost, the customer goes to the pool, and a colleague takes it."""
    zheng, wu = company["zheng"], company["wu"]
    made = await zheng.post(f"{CRM}/customers", {"name": "金桥贸易", "industry": "retail", "level": "B"})
    customer = company.ledger.note("customer", "zheng", owner="wu", name="金桥贸易", industry="retail", level="B")
    deal = {"customer_id": made["id"], "name": "货架", "amount": "25000.00"}
    opened = await zheng.post(f"{CRM}/opportunities", deal)
    await zheng.post(f"{CRM}/opportunities/{opened['id']}/lose", {"reason": "价格"})
    company.ledger.note("opportunity", "zheng", owner="wu", customer=customer, stage="lost", amount=Decimal("25000.00"))
    await zheng.post(f"{CRM}/customers/{made['id']}/release")
    [found] = [one for one in await wu.rows(f"{CRM}/customers/pool") if one["name"] == "金桥贸易"]
    await wu.post(f"{CRM}/customers/{found['id']}/claim")


async def _pending(company: Company) -> None:
    """A contract that nobody has decided on at the end of the month."""
    li = company["li"]
    await li.post(f"{CRM}/customers", {"name": "盛世传媒"})
    company.ledger.note("customer", "li", owner="li", name="盛世传媒", industry=None, level=None)
    contract = await _contract(company, "li", "盛世传媒", "30000.00", None)
    await li.post(f"{CRM}/contracts/{contract['id']}/submit")
    company.ledger.note("approval", "li", others=("wang",))
