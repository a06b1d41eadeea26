"""What the books of a trading company must say, without a line of the service's code: what happens, and what follows.

A method raises `Refused` for what the service must refuse. It may have changed something by then: call it on a fork.
Rows are replaced and never changed, so that a fork costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from tests.support.random_company.arithmetic import ZERO, Row, least_from
from tests.support.random_company.goods import Goods, ensure

Parts = Iterable[tuple[str, Decimal]]
_OTHER = {"in": "out", "out": "in"}


class Company(Goods):
    """Goods, and what is owed, paid and booked for them and for everything else."""

    def book(self, kind: str, account: str, amount: Decimal, day: str) -> None:
        self.accounts[account] = self.accounts.get(account, ZERO) + (amount if kind == "income" else -amount)
        self.money.append((kind, day, amount))

    def settle(self, key: str, amount: Decimal, day: str) -> None:
        """So much more is paid of an item. Of a contract that has ended what was paid is owed, and nothing else."""
        item = self.items[key]
        self.change("items", key, paid=item["paid"] + amount, settled=(*item.get("settled", ()), (day, amount)))
        self.enter(item, -amount, day)
        if item["ended"]:
            self.owe(key, "out", item["party"], item["amount"] + amount, day)

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
            sign = 1 if _OTHER[payment["direction"]] == item["direction"] else -1
            ensure(payment["live"] and amount <= least_from(day, payment["advances"]))
            ensure(amount <= sign * (item["amount"] - item["paid"]))
            self.settle(item_key, sign * amount, day)
            self.advance(key, -amount, day)
            self.change("payments", key, parts=(*payment["parts"], (item_key, amount)))
            if item["is_contract"]:
                received = {"contract": item_key, "plan": None, "amount": amount, "day": day, "live": True}
                self.receipts[f"{key}:{len(self.receipts)}"] = {**received, "payment": key}
        return {"unallocated": self.payments[key]["unallocated"]}

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
        for item_key, amount in payment["parts"]:
            item = self.items[item_key]
            sign = 1 if _OTHER[payment["direction"]] == item["direction"] else -1
            ensure(sign < 0 or least_from(day, item["settled"]) >= amount)
            self.settle(item_key, -sign * amount, day)
        for receipt, one in list(self.receipts.items()):
            if one["payment"] == key and one["live"]:
                self.forget(receipt, day)
        self.change("payments", key, live=False)
        return {}

    def receive(self, key: str, contract: str, plan: str | None, amount: Decimal, day: str, account: str | None) -> Row:
        """A payment is entered at a contract; with an account it is in the books."""
        item = self.items[contract]
        ensure(not item["ended"] and amount <= item["amount"] - item["paid"])
        if plan is not None:
            ensure(amount <= self.plans[plan]["amount"] - self.plans[plan]["paid"])
            self.change("plans", plan, paid=self.plans[plan]["paid"] + amount)
        received = {"contract": contract, "plan": plan, "amount": amount, "day": day, "live": True}
        self.receipts[key] = {**received, "payment": None if account is None else key}
        self.settle(contract, amount, day)
        if account is not None:
            self.book("income", account, amount, day)
            made = {"direction": "in", "account": account, "amount": amount, "party": item["party"], "day": day}
            made |= {
                "parts": ((contract, amount),),
                "advances": (),
                "unallocated": ZERO,
                "repaid": ZERO,
                "repays": None,
                "live": True,
            }
            self.payments[key] = made
        return {}

    def forget(self, key: str, day: str) -> None:
        """Enter the opposite of a payment of a contract."""
        receipt = self.receipts[key]
        self.change("receipts", key, live=False)
        self.receipts[f"{key}:reversed"] = {**receipt, "amount": -receipt["amount"], "day": day, "live": False}
        if receipt["plan"] is not None:
            self.change("plans", receipt["plan"], paid=self.plans[receipt["plan"]]["paid"] - receipt["amount"])

    def unreceive(self, key: str, day: str) -> Row:
        receipt = self.receipts[key]
        ensure(receipt["live"])
        if receipt["payment"] is not None:
            return self.unpay(key, day)
        self.forget(key, day)
        self.settle(receipt["contract"], -receipt["amount"], day)
        return {}

    def end(self, key: str, day: str) -> Row:
        """Terminate a contract."""
        item = self.items[key]
        ensure(not item["ended"])
        self.owe(key, "out", item["party"], item["paid"], day)
        self.change("items", key, ended=True)
        return {}

    def invoice(
        self, key: str, direction: str, party: str, net: Decimal, tax: Decimal, day: str, bills: str | None
    ) -> Row:
        self.invoices[key] = {"net": net, "tax": tax, "day": day, "bills": bills, "direction": direction}
        if bills is None:
            self.owe(key, direction, party, net + tax, day)
        return {"total": net + tax}

    def credit(self, key: str, given: tuple[Decimal, Decimal] | None, day: str) -> Row:
        """Credit an invoice: net and tax, or all that is left."""
        invoice = self.invoices[key]
        net, tax = given or (invoice["net"], invoice["tax"])
        ensure(net <= invoice["net"] and tax <= invoice["tax"] and bool(invoice["net"] or invoice["tax"]))
        self.change("invoices", key, net=invoice["net"] - net, tax=invoice["tax"] - tax)
        if invoice["bills"] is None:
            item = self.items[key]
            self.owe(key, item["direction"], item["party"], item["amount"] - net - tax, day)
        return {"total": net + tax}

    def void(self, key: str) -> Row:
        ensure(not self.items[key]["paid"] and bool(self.items[key]["amount"]))
        return self.credit(key, None, self.invoices[key]["day"])

    def voucher(self, key: str, kind: str, account: str, to: str | None, amount: Decimal, day: str) -> Row:
        self.vouchers[key] = {"kind": kind, "account": account, "to": to, "amount": amount, "live": True}
        if to is None:
            self.book(kind, account, amount, day)
        else:
            self.accounts[account] = self.accounts.get(account, ZERO) - amount
            self.accounts[to] = self.accounts.get(to, ZERO) + amount
        return {}

    def unbook(self, key: str, day: str) -> Row:
        """Reverse a voucher that is no payment's."""
        one = self.vouchers[key]
        ensure(one["live"])
        self.voucher(f"{key}:reversed", one["kind"], one["account"], one["to"], -one["amount"], day)
        for name in (key, f"{key}:reversed"):
            self.change("vouchers", name, live=False)
        return {}
