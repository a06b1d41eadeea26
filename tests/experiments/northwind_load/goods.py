"""Reads the goods of the Northwind company: suppliers and products. Pure: no network, nothing printed."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from tests.experiments.northwind_load.files import ADDRESS, LEFT_OVER, Line, Note, lines_of


@dataclass(frozen=True)
class Supplier:
    """A supplier in the form that the service accepts; `number` is that of the file."""

    number: str
    name: str
    contact: str
    phone: str
    address: str


@dataclass(frozen=True)
class Product:
    """A product; `stock` is the quantity in stock, `on_order` the quantity ordered from its supplier, not yet in."""

    number: str
    name: str
    supplier: str
    category: str
    unit: str
    price: Decimal
    stock: int
    on_order: int
    discontinued: bool


@dataclass(frozen=True)
class Goods:
    """All suppliers and products, in the order of the files."""

    suppliers: tuple[Supplier, ...]
    products: tuple[Product, ...]


def read_goods(folder: Path, notes: list[Note]) -> Goods:
    """Return the suppliers, and the products that refer to one of them."""
    suppliers = {line.cells["supplierID"]: _supplier(line) for line in lines_of(folder, "suppliers", notes, trusted=2)}
    lines = lines_of(folder, "categories", notes, trusted=2)
    categories = {line.cells["categoryID"]: line.cells["categoryName"] for line in lines}
    products = []
    for line in lines_of(folder, "products", notes):
        number, supplier = line.cells["productID"], line.cells["supplierID"]
        if supplier not in suppliers:
            text = f"product {number} of unknown supplier {supplier!r}, left out"
            notes.append(Note("reported", "products.csv", line.number, text))
            continue
        try:
            products.append(_product(line, categories))
        except (InvalidOperation, ValueError):
            text = f"product {number} has something that is no number, left out"
            notes.append(Note("reported", "products.csv", line.number, text))
    return Goods(tuple(suppliers.values()), tuple(products))


def _supplier(line: Line) -> Supplier:
    cells = line.cells
    return Supplier(
        number=cells["supplierID"],
        name=cells["companyName"],
        contact=cells["contactName"],
        phone=cells["phone"],
        address=", ".join(filter(None, (cells[part] for part in ADDRESS))) or cells.get(LEFT_OVER, ""),
    )


def _product(line: Line, categories: Mapping[str, str]) -> Product:
    cells = line.cells
    return Product(
        number=cells["productID"],
        name=cells["productName"],
        supplier=cells["supplierID"],
        category=categories.get(cells["categoryID"], ""),
        unit=cells["quantityPerUnit"],
        price=Decimal(cells["unitPrice"]),
        stock=int(cells["unitsInStock"]),
        on_order=int(cells["unitsOnOrder"]),
        discontinued=cells["discontinued"] == "1",
    )
