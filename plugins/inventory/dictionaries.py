"""The dictionaries of inventory."""

from __future__ import annotations

from plugins.api import Dictionary, Item, Message

DICTIONARIES = (
    Dictionary(
        "inventory_unit",
        Message("计量单位", "Unit"),
        (
            Item("piece", Message("件", "Piece")),
            Item("box", Message("箱", "Box")),
            Item("set", Message("套", "Set")),
            Item("kg", Message("千克", "Kilogram")),
            Item("m", Message("米", "Metre")),
            Item("l", Message("升", "Litre")),
        ),
    ),
    Dictionary(
        "inventory_product_category",
        Message("商品类别", "Product category"),
        (
            Item("parts", Message("零部件", "Parts")),
            Item("materials", Message("原材料", "Materials")),
            Item("finished", Message("成品", "Finished goods")),
            Item("supplies", Message("耗材", "Supplies")),
        ),
    ),
    Dictionary(
        "inventory_stock_entry_kind",
        Message("库存流水类型", "Kind of stock entry"),
        (
            Item("receipt", Message("采购入库", "Receipt"), "green"),
            Item("delivery", Message("销售出库", "Delivery"), "blue"),
            Item("transfer_in", Message("调入", "Transfer in"), "cyan"),
            Item("transfer_out", Message("调出", "Transfer out"), "orange"),
            Item("count", Message("盘点", "Count"), "purple"),
        ),
    ),
)
