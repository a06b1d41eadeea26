"""What the books of a trading company must say, without a line of the service's code: what happens, and what follows.

A method raises `Refused` for what the service must refuse. It may have changed something by then: call it on a fork.
Rows are replaced and never changed, so that a fork costs nothing.
"""

from __future__ import annotations

from decimal import Decimal

from tests.support.random_company.arithmetic import ZERO, Row
from tests.support.random_company.goods import amount_of, ensure
from tests.support.random_company.paying import Payments


class Company(Payments):
    """Goods and payments, and what is owed and booked for everything else."""

    def receive(self, key: str, contract: str, plan: str | None, amount: Decimal, day: str, account: str | None) -> Row:
        """A payment is entered at a contract; with an account it is in the books."""
        item = self.items[contract]
        ensure(not item["ended"] and amount <= item["document"] - item["paid"])
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
                "parts": ((contract, amount, day),),
                "advances": (),
                "unallocated": ZERO,
                "repaid": ZERO,
                "repays": None,
                "live": True,
            }
            self.payments[key] = made
        return {}

    def unreceive(self, key: str, day: str) -> Row:
        receipt = self.receipts[key]
        ensure(receipt["live"])
        if receipt["payment"] is not None:
            return self.unpay(key, day)
        ensure(receipt["amount"] <= self.items[receipt["contract"]]["paid"])
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
        amounts = {"net": net, "tax": tax, "total": net + tax}
        if bills is not None:
            self.ensure_open(bills, net, tax)
        self.invoices[key] = {**amounts, "day": day, "bills": bills, "direction": direction}
        self.taxed.append((direction, day, net, tax))
        if bills is None:
            self.owe(key, direction, party, net + tax, day)
        else:
            item = self.items[bills]
            self.owe(bills, direction, item["party"], item["document"], day)
        return {"total": net + tax}

    def ensure_open(self, item: str, net: Decimal, tax: Decimal) -> None:
        """Refuse an invoice that claims more than is open of an item, or of the net or the tax of its order."""
        invoiced, claimed = self.sum_bills(item)
        whole = self.items[item]["document"] + self.count_shipped(item)[0]
        ensure(net + tax <= self.lower(item, whole, invoiced, invoiced - claimed) - claimed)
        if (order := self.orders.get(item)) is not None:
            bills = [one for one in self.invoices.values() if one["bills"] == item]
            whole = {"net": amount_of(order, "net")}
            whole["tax"] = amount_of(order, "amount") - whole["net"]
            for name, more in (("net", net), ("tax", tax)):
                ensure(more <= whole[name] - sum((one[name] for one in bills), ZERO) + Decimal("0.05"))

    def credit(self, key: str, given: tuple[Decimal, Decimal] | None, day: str) -> Row:
        """Credit an invoice: net and tax, or all that is left."""
        invoice = self.invoices[key]
        net, tax = given or (invoice["net"], invoice["tax"])
        ensure(net <= invoice["net"] and tax <= invoice["tax"] and bool(invoice["net"] or invoice["tax"]))
        self.change("invoices", key, net=invoice["net"] - net, tax=invoice["tax"] - tax)
        self.taxed.append((invoice["direction"], day, -net, -tax))
        self.notes[len(self.notes)] = {"of": invoice["bills"], "amount": net + tax}
        item = self.items[invoice["bills"] or key]
        if invoice["bills"] is None:
            self.owe(key, item["direction"], item["party"], item["amount"] - net - tax, day)
        else:
            self.owe(invoice["bills"], item["direction"], item["party"], item["document"], day)
        return {"total": net + tax}

    def void(self, key: str) -> Row:
        ensure(not self.items[key]["paid"] and self.items[key]["amount"] == self.invoices[key]["total"])
        return self.credit(key, None, self.invoices[key]["day"])

    def open_item(self, key: str, direction: str, party: str, amount: Decimal, day: str) -> Row:
        """Something was owed when the books began."""
        self.owe(key, direction, party, amount, day)
        self.change("items", key, opened=day, adjusted=ZERO)
        return {"amount": amount}

    def unopen(self, key: str, day: str) -> Row:
        item = self.items[key]
        ensure(not item["paid"] and not item["adjusted"] and bool(item["amount"]))
        self.owe(key, item["direction"], item["party"], ZERO, day)
        return {}

    def adjust(self, key: str, of: str, amount: Decimal, day: str) -> Row:
        """So much of an opening item is not owed any more; below zero: it is again."""
        item = self.items[of]
        ensure(amount <= item["amount"] - item["paid"])
        self.adjustments[key] = {"of": of, "amount": amount, "day": day, "live": amount > 0}
        self.change("items", of, amount=item["amount"] - amount, adjusted=item["adjusted"] + amount)
        self.enter(item, -amount, day)
        return {"amount": amount}

    def unadjust(self, key: str, by: str, day: str) -> Row:
        """Reverse an adjustment by another one."""
        made = self.adjustments[key]
        ensure(made["live"])
        self.change("adjustments", key, live=False)
        return self.adjust(by, made["of"], -made["amount"], day)

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
