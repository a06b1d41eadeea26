"""The dictionaries of inventory."""

from __future__ import annotations

from plugins.api import dictionary

DICTIONARIES = (
    dictionary(
        "inventory_unit",
        ("计量单位", "Unit"),
        piece=("件", "Piece"),
        box=("箱", "Box"),
        set=("套", "Set"),
        kg=("千克", "Kilogram"),
        m=("米", "Metre"),
        l=("升", "Litre"),
    ),
    dictionary(
        "inventory_product_category",
        ("商品分类", "Product category"),
        parts=("零部件", "Parts"),
        materials=("原材料", "Materials"),
        finished=("成品", "Finished goods"),
        supplies=("耗材", "Supplies"),
    ),
    dictionary(
        "inventory_stock_entry_kind",
        ("出入库类型", "Movement type"),
        receipt=("采购入库", "Receipt", "green"),
        delivery=("销售出库", "Delivery", "blue"),
        transfer_in=("调入", "Transfer in", "cyan"),
        transfer_out=("调出", "Transfer out", "orange"),
        count=("盘点", "Count", "purple"),
        purchase_return=("采购退货", "Purchase return", "gold"),
        sales_return=("销售退货", "Sales return", "geekblue"),
    ),
)
