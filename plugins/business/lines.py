"""The fields of the lines with prices that orders and invoices have. They are declared here once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from handlers.schema.fields import Field, FieldOptions, boolean, choice, integer, money, quantity, text

MAX_QUANTITY = "999999999.9999"
PRICE_PLACES = 6
MAX_PRICE = "999999999.99"
MAX_AMOUNT = "9999999999999.99"  # for a line and for a document: 15 digits, which every client represents exactly
MOST_LINES = 1_000  # of a document, and of what is moved of it
GOODS, SERVICE, TEXT = "product", "service", "text"
LINE_KINDS = (GOODS, SERVICE, TEXT)


def price(**options: Unpack[FieldOptions]) -> Field:
    """Return the field for an amount per unit, with up to six decimals."""
    return money(minimum="0", maximum=MAX_PRICE, places=PRICE_PLACES, **options)


TAX_RATE_PLACES = 6  # some taxes are sums of rates of a country, a county and a city, such as 8.875 %
TAX_RATE = quantity(
    label=("税率", "Tax rate"),
    minimum="0",
    maximum="1",
    places=TAX_RATE_PLACES,
    description="As a fraction.",
    example="0.13",
)
LINE_NUMBER = integer(label=("行号", "Line"), minimum=1, maximum=MOST_LINES)
LINE_KIND = choice(
    *LINE_KINDS,
    label=("行类型", "Kind"),
    description="`product`: goods in stock; `service`: nothing moves; `text`: words alone. Unless given, as the product, or "
    "without one by what there is beside the description. Null in documents of earlier versions: `product`.",
)
LINE_DESCRIPTION = text(
    label=("说明", "Description"),
    max_length=500,
    description="Required on a line without a product.",
    example="上门安装",
)
LINE_UNIT = text(
    dictionary="inventory_unit",
    label=("单位", "Unit"),
    max_length=32,
    description="One of its product, in which `quantity` counts; the product's own unless given. Free without a product.",
    example="piece",
)
UNIT_FACTOR = quantity(
    label=("换算系数", "Factor of the unit"),
    read_only=True,
    description="How many of the product's own unit that is; null: it is that unit.",
)
_OLDER = "Null in orders of earlier versions, which had no tax."
WITHOUT_TAX = money(label=("不含税金额", "Net amount"), read_only=True, description=_OLDER)
TAX = money(label=("税额", "Tax"), read_only=True, description=_OLDER)
WIDE_CELL, NARROW_CELL = {"className": "cell wide aside"}, {"className": "cell amount aside"}
LINE_CELLS: Mapping[str, Mapping[str, object]] = {
    "lines.unit_price": {},  # another name of `price`
    "lines.kind": {"type": "hidden"},  # follows from what is entered
    "lines.tax_rate": {"visibleOn": "${!tax_id}", "clearValueOnHidden": True},
    "lines.tax_id": WIDE_CELL,
    "lines.description": WIDE_CELL,
    "lines.unit": NARROW_CELL,
    "lines.price_per": NARROW_CELL,
    "lines.discount_amount": NARROW_CELL,
    "lines.reference": WIDE_CELL,
}


def priced_line(*, product_id: Field, tax_id: Field) -> dict[str, Field]:
    """Return the fields of a line with a price; those of its product and its tax come from who knows their records."""
    unit_price = price(
        label=("单价", "Unit price"), description="Of `price_per` units; that of the product unless given."
    )
    return {
        "product_id": product_id,
        "quantity": quantity(
            label=("数量", "Quantity"),
            minimum="0",
            maximum=MAX_QUANTITY,
            nullable=False,
            description="Above zero; a line of text has none, which is zero.",
            example="2.5",
        ),
        "price": unit_price,
        "discount": quantity(
            label=("折扣率", "Discount"),
            minimum="0",
            maximum="1",
            description="Taken off the price, as a fraction.",
            example="0.05",
        ),
        "tax_rate": TAX_RATE.but(description="As a fraction; that of `tax_id`, or zero unless given."),
        "tax_id": tax_id,
        "kind": LINE_KIND,
        "description": LINE_DESCRIPTION,
        "price_per": quantity(
            label=("计价数量", "Price per"),
            minimum="0.0001",
            maximum=MAX_QUANTITY,
            description="How many units cost `price`; 1 unless given.",
            example="1",
        ),
        "discount_amount": money(
            label=("折扣金额", "Discount amount"),
            minimum="0",
            maximum=MAX_PRICE,
            description="Taken off the line, after `discount`.",
        ),
        "unit": LINE_UNIT,
        "unit_factor": UNIT_FACTOR,
        "reference": text(
            label=("对方编号", "Reference"), max_length=100, description="What the other party calls it."
        ),
        "unit_price": unit_price.but(
            label=("单价（同 price）", "Price per unit"),
            description="Another name of `price`; of two that differ, neither is taken.",
        ),
        "line": LINE_NUMBER.but(
            read_only=True,
            description="Deliveries, receipts and returns name the line by it. Null in orders of earlier versions.",
        ),
        "tax_included": boolean(
            label=("含税", "Tax included"), read_only=True, description="As its tax says; null: as the order says."
        ),
        "net": WITHOUT_TAX,
        "tax": TAX,
        "amount": money(
            label=("金额", "Amount"),
            read_only=True,
            nullable=False,
            description="With tax, less its share of the order's discount.",
        ),
    }
