"""What stock and orders must say: the first third of the model, see `model.py`."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from tests.support.random_company.arithmetic import ZERO, Row, part, price, rescale, share, value

Quantities = Mapping[str, Decimal]
TABLES = (
    *("accounts", "stock", "moved", "orders", "shipments", "returns", "moves"),
    *("items", "invoices", "payments", "receipts", "plans", "vouchers", "adjustments", "notes"),
)


class Refused(Exception):
    """What the service must refuse."""


def ensure(allowed: bool) -> None:
    if not allowed:
        raise Refused


def unfinished(line: Row) -> Decimal:
    """How much of a line of an order is still to come."""
    return ZERO if line["ended"] else max(line["quantity"] - line["done"], ZERO)


def amount_of(order: Row, name: str) -> Decimal:
    """What an order comes to with what was shipped of lines beyond what was ordered, or less and no more follows."""
    sums = order["freight"]
    for line in order["lines"]:
        units = line["done"] if line["ended"] else max(line["quantity"], line["done"])
        sums += line[name] + part(line, name, units) - part(line, name, line["quantity"])
    return Decimal(sums)


class Goods:
    """Stock, and what orders, shipments, returns and moves make of it; tables by the ids of the service."""

    def __init__(self, base: Goods | None = None) -> None:
        self.tables: dict[str, Any] = {name: {} if base is None else ChainMap({}, base.tables[name]) for name in TABLES}
        self.entries: list[tuple[str | None, str, bool, str, Decimal]] = []  # party, direction, advance, day, amount
        self.money: list[tuple[str, str, Decimal]] = []  # kind, day, amount
        self.taxed: list[tuple[str, str, Decimal, Decimal]] = []  # direction, day, net, tax
        # of deliveries: order, product (None: the freight), day, units that are owed, cost
        self.earned: list[tuple[str, str | None, str, Decimal, Decimal]] = []

    def __getattr__(self, name: str) -> Any:
        return self.tables[name]

    def keep(self, fork: Goods) -> None:
        """Take over what happened in a fork of this one."""
        for name in TABLES:
            self.tables[name].update(fork.tables[name].maps[0])
        self.entries += fork.entries
        self.money += fork.money
        self.taxed += fork.taxed
        self.earned += fork.earned

    def change(self, table: str, key: str, **values: Any) -> None:
        self.tables[table][key] = {**self.tables[table][key], **values}

    def put(self, product: str, place: str, day: str, quantity: Decimal, worth: Decimal) -> Decimal:
        held = self.stock.get((product, place), (ZERO, ZERO))
        self.stock[product, place] = (held[0] + quantity, held[1] + worth)
        self.moved[product, place] = (*self.moved.get((product, place), ()), (day, quantity))
        return worth

    def take(self, product: str, place: str, day: str, quantity: Decimal, worth: Decimal | None = None) -> Decimal:
        """Take goods at their average cost, or at what they were worth; return what the stock shrank by."""
        held, all_of_it = self.stock.get((product, place), (ZERO, ZERO))
        moved = self.moved.get((product, place), ())
        days = [day, *(one for one, _ in moved if one > day)]
        ensure(all(quantity <= sum((by for one, by in moved if one <= until), ZERO) for until in days))
        cost = share(all_of_it, quantity, held) if worth is None else min(worth, all_of_it)
        return -self.put(product, place, day, -quantity, -(all_of_it if quantity == held else cost))

    def ship(self, key: str, order_key: str, place: str, wanted: Quantities, day: str, complete: bool = False) -> Row:
        """Ship these quantities; with `complete`, no more of their lines follows."""
        order, moved, lines = self.orders[order_key], {}, []
        before = [one for one in map(self.shipments.get, order["shipments"]) if one["live"]]
        ensure(order["state"] == "open" and bool(wanted))
        for line in order["lines"]:
            product, done = line["product"], line["done"] + wanted.get(line["product"], ZERO)
            short, ended = line["quantity"] - done, line["ended"]
            if product in wanted:
                tolerated = line["quantity"] * line["tolerance"]
                ensure(short + wanted[product] > 0 and not ended and -short <= tolerated)
                ensure(not complete or short <= tolerated)
                ended = complete and short > 0
                past = [one["lines"][product] for one in before if product in one["lines"]]
                amount = max(part(line, "amount", done) - sum(one["amount"] for one in past), ZERO)
                cost = max(part(line, "net", done) - sum(one["cost"] for one in past), ZERO)
                if order["incoming"]:
                    self.put(product, place, day, wanted[product], cost)
                else:
                    cost = self.take(product, place, day, wanted[product])
                    self.earned.append((order_key, product, day, wanted[product], cost))
                moved[product] = {"quantity": wanted[product], "amount": amount, "cost": cost, "back": (ZERO,) * 3}
            lines.append({**line, "done": done, "ended": ended})
        freight = order["freight"] - sum(one["freight"] for one in before)
        if freight and not order["incoming"]:
            self.earned.append((order_key, None, day, Decimal(1), ZERO))
        made = {"order": order_key, "place": place, "day": day, "lines": moved, "freight": freight, "returned": ZERO}
        amount = sum((one["amount"] for one in moved.values()), freight)
        self.shipments[key] = {**made, "amount": amount, "live": True}
        self.change("orders", order_key, lines=lines, shipments=(*order["shipments"], key))
        self.owe_order(order_key, day)
        return {"amount": amount, **{id: (one["quantity"], one["amount"], one["cost"]) for id, one in moved.items()}}

    def give_back(self, key: str, of: str, given: Quantities | None, day: str, refund: bool, restock: bool) -> Row:
        """Return goods of a shipment. Without `given` all that is left comes back, and the shipment never was."""
        shipment, lines = self.shipments[of], {}
        incoming = self.orders[shipment["order"]]["incoming"]
        left = {id: line["quantity"] - line["back"][0] for id, line in shipment["lines"].items()}
        wanted = {id: one for id, one in (given or left).items() if one}
        ensure(shipment["live"] and bool(wanted))
        for id, quantity in wanted.items():
            ensure(quantity <= left[id])
            line = shipment["lines"][id]
            after = line["back"][0] + quantity
            amount = max(share(line["amount"], after, line["quantity"]) - line["back"][1], ZERO)
            cost = moved = max(share(line["cost"], after, line["quantity"]) - line["back"][2], ZERO)
            if incoming:
                moved = self.take(id, shipment["place"], day, quantity, cost if given is None else None)
            elif restock:
                self.put(id, shipment["place"], day, quantity, cost)
            lines[id] = (quantity, amount, cost, moved)
            if not incoming:
                owed = quantity if refund else ZERO
                self.earned.append((shipment["order"], id, day, -owed, -moved if restock else ZERO))
        amount = sum((one[1] for one in lines.values() if refund), ZERO)
        amount = shipment["amount"] - shipment["returned"] if given is None else amount
        made = {"of": of, "lines": lines, "amount": amount, "restock": restock, "live": given is not None}
        self.returns[key] = {**made, "day": day, "refund": refund}
        self.mark(of, lines, amount, 1)
        if given is None:
            self.earn_nothing(of, day)
            self.change("shipments", of, live=False)
            self.unship(shipment)
        self.owe_order(shipment["order"], day)
        return {"amount": amount, **{id: (one[0], one[1] if refund else ZERO, one[3]) for id, one in lines.items()}}

    def earn_nothing(self, of: str, day: str) -> None:
        """A delivery never was: nor is its freight owed, nor what came back of it without a refund."""
        shipment = self.shipments[of]
        if self.orders[shipment["order"]]["incoming"]:
            return
        if shipment["freight"]:
            self.earned.append((shipment["order"], None, day, Decimal(-1), ZERO))
        for one in self.returns.values():
            if one["of"] == of and one["live"] and not one["refund"]:
                for id, (quantity, *_) in one["lines"].items():
                    self.earned.append((shipment["order"], id, day, -quantity, ZERO))

    def list_written_off(self) -> set[str]:
        """The deliveries of which something was written off: it is lost where they are reversed before its return."""
        return {one["of"] for one in self.returns.values() if one["live"] and not one["restock"]}

    def undo_return(self, key: str, day: str) -> Row:
        made = self.returns[key]
        shipment = self.shipments[made["of"]]
        ensure(made["live"] and shipment["live"])
        costs = {}
        for id, (quantity, _, _, moved) in made["lines"].items():
            if self.orders[shipment["order"]]["incoming"]:
                self.put(id, shipment["place"], day, quantity, moved)
            elif made["restock"]:
                moved = self.take(id, shipment["place"], day, quantity, moved)
            costs[id] = -moved
            if not self.orders[shipment["order"]]["incoming"]:
                owed = quantity if made["refund"] else ZERO
                self.earned.append((shipment["order"], id, day, owed, moved if made["restock"] else ZERO))
        self.change("returns", key, live=False)
        self.mark(made["of"], made["lines"], made["amount"], -1)
        self.owe_order(shipment["order"], day)
        return {"amount": -made["amount"], **costs}

    def mark(self, of: str, lines: Mapping[str, Any], amount: Decimal, sign: int) -> None:
        shipment, after = self.shipments[of], dict(self.shipments[of]["lines"])
        for id, moved in lines.items():
            back = tuple(was + sign * by for was, by in zip(after[id]["back"], moved, strict=False))
            after[id] = {**after[id], "back": back}
        self.change("shipments", of, lines=after, returned=shipment["returned"] + sign * amount)

    def unship(self, shipment: Row) -> None:
        moved, order = shipment["lines"], self.orders[shipment["order"]]
        lines = [
            {**line, "done": line["done"] - moved[line["product"]]["quantity"], "ended": False}
            if line["product"] in moved
            else line
            for line in order["lines"]
        ]
        self.change("orders", shipment["order"], lines=lines)

    def owe_order(self, key: str, day: str) -> None:
        order = self.orders[key]
        live = [one for one in map(self.shipments.get, order["shipments"]) if one["live"]]
        if order["owes"]:
            owed = sum((one["amount"] - one["returned"] for one in live), ZERO)
            self.owe(key, "in" if order["incoming"] else "out", order["party"], owed, day)

    def owe(self, key: str, direction: str, party: str | None, amount: Decimal, day: str) -> None:
        """From a day on a document comes to this much; what invoices of it credit is not owed, paid or not."""
        nothing = {"direction": direction, "party": party, "amount": ZERO, "paid": ZERO, "is_contract": False}
        item = {"ended": False, **nothing, **self.items.get(key, {})}
        invoiced, claimed = self.sum_bills(key)
        to_come, shipped = self.count_shipped(key)
        whole = amount + min(to_come, max(invoiced - shipped, ZERO))  # with what is invoiced ahead
        owed = self.lower(key, whole, invoiced, invoiced - claimed)
        self.items[key] = {**item, "document": amount, "amount": owed}
        self.enter(item, owed - item["amount"], day)

    def lower(self, key: str, whole: Decimal, invoiced: Decimal, credited: Decimal) -> Decimal:
        """What a document of this much is owed for: credit notes lower it, but not once more for what came back."""
        order = self.orders.get(key)
        shipments = [one for one in map(self.shipments.get, order["shipments"]) if one["live"]] if order else []
        back = left = sum((one["returned"] for one in shipments), ZERO)
        for note in (self.notes[n] for n in sorted(self.notes)):
            if note["of"] == key and note["amount"] <= left + Decimal("0.05"):
                left -= min(note["amount"], left)
        return whole - max(credited - max(invoiced - whole, back - left), ZERO)

    def count_shipped(self, key: str) -> tuple[Decimal, Decimal]:
        """What is still to come of an order, and what came; nothing of other documents."""
        order = self.orders.get(key)
        if order is None:
            return ZERO, ZERO
        shipped = sum((one["amount"] for one in map(self.shipments.get, order["shipments"]) if one["live"]), ZERO)
        comes = order["state"] == "open" and any(map(unfinished, order["lines"]))
        return amount_of(order, "amount") - shipped if comes else ZERO, shipped

    def count_reserved(self, product: str, place: str) -> Decimal:
        """What sales orders have still to get of a product from a place."""
        sales = [one for one in self.orders.values() if not one["incoming"] and one["state"] == "open"]
        lines = [line for one in sales if one["place"] == place for line in one["lines"] if line["product"] == product]
        return sum(map(unfinished, lines), ZERO)

    def sum_bills(self, key: str) -> tuple[Decimal, Decimal]:
        """What invoices that bill an item come to, and what they claim without their credit notes."""
        bills = [one for one in self.invoices.values() if one["bills"] == key]
        return sum((one["total"] for one in bills), ZERO), sum((one["net"] + one["tax"] for one in bills), ZERO)

    def enter(self, item: Row, amount: Decimal, day: str, advance: bool = False) -> None:
        self.entries.append((item["party"], item["direction"], advance, day, amount))

    def end_order(self, key: str, action: str, day: str) -> Row:
        """Close an order that is shipped in part, or cancel one of which nothing is."""
        lines = self.orders[key]["lines"]
        begun = any(line["done"] for line in lines)
        ensure(self.orders[key]["state"] == "open" and begun == (action == "close") and any(map(unfinished, lines)))
        self.change("orders", key, state="closed" if action == "close" else "cancelled")
        self.owe_order(key, day)
        return {}

    def revise(self, key: str, product: str, quantity: Decimal, at_price: Decimal, day: str) -> Row:
        """Order another quantity of a product, at another price where nothing was ever shipped of it."""
        order = self.orders[key]
        ensure(order["state"] == "open" and any(map(unfinished, order["lines"])))
        settled = {id for one in map(self.shipments.get, order["shipments"]) for id in one["lines"]}
        kept, rest, pool = {}, [], ZERO
        for line in order["lines"]:
            wanted = quantity if line["product"] == product else line["quantity"]
            if line["product"] in settled:
                ensure(line["product"] != product or at_price == line["price"])
                ensure(wanted >= min(line["done"], line["quantity"]))
                kept[line["product"]] = line if wanted == line["quantity"] else rescale(line, wanted)
            else:
                pool += line["agreed"]["share"]
                rest.append(
                    {**line, "quantity": wanted, "price": at_price if line["product"] == product else line["price"]}
                )
        pool = min(pool, sum((value(line, line["quantity"]) for line in rest), ZERO))
        priced = {line["product"]: line for line in price(rest, order["with_tax"], pool)} if rest else {}
        lines = [(kept | priced)[line["product"]] for line in order["lines"]]
        self.change("orders", key, lines=lines)
        self.owe_order(key, day)
        return {"amount": sum((line["amount"] for line in lines), order["freight"])}

    def move(
        self, key: str, at: str, rows: Iterable[tuple[str, str, Decimal, Decimal | None]], day: str, undo: str = ""
    ) -> Row:
        """Move goods in or out of places, in this order; a value of None: at cost, or what was taken out just now."""
        moved, worth = [], ZERO
        for product, place, quantity, given in rows:
            if quantity < 0:
                worth = self.take(product, place, day, -quantity, given)
                moved.append((product, place, quantity, -worth))
            elif quantity:
                moved.append((product, place, quantity, self.put(product, place, day, quantity, given or worth)))
        if undo:
            ensure(self.moves[undo]["live"])
            self.change("moves", undo, live=False)
        self.moves[key] = {"rows": tuple(moved), "live": not undo, "at": at, "day": day}
        return {"values": [one[3] for one in moved]}
