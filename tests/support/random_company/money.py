"""Invoices, payments, contracts, claims and vouchers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.testing import expect, unique
from tests.support.random_company.arithmetic import ZERO, least_from
from tests.support.random_company.goods import ensure
from tests.support.random_company.model import Company
from tests.support.random_company.office import CRM, FINANCE, Office, Person
from tests.support.random_company.steps import Outcome, Record, Step, amounts

Row = Mapping[str, Any]
_SIDES = {"in": "out", "out": "in"}  # the direction of payments that settle items


def amount_of(office: Office, least: int = 100, most: int = 300000) -> Decimal:
    return Decimal(office.chance.randint(least, most)).scaleb(-2)


def invoice(office: Office, person: Person) -> Step:
    """Enter an invoice and confirm it; some bill what is owed already."""
    chance, model = office.chance, office.model
    direction = chance.choice(("in", "out"))
    billable = [key for key, one in model.items.items() if _is_billable(model, key, one, direction)]
    bills = chance.choice(billable) if billable and chance.random() < 0.3 else None
    net, tax, day = amount_of(office), amount_of(office, 0, 2000), office.day()
    if bills:  # at times more than is open
        net = (
            (model.items[bills]["document"] + model.count_shipped(bills)[0]) * chance.randint(10, 105) / 100
        ).quantize(Decimal("0.01")) + 1
        tax = Decimal(chance.choice((0, 5))).scaleb(-2)
    customer, supplier = chance.choice(office.customers)["id"], chance.choice(office.suppliers)
    party = supplier if direction == "in" else customer
    named = {"supplier_id": party} if direction == "in" else {"customer_id": party}
    body = {
        **({"direction": direction, "number": unique("INV"), "counterparty": "c", **named}),
        **{"amount": str(net), "tax": str(tax), "day": day, "due_on": office.day(day)},
    }

    async def send() -> Outcome:
        item = await find_item(office, person, bills) if bills else None
        of = {} if item is None else {"open_item_id": item, "customer_id": None, "supplier_id": None}
        draft = expect(await person.post(f"{FINANCE}/invoices", {**body, **of}))
        reply = await person.post(f"{FINANCE}/invoices/{draft['id']}/confirm")
        return Outcome(reply, [] if reply.code else [reply.data])

    def apply(model: Company, made: Record) -> Row:
        return model.invoice(made["id"], direction, party, net, tax, day, bills)

    return Step("invoice", send, apply, lambda made: amounts(made, "total"))


def _is_billable(model: Company, key: str, item: Row, direction: str) -> bool:
    billable = item["party"] is not None and key not in model.invoices and "opened" not in item
    return billable and item["direction"] == direction


async def find_item(office: Office, person: Person, key: str) -> str:
    """The id of the open item of a document."""
    if key in office.item_ids:
        return office.item_ids[key]
    for what in ("receivables", "payables"):
        found = await person.get(f"{FINANCE}/{what}?resource_id={key}&status=planned,open,partly_paid,paid,void")
        if found["items"]:
            return office.item_ids.setdefault(key, str(found["items"][0]["id"]))
    raise AssertionError(f"{key} has no open item")


def credit(office: Office, person: Person, key: str, *, whole: bool = False) -> Step:
    """Credit an invoice, or a part of it."""
    one, part = office.model.invoices[key], Decimal(office.chance.randint(1, 110)) / 100
    cut = [(one[name] * part).quantize(Decimal("0.01")) for name in ("net", "tax")]
    given = None if whole or not cut[0] else (cut[0], cut[1])
    day = office.day(one["day"])
    body = {"day": day, **({"amount": str(given[0]), "tax": str(given[1])} if given else {})}

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/invoices/{key}/credit-notes", body)
        return Outcome(reply, [reply.data])

    return Step(
        "credit note", send, lambda model, _: model.credit(key, given, day), lambda made: amounts(made, "total")
    )


def void(office: Office, person: Person, key: str) -> Step:
    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/invoices/{key}/void")
        return Outcome(reply, [reply.data])

    def apply(model: Company, _: Record) -> Row:
        model.void(key)
        return {}

    return Step("void invoice", send, apply)


def pay(office: Office, person: Person) -> Step:
    """Money comes or goes: for some items of one party, with an advance, and sometimes more than is open."""
    chance, model = office.chance, office.model
    direction = chance.choice(("in", "out"))
    party = chance.choice(office.suppliers) if direction == "out" else chance.choice(office.customers)["id"]
    if chance.random() < 0.08:
        party, direction = None, "out"  # for claims
    owing = [key for key, one in model.items.items() if _settles(direction, one) and one["party"] == party]
    overpaid = [key for key, one in model.items.items() if one["paid"] > one["amount"] and one["party"] is not None]
    refundable = [key for key, one in model.items.items() if one["is_contract"] and one["paid"]]
    if (overpaid and chance.random() < 0.5) or (refundable and chance.random() < 0.05):
        key = chance.choice(overpaid or refundable)
        party, direction = model.items[key]["party"], model.items[key]["direction"]
        chosen = [key]
    else:
        chosen = chance.sample(owing[-15:], min(len(owing), chance.choice((0, 1, 1, 2, 3))))
    parts = [(key, _part(office, model.items[key])) for key in chosen]
    advance = amount_of(office) if party is not None and (not parts or chance.random() < 0.4) else ZERO
    amount, day, account = sum((part for _, part in parts), advance), office.day(), chance.choice(office.accounts)
    amount = amount or Decimal("1.00")
    body = {"direction": direction, "account_id": account, "amount": str(amount), "day": day, "method": "transfer"}
    body |= _named(office, party)

    async def send() -> Outcome:
        rows = [{"open_item_id": await find_item(office, person, key), "amount": str(part)} for key, part in parts]
        reply = await person.post(f"{FINANCE}/payments", {**body, "allocations": rows})
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Row:
        return model.pay(made["id"], direction, account, amount, party, parts, day)

    return Step("payment", send, apply, lambda made: amounts(made, "unallocated"))


def _named(office: Office, party: str | None) -> Row:
    return {"supplier_id" if party in office.suppliers else "customer_id": party} if party is not None else {}


def _settles(direction: str, item: Row) -> bool:
    return _SIDES[direction] == item["direction"] and item["paid"] < item["amount"]


def _part(office: Office, item: Row) -> Decimal:
    """All that is open of an item, or too much, or some."""
    left = abs(item["amount"] - item["paid"]) or item["paid"]  # of a contract that is paid and refunded
    if office.chance.random() < 0.05:
        return left + Decimal("0.01")
    some = (left * office.chance.randint(1, 99) / 100).quantize(Decimal("0.01"))
    return left if office.chance.random() < 0.4 else max(some, Decimal("0.01"))


def allocate(office: Office, person: Person) -> Step | None:
    """Allocate an advance, or a part of it, to an item of the same party."""
    chance, model = office.chance, office.model
    key = _choose_advance(office)
    if key is None:
        return None
    payment = model.payments[key]
    mine = [
        id
        for id, one in model.items.items()
        if _settles(payment["direction"], one) and one["party"] == payment["party"]
    ]
    if not mine:
        return None
    item = chance.choice(mine[-15:])
    open_of_it = model.items[item]["amount"] - model.items[item]["paid"]
    amount = min(payment["unallocated"], open_of_it)
    amount += Decimal("0.01") if chance.random() < 0.05 else ZERO
    day = office.day(payment["day"])

    async def send() -> Outcome:
        rows = [{"open_item_id": await find_item(office, person, item), "amount": str(amount)}]
        reply = await person.post(f"{FINANCE}/payments/{key}/allocations", {"allocations": rows, "day": day})
        return Outcome(reply, [reply.data])

    def apply(model: Company, _: Record) -> Row:
        return model.allocate(key, [(item, amount)], day)

    return Step("allocation", send, apply, lambda made: amounts(made, "unallocated"))


def pay_back(office: Office, person: Person) -> Step | None:
    """Pay an advance back, or a part of it."""
    key = _choose_advance(office)
    if key is None:
        return None
    advance = office.model.payments[key]
    amount = min(amount_of(office), advance["unallocated"])
    amount += Decimal("0.01") if office.chance.random() < 0.1 else ZERO
    day, account, direction = office.day(advance["day"]), advance["account"], _SIDES[advance["direction"]]
    body = {"direction": direction, "account_id": account, "amount": str(amount), "day": day, "repays_id": key}

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/payments", body)
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Row:
        return model.pay(made["id"], direction, account, amount, advance["party"], (), day, repays=key)

    return Step("repayment", send, apply, lambda made: amounts(made, "unallocated"))


def _choose_advance(office: Office) -> str | None:
    left = [key for key, one in office.model.payments.items() if one["live"] and one["unallocated"]]
    return office.chance.choice(left[-12:]) if left else None


def pay_at_source(office: Office, person: Person) -> Step | None:
    """Pay an invoice, a purchase or a claim where it is shown."""
    chance, model = office.chance, office.model
    paths = {key: path for key, one in model.items.items() if (path := _path(model, key, one)) is not None}
    if not paths:
        return None
    key = chance.choice(list(paths)[-15:])
    item, account, day = model.items[key], chance.choice(office.accounts), office.day()
    part = None if chance.random() < 0.5 or paths[key] == "expense-claims" else _part(office, item)
    body = {"account_id": account, "day": day, **({"amount": str(part)} if part else {})}

    async def send() -> Outcome:
        id = await find_item(office, person, key) if paths[key] == "payables" else key
        reply = await person.post(f"{FINANCE}/{paths[key]}/{id}/pay", body)
        return Outcome(reply, [{**(reply.data or {}), "id": unique("at-source")}])

    def apply(model: Company, made: Record) -> Row:
        now = model.items[key]
        amount = part or now["amount"] - now["paid"]
        ensure(amount > 0)
        model.pay(made["id"], _SIDES[item["direction"]], account, amount, item["party"], [(key, amount)], day)
        # all that is open is less or more when goods come at the same time; a claim is paid whole
        return {"paid": model.items[key]["paid"]} if paths[key] != "expense-claims" else {}

    return Step("payment at the source", send, apply, lambda made: amounts(made, "paid") if "paid" in made else {})


def _path(model: Company, key: str, item: Row) -> str | None:
    if item["paid"] >= item["amount"] or item["is_contract"]:
        return None
    if key in model.invoices:
        return "invoices"
    if item["party"] is None:
        return "expense-claims"
    return "payables" if item["direction"] == "in" else None


def reverse_payment(office: Office, person: Person, key: str, *, by_voucher: str | None = None, id: str = "") -> Step:
    """Reverse a payment by itself, or by its voucher."""
    earliest = (
        office.model.payments[key]["day"] if office.chance.random() < 0.1 else _reversible_from(office.model, key)
    )
    day = office.day(earliest)
    at = f"vouchers/{by_voucher}" if by_voucher else f"payments/{id or key}"

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/{at}/reverse", {"day": day})
        return Outcome(reply, [reply.data])

    return Step("reversal of a payment", send, lambda model, _: model.unpay(key, day), about=id or key)


def _reversible_from(model: Company, key: str) -> str:
    """The first day on which a payment may be reversed: what it paid is not paid back then, or on a later day."""
    payment, first = model.payments[key], model.changed_until(key)
    for item, amount, _ in payment["parts"]:
        settled = model.items[item]["settled"] if _SIDES[payment["direction"]] == model.items[item]["direction"] else ()
        first = max(first, min((day for day, _ in settled if least_from(day, settled) >= amount), default=first))
    return first


def contract(office: Office, person: Person) -> Step:
    """Make a contract with payment plans, which the manager approves: customers belong to one of the four."""
    chance = office.chance
    customer, amount, day = chance.choice(office.customers)["id"], amount_of(office, 10000, 900000), office.day()
    plans = [(amount * part / 10).quantize(Decimal("0.01")) for part in chance.choice(((), (3,), (2, 5)))]

    async def send() -> Outcome:
        given = {"customer_id": customer, "name": "random", "amount": str(amount), "signed_date": day}
        draft = expect(await person.post(f"{CRM}/contracts", given))
        made = []
        for part in plans:
            plan = {"contract_id": draft["id"], "amount": str(part), "due_date": office.today.isoformat()}
            made.append(expect(await person.post(f"{CRM}/payment-plans", plan))["id"])
        expect(await person.post(f"{CRM}/contracts/{draft['id']}/submit"))
        reply = await office.manager.post(f"{CRM}/contracts/{draft['id']}/approve")
        return Outcome(reply, [{**expect(reply), "plans": made}])

    def apply(model: Company, made: Record) -> Row:
        for key, part in zip(made["plans"], plans, strict=True):
            model.plans[key] = {"contract": made["id"], "amount": part, "paid": ZERO}
        model.owe(made["id"], "out", customer, amount, day)
        model.change("items", made["id"], is_contract=True)
        return {"amount": amount}

    return Step("contract", send, apply, lambda made: amounts(made, "amount"))


def receive(office: Office, person: Person) -> Step | None:
    """Enter a payment at a contract: with an account or without, for a plan or not."""
    chance, model = office.chance, office.model
    owing = [key for key, one in model.items.items() if one["is_contract"] and one["paid"] < one["amount"]]
    if not owing:
        return None
    key = chance.choice(owing[-8:])
    amount, day = _part(office, model.items[key]), office.day()
    plans = [id for id, one in model.plans.items() if one["contract"] == key and one["paid"] < one["amount"]]
    plan = chance.choice(plans) if plans and chance.random() < 0.5 else None
    if plan is not None and chance.random() < 0.9:
        amount = min(amount, model.plans[plan]["amount"] - model.plans[plan]["paid"])
    account = chance.choice(office.accounts) if chance.random() < 0.7 else None
    body = {"contract_id": key, "plan_id": plan, "amount": str(amount), "account_id": account}
    body |= {"paid_at": f"{day}T04:00:00Z", "method": "transfer"}

    async def send() -> Outcome:
        reply = await person.post(f"{CRM}/payments", body)
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Row:
        return model.receive(made["id"], key, plan, amount, day, account)

    return Step("payment of a contract", send, apply)


def reverse_receipt(office: Office, person: Person, key: str) -> Step:
    """Reverse a payment at its contract."""
    day = office.day(office.model.receipts[key]["day"])

    async def send() -> Outcome:
        reply = await person.post(f"{CRM}/payments/{key}/reverse", {"day": day})
        return Outcome(reply, [reply.data])

    return Step("reversal of a payment of a contract", send, lambda model, _: model.unreceive(key, day))


def end_contract(office: Office, person: Person, key: str) -> Step:
    async def send() -> Outcome:
        reply = await person.post(f"{CRM}/contracts/{key}/terminate", {"reason": "random"})
        return Outcome(reply, [reply.data])

    return Step("end of a contract", send, lambda model, _: model.end(key, office.today.isoformat()))


def claim(office: Office, person: Person) -> Step:
    """Make an expense claim, which a colleague approves."""
    amount, day = amount_of(office, 100, 90000), office.today.isoformat()
    at = f"{FINANCE}/expense-claims"

    async def send() -> Outcome:
        lines = [{"day": office.today.isoformat(), "category": "travel", "amount": str(amount)}]
        draft = expect(await person.post(at, {"title": "random", "lines": lines}))
        expect(await person.post(f"{at}/{draft['id']}/submit"))
        reply = await office.other(person).post(f"{at}/{draft['id']}/approve")
        return Outcome(reply, [expect(reply)])

    def apply(model: Company, made: Record) -> Row:
        model.owe(made["id"], "in", None, amount, day)
        return {"amount": amount}

    return Step("expense claim", send, apply, lambda made: amounts(made, "amount"))


def voucher(office: Office, person: Person) -> Step:
    """Book income, an expense or a transfer."""
    kind = office.chance.choice(("income", "expense", "transfer"))
    account, other = office.chance.sample(office.accounts, 2)
    to, amount, day = other if kind == "transfer" else None, amount_of(office), office.day()
    body = {"kind": kind, "account_id": account, "to_account_id": to, "amount": str(amount), "day": day}

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/vouchers", body)
        return Outcome(reply, [reply.data])

    return Step("voucher", send, lambda model, made: model.voucher(made["id"], kind, account, to, amount, day))


def reverse_voucher(office: Office, person: Person, key: str) -> Step:
    day = office.today.isoformat()

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/vouchers/{key}/reverse", {"day": day})
        return Outcome(reply, [reply.data])

    return Step("reversal of a voucher", send, lambda model, _: model.unbook(key, day))


def reverse_claim(office: Office, person: Person, key: str) -> Step:
    """Reverse an approved claim."""
    day = office.today.isoformat()

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/expense-claims/{key}/reverse", {"day": day})
        return Outcome(reply, [reply.data])

    def apply(model: Company, _: Record) -> Row:
        item = model.items[key]
        ensure(not item["paid"] and item["amount"] > 0)
        model.owe(key, "in", None, ZERO, day)
        return {}

    return Step("reversal of a claim", send, apply)
