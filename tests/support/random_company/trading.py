"""Buying, selling, and what happens to the goods."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from plugins.testing import expect
from tests.support.random_company.arithmetic import ZERO, cents, price, value
from tests.support.random_company.goods import unfinished
from tests.support.random_company.model import Company
from tests.support.random_company.office import INVENTORY, Office, Person
from tests.support.random_company.steps import Outcome, Record, Step, amounts

_ORDERS = {True: "purchase-orders", False: "sales-orders"}
_SHIPMENTS = {True: "receipts", False: "deliveries"}
_RETURNS = {True: "purchase-returns", False: "sales-returns"}
_NAMES = {True: "receipt", False: "delivery"}
_ACTIONS = {True: "receive", False: "deliver"}
_SMALLEST = Decimal("0.0001")
_INSTALMENTS = [{"percent": "30", "days": 0}, {"percent": "70", "days": 45}]
_STALE = 40902
Body = dict[str, Any]


def text(amount: Decimal) -> str:
    return format(amount, "f")


def order(office: Office, person: Person, incoming: bool) -> Step:
    """Order some goods, some of a quotation: one person drafts, another confirms."""
    chance, lines = office.chance, _draw_lines(office, incoming)
    with_tax, freight = chance.random() < 0.5, Decimal(chance.choice((0, 0, 1550))).scaleb(-2)
    worth = sum((value(line, line["quantity"]) for line in lines), ZERO)
    discount = min(Decimal(chance.choice((0, 0, chance.randint(1, 900)))).scaleb(-2), worth)
    contracts = [key for key, item in office.model.items.items() if item["is_contract"] and not item["ended"]]
    contract = chance.choice(contracts) if contracts and not incoming and chance.random() < 0.2 else None
    customer = chance.choice(office.customers)
    if contract is not None:
        customer = next(one for one in office.customers if one["id"] == office.model.items[contract]["party"])
    quoted = not incoming and contract is None and chance.random() < 0.15
    supplier, day = chance.choice(office.suppliers), office.today.isoformat() if quoted else office.day()
    if quoted:  # a quotation agrees on no tolerance
        lines = [{**line, "tolerance": ZERO} for line in lines]
    party = (
        {"supplier_id": supplier}
        if incoming
        else {"customer_name": customer["name"], "customer_id": customer["id"]}
        | ({"contract_id": contract} if contract else {})
    )
    named = {"product": "product_id", "rate": "tax_rate"}
    body = {
        **party,
        "warehouse_id": chance.choice(office.places),
        "lines": [
            {
                named.get(name, name): one if name == "product" else text(one)
                for name, one in line.items()
                if one != ZERO
            }
            for line in lines
        ],
        "instalments": chance.choice((None, None, _INSTALMENTS)),
        "prices_include_tax": with_tax,
        "order_discount": text(discount),
        "freight": text(freight),
    }

    async def send() -> Outcome:
        at = f"{INVENTORY}/{_ORDERS[incoming]}"
        if quoted:
            offered = f"{INVENTORY}/quotations/{expect(await person.post(f'{INVENTORY}/quotations', body))['id']}"
            expect(await person.post(f"{offered}/send"))
            draft = expect(await person.post(f"{offered}/order"))
        else:
            draft = expect(await person.post(at, {**body, "ordered_on": day}))
        reply = await office.other(person).post(f"{at}/{draft['id']}/confirm")
        return Outcome(reply, [expect(reply)])

    def apply(model: Company, made: Record) -> Mapping[str, Any]:
        priced = price(lines, with_tax, discount)
        owes = {
            "owes": contract is None,
            "party": supplier if incoming else customer["id"],
            "place": made["warehouse_id"],
        }
        shipped = {"shipments": (), "state": "open", "month": day[:7], "freight": freight, "lines": priced}
        shipped |= {"with_tax": with_tax, "quoted": quoted}
        model.orders[made["id"]] = {**shipped, **owes, "incoming": incoming}
        model.owe_order(made["id"], day)
        return {"amount": sum((line["amount"] for line in priced), freight), "lines": [one["amount"] for one in priced]}

    def seen(made: Record) -> Mapping[str, Any]:
        return {"amount": Decimal(made["amount"]), "lines": [Decimal(line["amount"]) for line in made["lines"]]}

    return Step("purchase order" if incoming else "sales order", send, apply, seen)


def _draw_lines(office: Office, incoming: bool) -> list[dict[str, Any]]:
    chance = office.chance
    return [
        {
            "product": product,
            "quantity": Decimal(chance.randint(10, 4000 if incoming else 3000)).scaleb(-chance.choice((1, 2, 3))) + 1,
            "price": Decimal(chance.randint(50, 20000)).scaleb(-2),
            "discount": Decimal(chance.choice((0, 0, 5, 12))).scaleb(-2),
            "rate": Decimal(chance.choice((0, 6, 13))).scaleb(-2),
            "tolerance": Decimal(chance.choice((0, 0, 10))).scaleb(-2),
        }
        for product in chance.sample(office.products, chance.randint(1, 3))
    ]


def revise(office: Office, person: Person, incoming: bool) -> Step | None:
    """Order another quantity of a line, and at times another price; less only where no draft of an invoice can know of it.

    Of two who revise purchases one would wait for the other, so only one does. More than was quoted is not ordered.
    """
    chance, model = office.chance, office.model
    mine = {key: one for key, one in model.orders.items() if one["incoming"] == incoming and not one["quoted"]}
    waiting = [key for key, one in mine.items() if _open(one)]
    if not waiting or (incoming and person is not office.people[0]):
        return None
    key = chance.choice(waiting[-12:])
    number, line = chance.choice([*enumerate(model.orders[key]["lines"], 1)])
    by = Decimal(chance.randint(1, 150) if model.orders[key]["owes"] else chance.randint(-150, 150) or 1).scaleb(-1)
    quantity = max(line["quantity"] + by, Decimal(1))
    dearer = Decimal(chance.choice((0, 0, 0, 130))).scaleb(-2)
    at = f"{INVENTORY}/{_ORDERS[incoming]}/{key}"
    change = {"line": number, "quantity": text(quantity), "price": text(line["price"] + dearer)}

    async def send() -> Outcome:
        while True:
            found = await person.get(at)
            lines = [change if one["line"] == number else {"line": one["line"]} for one in found["lines"]]
            body = {"version": found["version"], "reason": "random", "lines": lines}
            reply = await person.post(f"{at}/revise", body)
            if reply.code == _STALE:
                continue
            if reply.code or reply.data.get("status") != "draft":
                return Outcome(reply, [reply.data])
            made = f"{INVENTORY}/purchase-order-revisions/{reply.data['id']}"
            reply = await office.other(person).post(f"{made}/confirm")
            if not reply.code:
                return Outcome(reply, [reply.data])
            await person.post(f"{made}/cancel")  # the order has changed meanwhile, or ended and the revision with it

    def apply(model: Company, _: Record) -> Mapping[str, Any]:
        return model.revise(key, line["product"], quantity, line["price"] + dearer, office.today.isoformat())

    return Step("revision of an order", send, apply, lambda made: amounts(made, "amount"))


def ship(office: Office, person: Person, incoming: bool) -> Step | None:
    """Receive or deliver all that is open of an order, or a part of it; sometimes more than there is."""
    chance, model = office.chance, office.model
    waiting = [key for key, one in model.orders.items() if one["incoming"] == incoming and _open(one)]
    if not waiting:
        return None
    key = chance.choice(waiting[-12:])
    lines = {line["product"]: line for line in model.orders[key]["lines"] if unfinished(line)}
    wanted = _choose(office, {id: unfinished(line) for id, line in lines.items()}, too_many=0.03)
    complete = chance.random() < 0.2
    if complete or chance.random() < 0.2:  # by about the tolerance too few, or too many
        wanted = {id: unfinished(lines[id]) for id in wanted}
        by = (lines[id]["quantity"] * chance.choice((8, 10, 11)) / 100 for id in wanted)
        wanted = {
            id: max((left - less if complete else left + less).quantize(_SMALLEST), _SMALLEST)
            for (id, left), less in zip(wanted.items(), by, strict=True)
        }
    day, place = office.day(), model.orders[key]["place"]
    at = f"{INVENTORY}/{_ORDERS[incoming]}/{key}/{_ACTIONS[incoming]}"

    async def send() -> Outcome:
        body = [{**line, "complete": complete} for line in _lines(wanted)]
        reply = await person.post(at, {"day": day, "lines": body})
        if reply.code:
            return Outcome(reply)
        shipments = await person.every(f"{INVENTORY}/{_SHIPMENTS[incoming]}?order_id={key}")
        known = office.model.shipments
        return Outcome(reply, [one for one in shipments if one["id"] not in known and one["day"] == day])

    def apply(model: Company, made: Record) -> Mapping[str, Any]:
        if made["id"] in model.shipments:  # that of somebody else who shipped the same order
            return {"taken": True}
        return model.ship(made["id"], key, place, wanted, day, complete)

    return Step(_NAMES[incoming], send, apply, see_moved)


def give_back(office: Office, person: Person, incoming: bool) -> Step | None:
    """Return some goods of a receipt or delivery: with or without refund, into stock or written off."""
    chance, model = office.chance, office.model
    live = [key for key, one in model.shipments.items() if one["live"] and _incoming(model, one) == incoming]
    if not live:
        return None
    key = chance.choice(live[-30:])
    left = {id: one["quantity"] - one["back"][0] for id, one in model.shipments[key]["lines"].items()}
    left = {id: quantity for id, quantity in left.items() if quantity} or dict.fromkeys(left, Decimal(1))
    wanted = _choose(office, left, too_many=0.1)
    refund, restock = chance.random() < 0.7, incoming or chance.random() < 0.7
    day = office.day(model.shipments[key]["day"])
    body = {"lines": _lines(wanted), "day": day, "refund": refund, "reason": "random"}

    async def send() -> Outcome:
        given = body if incoming else {**body, "restock": restock}
        reply = await person.post(f"{INVENTORY}/{_SHIPMENTS[incoming]}/{key}/returns", given)
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Mapping[str, Any]:
        return model.give_back(made["id"], key, wanted, day, refund, restock)

    return Step("purchase return" if incoming else "sales return", send, apply, see_moved)


def reverse_shipment(office: Office, person: Person, key: str) -> Step:
    incoming = _incoming(office.model, office.model.shipments[key])
    day = office.day(office.model.shipments[key]["day"])

    async def send() -> Outcome:
        at = f"{INVENTORY}/{_SHIPMENTS[incoming]}/{key}/reverse"
        reply = await person.post(at, {"day": day, "reason": "random"})
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Mapping[str, Any]:
        return model.give_back(made["id"], key, None, day, refund=True, restock=True)

    return Step(f"reversal of a {_NAMES[incoming]}", send, apply, see_moved)


def reverse_return(office: Office, person: Person, key: str) -> Step:
    made = office.model.returns[key]
    incoming = _incoming(office.model, office.model.shipments[made["of"]])
    day = office.day(made["day"])

    async def send() -> Outcome:
        reply = await person.post(f"{INVENTORY}/{_RETURNS[incoming]}/{key}/reverse", {"day": day})
        return Outcome(reply, [reply.data])

    return Step(
        f"reversal of a {'purchase' if incoming else 'sales'} return",
        send,
        lambda model, _: model.undo_return(key, day),
        lambda one: amounts(one, "amount") | {line["product_id"]: Decimal(line["cost"]) for line in one["lines"]},
    )


def end_order(office: Office, person: Person, key: str) -> Step:
    """Close an order that is shipped in part, or cancel one of which nothing is."""
    order = office.model.orders[key]
    action = "close" if any(line["done"] for line in order["lines"]) else "cancel"

    async def send() -> Outcome:
        reply = await person.post(f"{INVENTORY}/{_ORDERS[order['incoming']]}/{key}/{action}")
        return Outcome(reply, [reply.data])

    def apply(model: Company, _: Record) -> Mapping[str, Any]:
        return model.end_order(key, action, office.today.isoformat())

    return Step(f"{action} of an order", send, apply)


def transfer(office: Office, person: Person) -> Step:
    """Move goods from one warehouse to the other."""
    product = office.chance.choice(office.products)
    source, target = office.chance.sample(office.places, 2)
    held = office.model.stock.get((product, source), (ZERO, ZERO))[0]
    quantity = min(held, Decimal(office.chance.randint(1, 900)).scaleb(-1)) or Decimal(1)
    line = {"product_id": product, "quantity": text(quantity)}
    body = {"from_warehouse_id": source, "to_warehouse_id": target, "lines": [line], "day": office.day()}

    async def send() -> Outcome:
        reply = await person.post(f"{INVENTORY}/transfers", body)
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Mapping[str, Any]:
        rows = ((product, source, -quantity, None), (product, target, quantity, None))
        return {"cost": -model.move(made["id"], "transfers", rows, body["day"])["values"][0]}

    return Step("transfer", send, apply, lambda made: amounts(made, "cost"))


def count(office: Office, person: Person) -> Step:
    """Count a product in a warehouse: a little more or less than the books say."""
    product, place = office.chance.choice(office.products), office.chance.choice(office.places)
    held = office.model.stock.get((product, place), (ZERO, ZERO))[0]
    return counted(office, person, product, place, max(held + Decimal(office.chance.randint(-50, 50)).scaleb(-1), ZERO))


def counted(office: Office, person: Person, product: str, place: str, counted: Decimal, day: str | None = None) -> Step:
    """Enter what was counted of a product in a warehouse."""
    line = {"product_id": product, "counted": text(counted), "cost": "7.31"}
    body = {"warehouse_id": place, "lines": [line], "day": day or office.day()}

    async def send() -> Outcome:
        reply = await person.post(f"{INVENTORY}/stock-counts", body)
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Mapping[str, Any]:
        found = counted - model.stock.get((product, place), (ZERO, ZERO))[0]
        rows = ((product, place, found, cents(Fraction(found * Decimal("7.31"))) if found > 0 else None),)
        value = sum(model.move(made["id"], "stock-counts", rows, body["day"])["values"], ZERO)
        return {"value": value, "difference": found}

    def seen(made: Record) -> Mapping[str, Any]:
        return amounts(made, "value") | amounts(made["lines"][0], "difference")

    return Step("stock count", send, apply, seen)


def reverse_move(office: Office, person: Person, key: str) -> Step:
    """Reverse a transfer or a count: what came goes, at what it was worth, then what went comes back."""
    move = office.model.moves[key]
    rows = [(product, place, -quantity, abs(value)) for product, place, quantity, value in reversed(move["rows"])]
    day, at = office.day(move["day"]), move["at"]

    async def send() -> Outcome:
        reply = await person.post(f"{INVENTORY}/{at}/{key}/reverse", {"day": day})
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Mapping[str, Any]:
        # a transfer brings back what it could take out
        back = [(*row[:3], None) if row[2] > 0 and at == "transfers" else row for row in rows]
        values = model.move(made["id"], at, back, day, undo=key)["values"]
        return {"cost": -values[0]} if at == "transfers" else {"value": sum(values, ZERO)}

    return Step(f"reversal of {at}", send, apply, lambda made: amounts(made, "cost" if at == "transfers" else "value"))


def see_moved(made: Record) -> Mapping[str, Any]:
    """What a shipment or return shows."""
    lines = {
        line["product_id"]: (Decimal(line["quantity"]), Decimal(line["amount"]), Decimal(line["cost"]))
        for line in made["lines"]
    }
    return {"amount": Decimal(made["amount"]), **lines}


def _open(order: Mapping[str, Any]) -> bool:
    return order["state"] == "open" and any(map(unfinished, order["lines"]))


def _incoming(model: Company, shipment: Mapping[str, Any]) -> bool:
    return bool(model.orders[shipment["order"]]["incoming"])


def _choose(office: Office, left: Mapping[str, Decimal], too_many: float) -> dict[str, Decimal]:
    """Some of what is left, of one product or several; sometimes more than that."""
    chance = office.chance
    chosen = chance.sample(sorted(left), chance.randint(1, len(left)))
    if chance.random() < too_many:
        return {id: left[id] + 1 for id in chosen}
    if chance.random() < 0.5:
        return {id: left[id] for id in chosen}
    return {id: max((left[id] * chance.randint(1, 99) / 100).quantize(_SMALLEST), _SMALLEST) for id in chosen}


def _lines(wanted: Mapping[str, Decimal]) -> list[Body]:
    return [{"product_id": id, "quantity": text(quantity)} for id, quantity in wanted.items()]
