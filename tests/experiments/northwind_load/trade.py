"""What the Northwind company stores and moves, as records of a running service: goods, stock, orders and deliveries.

The stock in the files is what is left at the end. The opening stock is that plus all that was shipped, at the list
price, because the files have no other cost. Goods on order become a purchase order for each supplier, made on the day
of the last order.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Set
from decimal import Decimal

from tests.experiments.northwind_load.client import Client, Record
from tests.experiments.northwind_load.data import Northwind
from tests.experiments.northwind_load.goods import Product, Supplier
from tests.experiments.northwind_load.orders import Order, OrderLine
from tests.experiments.northwind_load.sales import each
from tests.experiments.northwind_load.settling import Tally, settle

AT = "/inventory"
Terms = Callable[[Order], Record]  # returns the fields of a sales order that say how it is paid
WAREHOUSE = {"code": "NW", "name": "Northwind"}


class Trade:
    """One run: the administrator's client, the content of the files, and a function that shows progress."""

    def __init__(self, admin: Client, northwind: Northwind, told: Callable[[str], None]) -> None:
        self.admin, self.northwind, self.told = admin, northwind, told
        self.tally = Tally()

    def run(self, customers: Mapping[str, str], sellers: Mapping[int, Client], terms: Terms) -> Tally:
        """Do every step in the order of their dependencies; `customers` are ids by code.

        `terms` returns the fields that say how an order is paid.
        """
        goods = self.northwind.goods
        suppliers = self._masters("suppliers", "code", {one.number: _supplier(one) for one in goods.suppliers})
        self._entries("inventory_unit", {one.unit for one in goods.products})
        self._entries("inventory_product_category", {one.category for one in goods.products})
        products = self._masters("products", "sku", {one.number: _product(one) for one in goods.products})
        self.warehouse = self._masters("warehouses", "code", {"NW": WAREHOUSE})["NW"]
        self._opening(products)
        self._purchases(suppliers, products)
        self._sales(products, customers, sellers, terms)
        return self.tally

    def _masters(self, path: str, key: str, wanted: Mapping[str, Record]) -> dict[str, str]:
        """Settle records that are identified by the field `key`; return their ids by their numbers in the files."""
        there = {record[key]: record for record in self.admin.every(f"{AT}/{path}")}
        return {
            number: settle(self.admin, f"{AT}/{path}", there.get(one[key]), one, self.tally)["id"]
            for number, one in wanted.items()
        }

    def _entries(self, type: str, wanted: Set[str]) -> None:
        """Add the missing values to a dictionary, as an administrator does."""
        at = "/system/dictionaries"
        dictionary = next(one for one in self.admin.every(at) if one["type"] == type)
        for value in sorted(wanted - {"", *(item["value"] for item in dictionary["items"])}):
            self.admin.create(f"{at}/{dictionary['id']}/items", {"value": value, "label": value})

    def _opening(self, products: Mapping[str, str]) -> None:
        """Create the opening stock count, if the warehouse has no count yet."""
        if any(count["warehouse_id"] == self.warehouse for count in self.admin.every(f"{AT}/stock-counts")):
            return
        shipped: defaultdict[str, Decimal] = defaultdict(Decimal)
        for order in self.northwind.orders:
            for line in order.lines if order.shipped else ():
                shipped[line.product] += line.quantity
        lines = [
            {
                "product_id": products[one.number],
                "counted": str(one.stock + shipped[one.number]),
                "cost": _money(one.price),
            }
            for one in self.northwind.goods.products
        ]
        first = min((order.ordered for order in self.northwind.orders if order.ordered), default=None)
        body = {"warehouse_id": self.warehouse, "day": first, "lines": lines}
        self.admin.create(f"{AT}/stock-counts", body)
        self.tally.created += 1

    def _purchases(self, suppliers: Mapping[str, str], products: Mapping[str, str]) -> None:
        """Create a purchase order for the goods on order at each supplier."""
        path = f"{AT}/purchase-orders"
        there = {record["remark"]: record for record in self.admin.every(path)}
        by_supplier: defaultdict[str, list[Product]] = defaultdict(list)
        for one in self.northwind.goods.products:
            if one.on_order:
                by_supplier[one.supplier].append(one)
        last = max((order.ordered for order in self.northwind.orders if order.ordered), default=None)
        for number, ordered in by_supplier.items():
            remark = f"Northwind, on order at supplier {number}"
            lines = [
                {"product_id": products[one.number], "quantity": str(one.on_order), "price": _money(one.price)}
                for one in ordered
            ]
            body = {
                "supplier_id": suppliers[number],
                "warehouse_id": self.warehouse,
                "ordered_on": last,
                "lines": lines,
                "remark": remark,
            }
            self._confirmed(path, there.get(remark), body, self.tally)

    def _sales(
        self,
        products: Mapping[str, str],
        customers: Mapping[str, str],
        sellers: Mapping[int, Client],
        terms: Terms,
    ) -> None:
        """Create every sales order, and its delivery on the day of the shipment."""
        path = f"{AT}/sales-orders"
        there = {record["remark"]: record for record in self.admin.every(path)}
        names = {customer.code: customer.name for customer in self.northwind.customers}

        def work(order: Order, tally: Tally) -> None:
            remark = f"Northwind order {order.number}"
            body = {
                "customer_name": names[order.customer],
                "customer_id": customers[order.customer],
                "salesperson_id": sellers[order.employee].user["userId"],
                "warehouse_id": self.warehouse,
                "ordered_on": order.ordered,
                "expected_on": order.required,
                "remark": remark,
                "lines": [_line(line, products[line.product]) for line in order.lines],
                **terms(order),
            }
            confirmed = self._confirmed(path, there.get(remark), body, tally)
            if order.shipped and confirmed["status"] == "confirmed":
                self.admin.create(f"{path}/{confirmed['id']}/deliver", {"day": order.shipped})
                tally.created += 1

        placed = [order for order in self.northwind.orders if order.lines and order.customer in customers]
        self.tally.add(each(placed, work, lambda done: self.told(f"{done} of {len(placed)} sales orders")))

    def _confirmed(self, path: str, there: Record | None, body: Record, tally: Tally) -> Record:
        if there is None:
            there = self.admin.create(path, body)
            tally.created += 1
        if there["status"] == "draft":
            there = self.admin.call("POST", f"{path}/{there['id']}/confirm")
        return there


def _supplier(one: Supplier) -> Record:
    return {
        "code": f"NW-{one.number}",
        "name": one.name,
        "contact": one.contact,
        "phone": one.phone,
        "address": one.address,
    }


def _product(one: Product) -> Record:
    return {
        "sku": f"NW-{one.number}",
        "name": one.name,
        "unit": one.unit or "piece",
        "category": one.category or None,
        "price": _money(one.price),
        "cost": _money(one.price),
        "status": "disabled" if one.discontinued else "enabled",
    }


def _line(line: OrderLine, product_id: str) -> Record:
    return {
        "product_id": product_id,
        "quantity": str(line.quantity),
        "price": _money(line.unit_price),
        "discount": str(line.discount),
    }


def _money(amount: Decimal) -> str:
    return f"{amount:.2f}"
