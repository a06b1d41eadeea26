"""What the demonstration company buys and sells: goods, customers, orders, invoices and payments."""

from __future__ import annotations

from decimal import Decimal

from handlers.access.actor import Actor
from handlers.schema.errors import CONFLICT, ApiError
from handlers.schema.values import Record
from plugins.commands.demo_company import names
from plugins.commands.demo_company.year import CRM, DAYS, FINANCE, STOCK, Year


async def list_what_is_traded(year: Year) -> None:
    """Create products and suppliers, and count the opening stock."""
    keys = ("sku", "name", "unit", "category", "price", "cost")
    for row in names.PRODUCTS:
        await year.send(f"POST {STOCK}/products", DAYS, dict(zip(keys, row, strict=True)))
    for code, name, contact in names.SUPPLIERS:
        await year.send(f"POST {STOCK}/suppliers", DAYS, {"code": code, "name": name, "contact": contact})
    own = {row[0] for row in names.PRODUCTS}  # the others have little stock
    year.products = [one for one in await year.rows(f"{STOCK}/products") if one["sku"] in own]
    year.suppliers = await year.rows(f"{STOCK}/suppliers")
    year.warehouses = await year.rows(f"{STOCK}/warehouses")
    year.bank = next(one["id"] for one in await year.rows(f"{FINANCE}/accounts") if one["type"] == "bank")
    for warehouse in year.warehouses:
        lines = [
            {"product_id": one["id"], "counted": str(int(110_000 / Decimal(str(one["cost"]))))} for one in year.products
        ]
        counted = {"warehouse_id": warehouse["id"], "day": year.day(DAYS), "lines": lines}
        await year.send(f"POST {STOCK}/stock-counts", DAYS, counted)


async def meet_customers(year: Year) -> None:
    """Create customers with their contacts and visits."""
    for number, (name, industry, level, address, contact, title) in enumerate(names.CUSTOMERS, 101):
        seller, ago = year.seller(number), 350 - number % 24 * 12
        body = {
            "name": name,
            "code": f"C-{number:04}",
            "industry": industry,
            "level": level,
            "source": year.chance.choice(("referral", "exhibition", "website", "phone")),
            "phone": f"0512-6{year.chance.randrange(10**7):07}",
            "address": address,
            "credit_limit": {"A": "1000000.00", "B": "500000.00", "C": "200000.00"}[level],
        }
        made = await year.send(f"POST {CRM}/customers", ago, body, seller)
        person = {"customer_id": made["id"], "name": contact, "title": title, "is_primary": True}
        person["mobile"] = f"137{number:04}{year.chance.randrange(10**4):04}"
        await year.send(f"POST {CRM}/contacts", ago, person, seller)
        year.customers.append((made, seller))
        for visit in range(3):
            content, method = names.VISITS[(number + visit) % len(names.VISITS)]
            told = {"customer_id": made["id"], "content": content, "method": method}
            await year.send(f"POST {CRM}/follow-ups", max(0, ago - 20 - visit * 60) % 90, told, seller)


def _lines(year: Year, least: int, most: int, key: str = "price") -> list[Record]:
    """Return one to four lines, each worth so many thousands at the products' prices."""
    return [
        {
            "product_id": one["id"],
            "quantity": str(int(year.chance.randrange(least, most) * 1000 / Decimal(str(one[key]))) or 1),
            "price": str(one[key]),
            "tax_rate": "0.13",
        }
        for one in year.chance.sample(year.products, year.chance.randrange(1, 5))
    ]


async def buy(year: Year) -> None:
    """Order from suppliers, receive the goods, and pay for them."""
    buyer = year.people["xu.jianguo"]
    for number, ago in enumerate(year.spread(44, DAYS - 2, 1)):
        supplier = year.suppliers[number % len(year.suppliers)]
        body = {
            "supplier_id": supplier["id"],
            "warehouse_id": year.warehouses[number % 2]["id"],
            "ordered_on": year.day(ago),
            "lines": _lines(year, 15, 60, "cost"),
        }
        order = await year.send(f"POST {STOCK}/purchase-orders", ago, body, buyer)
        if ago < 4:
            continue
        await year.send(f"POST {STOCK}/purchase-orders/{{id}}/confirm", ago, id=order["id"])
        if ago > 9:
            await year.send(f"POST {STOCK}/purchase-orders/{{id}}/receive", ago - 5, {}, buyer, id=order["id"])
        if ago > 45:
            for item in await year.rows(f"{FINANCE}/payables", resource_id=order["id"]):
                paid = {"account_id": year.bank, "amount": str(item["amount"]), "day": year.day(ago - 35)}
                await year.send(f"POST {FINANCE}/payables/{{id}}/pay", ago - 35, paid, id=item["id"])


async def sell(year: Year) -> None:
    """Sell to customers, deliver, bill, and book what they pay."""
    for number, ago in enumerate(year.spread(150, DAYS - 10)):
        customer, seller = year.customers[year.chance.randrange(len(year.customers))]
        body = {
            "customer_name": customer["name"],
            "customer_id": customer["id"],
            "salesperson_id": seller.user_id,
            "warehouse_id": year.warehouses[number % 2]["id"],
            "ordered_on": year.day(ago),
            "terms_days": 30,
            "lines": _lines(year, 4, 40),
        }
        if number % 6 == 4:
            order = await _order_quoted(year, body, seller, ago)
        else:
            order = await year.send(f"POST {STOCK}/sales-orders", ago, body, seller)
        if number % 17 == 5:
            await year.send(f"POST {STOCK}/sales-orders/{{id}}/cancel", ago, {}, seller, id=order["id"])
        elif ago > 1:
            await year.send(f"POST {STOCK}/sales-orders/{{id}}/confirm", ago, {}, seller, id=order["id"])
            if ago > 5:
                await _deliver_and_bill(year, order, customer, ago - 3, number)


async def _order_quoted(year: Year, body: Record, seller: Actor, ago: int) -> Record:
    """Quote the lines of an order a week before, and have the order made of the quotation."""
    quoted = {name: value for name, value in body.items() if name != "ordered_on"}
    quoted |= {"quoted_on": year.day(ago + 7), "valid_until": year.day(ago - 30)}
    quotation = await year.send(f"POST {STOCK}/quotations", ago + 7, quoted, seller)
    for action in ("send", "accept"):
        await year.send(f"POST {STOCK}/quotations/{{id}}/{action}", ago + 6, {}, seller, id=quotation["id"])
    return await year.send(f"POST {STOCK}/quotations/{{id}}/order", ago, {}, seller, id=quotation["id"])


async def _deliver_and_bill(year: Year, order: Record, customer: Record, ago: int, number: int) -> None:
    deliver = f"POST {STOCK}/sales-orders/{{id}}/deliver"
    try:
        await year.send(deliver, ago, {"day": year.day(ago)}, id=order["id"])
    except ApiError as error:
        if error.kind is not CONFLICT:
            raise
        return  # out of stock: the order waits
    for item in await year.rows(f"{FINANCE}/receivables", resource_id=order["id"]):
        owed = Decimal(str(item["amount"]))
        net = (owed / Decimal("1.13")).quantize(Decimal("0.01"))
        bill = {
            "direction": "out",
            "number": f"26312000{number:012}",
            "counterparty": customer["name"],
            "customer_id": customer["id"],
            "open_item_id": item["id"],
            "amount": str(net),
            "tax": str(owed - net),
            "day": year.day(ago),
            "category": "sales",
        }
        invoice = await year.send(f"POST {FINANCE}/invoices", ago, bill)
        await year.send(f"POST {FINANCE}/invoices/{{id}}/confirm", ago, {}, id=invoice["id"])
        if ago > 40 and number % 13 != 4:
            day = ago - 28 - number % 12
            paid = {"direction": "in", "account_id": year.bank, "customer_id": customer["id"]}
            paid |= {"amount": str(item["amount"]), "day": year.day(day), "method": "transfer"}
            paid["allocations"] = [{"open_item_id": item["id"], "amount": str(item["amount"])}]
            await year.send(f"POST {FINANCE}/payments", day, paid)
