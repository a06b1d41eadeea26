"""The collections of master data: taxes, products, warehouses and suppliers; and those of the stock and its ledger."""

from __future__ import annotations

from typing import Any

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    array,
    boolean,
    choice,
    day as calendar_day,
    integer,
    money,
    obj,
    object_id,
    quantity,
    record_name,
    service_fields,
    text,
)
from plugins.api.business import GOODS, MAX_QUANTITY, SERVICE, TAX_RATE, currency, party_fields, price, terms_fields
from plugins.api.fields import record_code
from plugins.inventory.record_types import (
    ListedPrice,
    PriceList,
    Product,
    ReorderLevel,
    Stock,
    StockEntry,
    Supplier,
    Tax,
    Warehouse,
)
from plugins.inventory.texts import LIST_IN_USE, STILL_KEEPER, STOCK_LEFT, TAX_IN_USE

ENTRY_KINDS = ("receipt", "delivery", "transfer_in", "transfer_out", "count", "purchase_return", "sales_return")
_AFTER = (
    "The balance of the product in the warehouse after the movement, by day and on the same day in the order of entry. "
    "A movement that is entered later for an earlier day changes it."
)
_STATUS = choice("enabled", "disabled", label=("状态", "Status"), default="enabled", filter=True, nullable=False)

TOLERANCE = quantity(
    label=("超短交允差", "Delivery tolerance"),
    minimum="0",
    maximum="1",
    description="By what part of its quantity more, or less, of a line may be delivered or received; null: none. That of the "
    "product unless given.",
    example="0.05",
)
_RESERVED = quantity(label=("预留数量", "Reserved"), read_only=True, history=False)
_AVAILABLE = quantity(label=("可用数量", "Available"), read_only=True, history=False)


TAXES: Collection[Tax] = Collection(
    name="inventory_taxes",
    title="Tax",
    noun=Message("税种", "tax"),
    watched=True,
    fields={
        "code": record_code(label=("税种编码", "Tax code"), example="VAT13"),
        "name": record_name(label=("税种名称", "Tax name"), example="增值税 13%"),
        "rate": TAX_RATE.but(
            required=True, nullable=False, description="As a fraction; zero where `treatment` is not `taxed`."
        ),
        "included": boolean(
            label=("含税", "Included in prices"),
            description="Whether the prices of lines with this tax include it; null: as their document says.",
        ),
        "treatment": choice(
            "taxed",
            "exempt",
            "reverse_charge",
            label=("征税方式", "Treatment"),
            default="taxed",
            filter=True,
            nullable=False,
            description="`exempt`: no tax is due; `reverse_charge`: the buyer owes it.",
        ),
        "reason": text(
            label=("免税或反向征收依据", "Reason"),
            max_length=500,
            description="Why no tax is charged, as documents state it. Required unless `treatment` is `taxed`.",
            example="跨境应税服务免征增值税",
        ),
        "status": _STATUS,
    },
    indexes=(Index("code", unique=True),),
)


def proposed_tax(description: str) -> Field:
    """Return the field with the tax that new lines of orders take unless they name one."""
    return object_id(
        label=("默认税种", "Default tax"),
        ref=TAXES.name,
        on_delete="restrict",
        held=TAX_IN_USE,
        description=description,
    )


_UNIT = text(dictionary="inventory_unit", label=("单位", "Unit"), max_length=32, example="piece")
_FACTOR = quantity(
    label=("换算系数", "Factor"),
    minimum="0.0001",
    maximum=MAX_QUANTITY,
    required=True,
    nullable=False,
    description="How many of the product's own unit it is.",
    example="12",
)
PRODUCTS: Collection[Product] = Collection(
    name="inventory_products",
    code="sku",
    title="Product",
    noun=Message("商品", "product"),
    watched=True,
    fields={
        "sku": record_code(label=("商品编码", "SKU"), example="SKU-0001"),
        "name": record_name(label=("商品名称", "Product name"), example="铝合金支架"),
        "unit": _UNIT.but(rules={**_UNIT.rules, "minLength": 1}, default="piece", nullable=False),
        "units": array(
            obj("ProductUnit", {"unit": _UNIT.but(required=True, nullable=False, example="box"), "factor": _FACTOR}),
            label=("其他单位", "Further units"),
            max_items=20,
            default=[],
            nullable=True,
            description="Units besides `unit` in which lines of orders may count; stock is kept in `unit`.",
        ),
        "kind": choice(
            GOODS,
            SERVICE,
            label=("商品类型", "Kind"),
            default=GOODS,
            filter=True,
            nullable=True,
            description="A `service` is bought and sold as goods are, and has no stock; neither becomes the other. Null, "
            "as in records of earlier versions: `product`.",
        ),
        "category": text(
            dictionary="inventory_product_category",
            label=("商品分类", "Category"),
            max_length=64,
            filter=True,
            sort=True,
            example="parts",
        ),
        "price": price(
            label=("销售价", "Sales price"),
            sort=True,
            description="Sales price per unit; order lines use it unless they have a price of their own.",
        ),
        "cost": price(
            label=("采购价", "Purchase price"),
            description="Purchase price per unit; order lines use it unless they have a price of their own.",
        ),
        "tolerance": TOLERANCE.but(description="For order lines that have none of their own; null: none."),
        "on_hand": quantity(
            label=("库存数量", "Quantity on hand"),
            read_only=True,
            history=False,
            description="In all warehouses whose stock the caller sees; null without the permission to list stock, in "
            "responses of other requests than to list and read products, and for services.",
        ),
        "reserved": _RESERVED.but(
            description="What confirmed sales orders have still to get of it. Null as `on_hand`."
        ),
        "available": _AVAILABLE.but(description="`on_hand` less `reserved`; below zero: so much is backordered."),
        "tax_id": proposed_tax("For order lines, unless their customer or supplier has a tax of its own."),
        "status": _STATUS,
        "remark": text(label=("备注", "Remarks"), max_length=2000),
    },
    indexes=(Index("sku", unique=True),),
)

PRICE_LISTS: Collection[PriceList] = Collection(
    name="inventory_price_lists",
    title="PriceList",
    noun=Message("价目表", "price list"),
    watched=True,
    fields={
        "code": record_code(label=("价目表编码", "Code"), example="VIP-2026"),
        "name": record_name(label=("价目表名称", "Price list"), example="2026 年大客户价"),
        "kind": choice(
            "sale",
            "purchase",
            label=("适用范围", "For"),
            default="sale",
            filter=True,
            description="Whether it is for sales to customers or for purchases from suppliers.",
        ),
        "for_all": boolean(
            label=("适用所有客户或供应商", "For everybody"),
            default=False,
            filter=True,
            description="Otherwise it holds for the customers or suppliers that name it in `price_list_ids`.",
        ),
        "currency": currency().but(
            description="Of its prices: it is proposed for documents in this currency only. Null: the company's own."
        ),
        "valid_from": calendar_day(label=("生效日期", "Valid from"), filter=True, sort=True),
        "valid_to": calendar_day(label=("失效日期", "Valid to"), filter=True, sort=True),
        "status": _STATUS,
        "remark": text(label=("备注", "Remarks"), max_length=2000),
    },
    indexes=(Index("code", unique=True), Index("kind", "-valid_from")),
)

PRICES: Collection[ListedPrice] = Collection(
    name="inventory_prices",
    title="ListedPrice",
    noun=Message("价目", "price"),
    label="product_id",
    watched=True,
    fields={
        "price_list_id": object_id(
            label=("价目表", "Price list"), required=True, ref=PRICE_LISTS.name, on_delete="cascade", filter=True
        ),
        "product_id": object_id(
            label=("商品", "Product"), required=True, ref="inventory_products", on_delete="cascade", filter=True
        ),
        "min_quantity": quantity(
            label=("起订数量", "From quantity"),
            minimum="0",
            maximum=MAX_QUANTITY,
            default="0",
            nullable=False,
            description="The price holds for lines of at least this quantity.",
            example="100",
        ),
        "price": price(label=("单价", "Unit price"), required=True, nullable=False, example="9.50"),
        "price_per": quantity(
            label=("计价数量", "Price per"),
            minimum="0.0001",
            maximum=MAX_QUANTITY,
            description="How many units cost `price`; 1 unless given.",
        ),
    },
    indexes=(Index("price_list_id", "product_id", "min_quantity", unique=True), Index("product_id")),
)


def own_price_lists() -> Field:
    """Return the field with the price lists that hold for a customer or supplier, the preferred one first."""
    return array(
        object_id(ref=PRICE_LISTS.name, held=LIST_IN_USE),
        label=("价目表", "Price lists"),
        unique=True,
        max_items=10,
        default=[],
        nullable=True,
        description="Lists of its own, in order of preference, before those for everybody.",
    )


WAREHOUSES: Collection[Warehouse] = Collection(
    name="inventory_warehouses",
    title="Warehouse",
    noun=Message("仓库", "warehouse"),
    watched=True,
    keepers="keeper_ids",
    fields={
        "code": record_code(label=("仓库编码", "Warehouse code"), example="WH-01"),
        "name": record_name(label=("仓库名称", "Warehouse name"), example="上海仓"),
        "address": text(label=("地址", "Address"), max_length=500),
        "manager_id": integer(
            label=("仓库负责人", "Manager"), minimum=1, filter=True, ref="rbac_users", on_delete="keep"
        ),
        "keeper_ids": array(
            integer(minimum=1, ref="rbac_users", held=STILL_KEEPER),
            label=("仓管员", "Keepers"),
            unique=True,
            max_items=100,
            default=[],
            nullable=True,
            description="Who may see its stock and move goods there, in addition to those who see every row. If it "
            "names nobody, everybody with the permission may.",
        ),
        "status": _STATUS,
        "remark": text(label=("备注", "Remarks"), max_length=2000),
    },
    indexes=(Index("code", unique=True),),
)

SUPPLIERS: Collection[Supplier] = Collection(
    name="inventory_suppliers",
    title="Supplier",
    noun=Message("供应商", "supplier"),
    watched=True,
    fields={
        "code": record_code(label=("供应商编码", "Supplier code"), example="SUP-0001"),
        "name": record_name(label=("供应商名称", "Supplier name"), example="华东金属"),
        "contact": text(label=("联系人", "Contact person"), max_length=100, search=True, person=True),
        "phone": text(label=("电话", "Phone"), max_length=50, example="021-5555 0200"),
        "email": text(label=("邮箱", "Email"), max_length=200, format="idn-email", example="orders@example.com"),
        "address": text(label=("地址", "Address"), max_length=500),
        **party_fields(),
        **terms_fields(days="For receipts and invoices without payment terms of their own."),
        "currency": currency().but(description="Of its new orders and invoices; null: the company's own."),
        "tax_id": proposed_tax("For the lines of its orders, whatever the products say."),
        "price_list_ids": own_price_lists(),
        "status": _STATUS,
        "remark": text(label=("备注", "Remarks"), max_length=2000),
    },
    indexes=(Index("code", unique=True),),
)

_WAREHOUSE_OWNER = {
    "warehouse_creator_id": integer(
        label=("仓库创建人", "Warehouse created by"), minimum=0, read_only=True, nullable=False, ref="users"
    ),
    "warehouse_department_id": integer(
        label=("仓库所属部门", "Warehouse's department"), minimum=1, read_only=True, ref="departments"
    ),
}

STOCK: Collection[Stock] = Collection(
    name="inventory_stock",
    title="Stock",
    noun=Message("库存", "stock row"),
    follows="warehouse_id",
    fields={
        **service_fields(
            product_id=object_id(
                ref=PRODUCTS.name, on_delete="restrict", held=STOCK_LEFT, label=("商品", "Product"), filter=True
            ),
            warehouse_id=object_id(
                ref=WAREHOUSES.name, on_delete="restrict", held=STOCK_LEFT, label=("仓库", "Warehouse"), filter=True
            ),
            quantity=quantity(label=("库存数量", "Quantity on hand"), filter=True, sort=True),
            value=money(
                label=("库存金额", "Stock value"), sort=True, description="What the quantity cost, to the cent."
            ),
            average_cost=price(label=("平均成本", "Average cost"), description="`value` per unit: the moving average."),
        ),
        "reserved": _RESERVED.but(
            description="What confirmed sales orders have still to get from the warehouse. Null in the stock of a past day."
        ),
        "available": _AVAILABLE.but(
            description="`quantity` less `reserved`; below zero: so much is backordered. Null in the stock of a past day."
        ),
        "moved_on": calendar_day(
            label=("最近出入库日期", "Last movement"),
            read_only=True,
            description="The last day on which something moved; null until an earlier version's row moves again.",
        ),
        **_WAREHOUSE_OWNER,
    },
    indexes=(
        Index("product_id", "warehouse_id", unique=True),
        Index("warehouse_id", "-created_at"),
        Index("product_id", "-created_at"),
    ),
)

REORDER_LEVELS: Collection[ReorderLevel] = Collection(
    name="inventory_reorder_levels",
    title="ReorderLevel",
    noun=Message("补货点", "reorder level"),
    label="product_id",
    fields={
        "product_id": object_id(
            label=("商品", "Product"), required=True, ref=PRODUCTS.name, on_delete="cascade", filter=True
        ),
        "warehouse_id": object_id(
            label=("仓库", "Warehouse"), required=True, ref=WAREHOUSES.name, on_delete="cascade", filter=True
        ),
        "level": quantity(
            label=("补货点数量", "Reorder level"),
            minimum="0.0001",
            maximum=MAX_QUANTITY,
            required=True,
            nullable=False,
            description="The product is to be bought when what is available and on order together is below this.",
            example="20",
        ),
        "target": quantity(
            label=("补至数量", "Fill up to"),
            minimum="0.0001",
            maximum=MAX_QUANTITY,
            description="How much there is to be then; not below `level`, which it is unless given.",
            example="50",
        ),
        "lot": quantity(
            label=("采购批量", "Lot"),
            minimum="0.0001",
            maximum=MAX_QUANTITY,
            description="The quantity to be bought is so much, or a multiple of it.",
            example="10",
        ),
        "status": _STATUS,
        "remark": text(label=("备注", "Remarks"), max_length=2000),
    },
    indexes=(Index("product_id", "warehouse_id", unique=True), Index("warehouse_id")),
)

STOCK_ENTRIES: Collection[StockEntry] = Collection(
    name="inventory_stock_entries",
    title="StockEntry",
    noun=Message("库存流水", "stock entry"),
    follows="warehouse_id",
    fields={
        **service_fields(
            product_id=object_id(label=("商品", "Product"), filter=True, ref=PRODUCTS.name),
            warehouse_id=object_id(label=("仓库", "Warehouse"), filter=True, ref=WAREHOUSES.name),
            kind=choice(*ENTRY_KINDS, label=("出入库类型", "Movement type"), filter=True),
            day=calendar_day(label=("业务日期", "Date"), filter=True, sort=True),
            quantity=quantity(
                label=("数量", "Quantity"),
                description="Positive for goods that came in, negative for goods that went out.",
            ),
            value=money(label=("金额", "Value"), description="The value that moved with it."),
            quantity_after=quantity(label=("结存数量", "Quantity after"), description=_AFTER),
            value_after=money(label=("结存金额", "Value after"), description=_AFTER),
            document_id=object_id(label=("来源单据", "Source document"), filter=True),
            document_number=text(label=("单据编号", "Document number"), max_length=32, filter=True),
        ),
        "difference": money(
            label=("退货差价", "Price difference"),
            read_only=True,
            description="Of goods that go back to a supplier: what the stock lost with them, less what the supplier "
            "credits. Null for other movements.",
        ),
        **_WAREHOUSE_OWNER,
    },
    indexes=(
        Index("warehouse_id", "-created_at"),
        Index("product_id", "-created_at"),
        Index("product_id", "warehouse_id", "day"),
        Index("document_id"),
        Index("day"),
    ),
)

MASTER_DATA: tuple[Collection[Any], ...] = (
    TAXES,
    PRODUCTS,
    PRICE_LISTS,
    PRICES,
    WAREHOUSES,
    SUPPLIERS,
    REORDER_LEVELS,
)
