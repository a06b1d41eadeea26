"""What payments make of accounts and open items: the second third of the model, see `model.py`."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from tests.support.random_company.arithmetic import ZERO, Row, least_from
from tests.support.random_company.goods import Goods, ensure

Parts = Iterable[tuple[str, Decimal]]
_OTHER = {"in": "out", "out": "in"}


class Payments(Goods):
    """Money that comes or goes, what it settles, and what is left of it."""

    def book(self, kind: str, account: str, amount: Decimal, day: str) -> None:
        self.accounts[account] = self.accounts.get(account, ZERO) + (amount if kind == "income" else -amount)
        self.money.append((kind, day, amount))

    def settle(self, key: str, amount: Decimal, day: str) -> None:
        """So much more is paid of an item. Of a contract that has ended what was paid is owed, and nothing else."""
        item = self.items[key]
        self.change("items", key, paid=item["paid"] + amount, settled=(*item.get("settled", ()), (day, amount)))
        self.enter(item, -amount, day)
        if item["ended"]:
            self.owe(key, "out", item["party"], item["document"] + amount, day)

    def pay(
        self,
        key: str,
        direction: str,
        account: str,
        amount: Decimal,
        party: str | None,
        parts: Parts,
        day: str,
        repays: str | None = None,
    ) -> Row:
        """Money comes or goes: it settles items, the rest is an advance, or pays one back."""
        made = {"direction": direction, "account": account, "amount": amount, "party": party, "day": day, "parts": ()}
        self.payments[key] = {
            **made,
            "advances": (),
            "unallocated": ZERO,
            "repaid": ZERO,
            "repays": repays,
            "live": True,
        }
        self.book("income" if direction == "in" else "expense", account, amount, day)
        if repays is None:
            self.advance(key, amount, day)
            return self.allocate(key, parts, day)
        ensure(self.payments[repays]["live"] and amount <= least_from(day, self.payments[repays]["advances"]))
        self.repay(repays, amount, day)
        return {"unallocated": ZERO}

    def advance(self, key: str, amount: Decimal, day: str) -> None:
        payment = self.payments[key]
        moves = (*payment["advances"], (day, amount))
        self.change("payments", key, unallocated=payment["unallocated"] + amount, advances=moves)
        self.enter({**payment, "direction": _OTHER[payment["direction"]]}, -amount, day, advance=True)

    def repay(self, key: str, amount: Decimal, day: str) -> None:
        self.advance(key, -amount, day)
        self.change("payments", key, repaid=self.payments[key]["repaid"] + amount)

    def allocate(self, key: str, parts: Parts, day: str) -> Row:
        for item_key, amount in parts:
            payment, item = self.payments[key], self.items[item_key]
            sign, refunded = self.sign(key, item_key), item["is_contract"] and item["paid"]
            ensure(payment["live"] and amount <= least_from(day, payment["advances"]))
            ensure(amount <= (item["amount"] - item["paid"] if sign > 0 else refunded or item["paid"] - item["amount"]))
            self.settle(item_key, sign * amount, day)
            self.advance(key, -amount, day)
            self.change("payments", key, parts=(*payment["parts"], (item_key, amount, day)))
            if item["is_contract"]:
                received = {"contract": item_key, "plan": None, "amount": sign * amount, "day": day, "live": True}
                self.receipts[f"{key}:{len(self.receipts)}"] = {**received, "payment": key}
        return {"unallocated": self.payments[key]["unallocated"]}

    def sign(self, key: str, item_key: str) -> int:
        """1 for a payment that settles an item, -1 for one that pays back what was paid of it."""
        return 1 if _OTHER[self.payments[key]["direction"]] == self.items[item_key]["direction"] else -1

    def unsettle(self, key: str, item_key: str, amount: Decimal, day: str) -> None:
        """What a payment has settled is taken off the item."""
        item, sign = self.items[item_key], self.sign(key, item_key)
        ensure(sign < 0 or least_from(day, item["settled"]) >= amount)
        self.settle(item_key, -sign * amount, day)

    def take_back(self, key: str, item_key: str, amount: Decimal, day: str) -> Row:
        """A payment settles less of an item, of its latest allocations first, and is an advance again."""
        payment, left, kept, gone = self.payments[key], amount, [], []
        for id, part, since in reversed(payment["parts"]):
            taken = min(part, left) if id == item_key else ZERO
            ensure(not taken or day >= since)
            left -= taken
            kept += [(id, part - taken, since)] if taken < part else []
            gone += [taken] if taken else []
        ensure(payment["live"] and amount > 0 and not left)
        self.unsettle(key, item_key, amount, day)
        self.change("payments", key, parts=tuple(reversed(kept)))
        self.advance(key, amount, day)
        for part in gone if self.items[item_key]["is_contract"] else ():
            self.receive_less(key, item_key, self.sign(key, item_key) * part, day)
        return {"unallocated": self.payments[key]["unallocated"]}

    def receive_less(self, key: str, contract: str, amount: Decimal, day: str) -> None:
        """What a contract has received by an allocation of a payment is reversed; a part of it is a receipt of its own."""
        whole = {"payment": key, "contract": contract, "amount": amount, "live": True}
        found = next((id for id, one in self.receipts.items() if whole.items() <= one.items()), None)
        if found is not None:
            self.forget(found, day)
        else:
            self.receipts[f"{key}:{len(self.receipts)}"] = {**whole, "plan": None, "amount": -amount, "day": day}

    def payers(self, item_key: str) -> list[str]:
        """The payments that settle an item."""
        found = [key for key, one in self.payments.items() if one["live"] and self.sign(key, item_key) > 0]
        return [key for key in found if any(id == item_key for id, _, _ in self.payments[key]["parts"])]

    def credit_items(self, item_key: str, other: str, amount: Decimal, day: str) -> Row:
        """What was paid too much of an item settles another one."""
        item = self.items[item_key]
        ensure(0 < amount <= item["paid"] - item["amount"])
        (key,) = self.payers(item_key)
        self.take_back(key, item_key, amount, day)
        self.allocate(key, [(other, amount)], day)
        return {"paid": self.items[item_key]["paid"]}

    def changed_until(self, key: str) -> str:
        """The last day on which a payment was entered, allocated or given back: it is not reversed before."""
        return max([self.payments[key]["day"], *(day for day, _ in self.payments[key]["advances"])])

    def unpay(self, key: str, day: str) -> Row:
        """Reverse a payment."""
        payment = self.payments[key]
        ensure(payment["live"] and not payment["repaid"] and day >= self.changed_until(key))
        self.book("income" if payment["direction"] == "in" else "expense", payment["account"], -payment["amount"], day)
        if payment["repays"] is not None:
            self.repay(payment["repays"], -payment["amount"], day)
        self.advance(key, -payment["unallocated"], day)
        for item_key, amount, _ in payment["parts"]:
            self.unsettle(key, item_key, amount, day)
            if self.items[item_key]["is_contract"]:
                self.receive_less(key, item_key, self.sign(key, item_key) * amount, day)
        self.change("payments", key, live=False)
        return {}

    def forget(self, key: str, day: str) -> None:
        """Enter the opposite of a payment of a contract."""
        receipt = self.receipts[key]
        self.change("receipts", key, live=False)
        self.receipts[f"{key}:reversed"] = {**receipt, "amount": -receipt["amount"], "day": day, "live": False}
        if receipt["plan"] is not None:
            self.change("plans", receipt["plan"], paid=self.plans[receipt["plan"]]["paid"] - receipt["amount"])
