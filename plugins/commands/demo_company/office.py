"""The office of the demonstration company: deals, contracts, expenses, decisions that wait, articles."""

from __future__ import annotations

import asyncio
from typing import Any

from handlers.access.actor import Actor
from handlers.schema.values import Record
from plugins.commands.demo_company import names
from plugins.commands.demo_company.pictures import draw
from plugins.commands.demo_company.year import CRM, FINANCE, HRM, Year
from plugins.files.objects import Files
from plugins.files.receiving import Intake


async def deal(year: Year) -> None:
    """Enter deals of all stages, and the contracts that followed some of them."""
    for number, ago in enumerate(year.spread(36, 300, 2)):
        customer, seller = year.customers[number % len(year.customers)]
        amount = year.chance.randrange(20, 320) * 1000
        what = names.DEALS[number % len(names.DEALS)]
        body = {
            "customer_id": customer["id"],
            "name": f"{customer['name'].removesuffix('有限公司')} {what}",
            "amount": f"{amount}.00",
            "stage": ("initial", "qualified", "proposal", "negotiation")[number % 4],
            "expected_close_date": year.day(ago - 60),
        }
        deal = await year.send(f"POST {CRM}/opportunities", ago, body, seller)
        if ago > 40 and number % 3 == 1:
            lost = {"reason": ("价格", "交期", "客户项目取消")[number % 3]}
            await year.send(f"POST {CRM}/opportunities/{{id}}/lose", ago - 30, lost, seller, id=deal["id"])
        elif ago > 40 and number % 3 == 2:
            await year.send(f"POST {CRM}/opportunities/{{id}}/win", ago - 30, {}, seller, id=deal["id"])
            await _contract(year, customer, seller, deal, amount, ago - 28)


async def _contract(year: Year, customer: Record, seller: Actor, deal: Record, amount: int, ago: int) -> None:
    body = {
        "customer_id": customer["id"],
        "opportunity_id": deal["id"],
        "name": f"{deal['name']}合同",
        "amount": f"{amount}.00",
        "signed_date": year.day(ago),
    }
    made = await year.send(f"POST {CRM}/contracts", ago, body, seller)
    plans = [
        await year.send(
            f"POST {CRM}/payment-plans",
            ago,
            {"contract_id": made["id"], "amount": f"{amount * share // 10}.00", "due_date": year.day(ago - due)},
            seller,
        )
        for share, due in ((3, 15), (6, 60), (1, 180))
    ]
    await year.send(f"POST {CRM}/contracts/{{id}}/submit", ago, {}, seller, id=made["id"])
    await year.send(f"POST {CRM}/contracts/{{id}}/approve", ago, {}, id=made["id"])
    for plan, due in zip(plans, (15, 60, 180), strict=True):
        if ago - due > 3 and year.chance.random() < 0.9:
            paid = {"contract_id": made["id"], "plan_id": plan["id"], "amount": str(plan["amount"])}
            paid |= {"method": "transfer", "paid_at": year.at(ago - due - 2)}
            await year.send(f"POST {CRM}/payments", ago - due - 2, paid)


async def spend(year: Year) -> None:
    """Book what each month costs, and the claims of people."""
    for ago in year.spread(12, 335, 5):
        for kind, category, counterparty, amount in names.MONTHLY:
            body = {"kind": kind, "category": category, "counterparty": counterparty, "amount": amount}
            await year.send(f"POST {FINANCE}/vouchers", ago, {**body, "account_id": year.bank, "day": year.day(ago)})
    for number, ago in enumerate(year.spread(20, 330, 3)):
        claim, claimant = await _claim(year, number, ago)
        await year.send(f"POST {FINANCE}/expense-claims/{{id}}/submit", ago, {}, claimant, id=claim["id"])
        if ago > 12:
            await year.send(f"POST {FINANCE}/expense-claims/{{id}}/approve", ago - 1, {}, id=claim["id"])
            paid = {"account_id": year.bank, "day": year.day(ago - 3)}
            await year.send(f"POST {FINANCE}/expense-claims/{{id}}/pay", ago - 3, paid, id=claim["id"])


async def _claim(year: Year, number: int, ago: int) -> tuple[Record, Actor]:
    title, category, *lines = names.CLAIMS[number % len(names.CLAIMS)]
    claimant = (*year.sellers, year.people["staff"])[number % 5]
    body = {
        "title": title,
        "lines": [
            {"day": year.day(ago), "category": category, "amount": amount, "description": text}
            for text, amount in lines
        ],
    }
    return await year.send(f"POST {FINANCE}/expense-claims", ago, body, claimant), claimant


async def wait_for_decisions(year: Year) -> None:
    """Leave requests pending for the people whose log-ins the demo names."""
    sales, staff = year.people["sales"], year.people["staff"]
    mine = [customer for customer, seller in year.customers if seller is sales]
    for number, amount in enumerate(("680000.00", "1250000.00")):
        name = f"{mine[number]['name'].removesuffix('有限公司')} 年度框架合同"
        body = {"customer_id": mine[number]["id"], "name": name, "amount": amount}
        made = await year.send(f"POST {CRM}/contracts", number, body, sales)
        await year.send(f"POST {CRM}/contracts/{{id}}/submit", number, {}, sales, id=made["id"])
    for person, kind, ahead in ((staff, "personal", 6), (sales, "sick", 0)):
        reason = "处理个人事务" if ahead else "感冒"
        body = {"type": kind, **year.hours(-ahead), "reason": reason}
        made = await year.send(f"POST {HRM}/leaves", 0, body, person)
        await year.send(f"POST {HRM}/leaves/{{id}}/submit", 0, {}, person, id=made["id"])


async def publish(year: Year) -> None:
    """Publish articles with pictures."""
    author = year.people["manager"]
    categories: dict[str, Any] = {one["slug"]: one["id"] for one in await year.rows("/api/v1/cms/manage/categories")}
    for title, category, ago, summary, source in names.ARTICLES:
        body = {"title": title, "category_id": categories[category], "summary": summary}
        body |= {"format": "markdown", "source": source, "cover": await _picture(year, category, author)}
        made = await year.send("POST /api/v1/cms/manage/articles", ago, body, author)
        await year.send("POST /api/v1/cms/manage/articles/{id}/publish", ago, {}, author, id=made["id"])


async def _picture(year: Year, category: str, author: Actor) -> str | None:
    """Store a picture as an upload does; return its address."""
    files = year.service.part(Files)
    async with Intake(files, author, f"{category}.png", "image/png", "public") as intake:
        await intake.feed(await asyncio.to_thread(draw, category))
        await intake.end("public")
        stored = await intake.store()
        intake.accept()
    return files.storage.public_url(stored["id"])
