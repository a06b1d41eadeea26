"""What people read: messages, dictionaries, menus and the titles of permissions."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Menu, Message, dictionary, page
from plugins.api.business import TERMS_FROM

NOT_ENOUGH = Message(
    "库存不足：{sku} 现有 {held}，需要 {wanted}", "Not enough stock of {sku}: {held} on hand, {wanted} needed"
)
NOT_ENOUGH_THEN = Message(
    "{day} 库存不足：{sku} 当日结存 {held}，需要 {wanted}",
    "Not enough stock of {sku} on {day}: {held} were there at the end of that day, {wanted} needed",
)
STOCK_LEFT = Message("仍有库存，不能删除", "It still has stock and cannot be deleted")
STILL_KEEPER = Message(
    "该用户仍是仓库的仓管员，不能删除", "This person is still a keeper of a warehouse and cannot be deleted"
)
IN_USE = Message("已被订单或报价单使用，不能删除", "It is used in orders or quotations and cannot be deleted")
TAX_IN_USE = Message(
    "仍有商品、客户或供应商使用该税种，不能删除",
    "Products, customers or suppliers have this tax, so it cannot be deleted",
)
LIST_IN_USE = Message(
    "仍有客户或供应商使用该价目表，不能删除", "Customers or suppliers have this price list, so it cannot be deleted"
)
KIND_STAYS = Message(
    "商品不能改为服务，服务也不能改为商品", "A product cannot become a service, nor a service a product"
)
NOT_A_DRAFT = Message("只有草稿可以修改", "Only a draft can be changed")
NOT_DELETABLE = Message(
    "只有草稿或已取消的订单可以删除；结账后取消的订单须保留",
    "Only a draft or a cancelled order can be deleted, and not what was cancelled after its month was closed",
)
NOT_IN_STATE = Message("订单状态不允许该操作", "The state of the order does not allow this")
QUOTATION_NOT_IN_STATE = Message("报价单状态不允许该操作", "The state of the quotation does not allow this")
QUOTATION_NOT_DELETABLE = Message(
    "只有草稿或已拒绝的报价单可以删除", "Only a draft or a quotation that was rejected can be deleted"
)
EXPIRED = Message(
    "报价单已于 {day} 到期，请先延长有效期", "The quotation was valid until {day}: it has to be renewed first"
)
MORE_THAN_QUOTED = Message(
    "第 {line} 行的数量超过报价单的未下单数量：{open}",
    "Line {line}: the quantity exceeds what is not ordered yet of the quotation: {open}",
)
HAS_CONTRACT = Message("报价单已转为合同", "A contract was already made of the quotation")
NO_CONTRACTS = Message("系统未启用合同管理，不能转合同", "No contracts are kept here, so none can be made")
NOTHING_OPEN = Message("订单中该商品没有待收发的数量", "The order has no open quantity of this product")
MORE_THAN_OPEN = Message(
    "数量超过订单的待收发数量：{open}", "The quantity exceeds the open quantity of the order: {open}"
)
MORE_THAN_TOLERATED = Message(
    "数量超过订单的待收发数量 {open}，含允差最多 {most}",
    "The quantity exceeds the open quantity of the order, {open}, and with its tolerance at most {most} may be shipped",
)
TOO_MUCH_MISSING = Message(
    "第 {line} 行还缺 {open}，超出允差，不能按完成处理",
    "Line {line}: {open} would be missing, which is more than its tolerance, so it cannot be completed",
)
REVISION_NOT_IN_STATE = Message("订单变更的状态不允许该操作", "The state of the revision does not allow this")
REVISION_WAITS = Message(
    "订单已有待审批的变更 {number}，请先处理或取消",
    "Revision {number} of the order waits: it has to be decided or cancelled first",
)
REVISION_OUTDATED = Message(
    "订单此后已有收货或开票，该变更生效后将超出其所示内容，请取消后重新变更",
    "The order was received or invoiced since, so that the revision would come to more than it says: cancel it, and revise again",
)
NOTHING_REVISED = Message("没有任何变更", "Nothing would change")
NOT_REVISABLE = Message(
    "旧版本录入的订单不能变更，请关闭后重新下单",
    "An order of an earlier version cannot be revised: close it and enter what is left as another one",
)
LINE_SETTLED = Message(
    "第 {line} 行已收发或已开票，商品、单位、单价、折扣和税不能变更，请另加一行",
    "Line {line}: some of it was shipped or invoiced, so its product, unit, price, discount and tax stay; add another line",
)
BELOW_SETTLED = Message(
    "第 {line} 行已收发或已开票 {least}，数量不能更少",
    "Line {line}: {least} was shipped or invoiced, so its quantity cannot be less",
)
SETTLED_LINE_DROPPED = Message(
    "第 {line} 行已收发或已开票，不能删除", "Line {line} was shipped or invoiced, so it cannot be dropped"
)
FREIGHT_SETTLED = Message("运费已收发或已开票，不能变更", "The freight was shipped or invoiced, so it stays")
BELOW_BILLED = Message(
    "发票已开 {least}，订单金额不能更少", "Invoices bill {least} of the order, so it cannot come to less"
)
NOT_BELOW_LEVEL = Message(
    "该补货点已满足或已停用，无需采购", "The reorder level is reached, or not in use, so nothing is to be ordered"
)
WAREHOUSE_GONE = Message("仓库或商品已被删除", "The warehouse or the product has been deleted")
MORE_THAN_LEFT = Message(
    "第 {line} 行的退货数量超过可退数量：{open}", "Line {line}: the quantity exceeds what can still be returned: {open}"
)
NOTHING_LEFT = Message("已全部退货", "Everything has already been returned")
ALREADY_REVERSED = Message(
    "单据已冲销，或本身是冲销单据", "The document has already been reversed, or is itself a reversal"
)
SHIPMENT_REVERSED = Message(
    "出库单或入库单已冲销，其退货单不能再单独冲销",
    "The delivery or receipt has been reversed, so its returns cannot be reversed separately any more",
)
NOT_KEEPER = Message("只有该仓库的仓管员可以冲销", "Only the keepers of the warehouse may reverse this")


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
        "inventory_line_kind",
        ("行类型", "Kind of line"),
        product=("商品", "Product"),
        service=("服务", "Service"),
        text=("文字说明", "Text"),
    ),
    dictionary("inventory_terms_from", ("账期起算日", "Start of payment terms"), **TERMS_FROM),
    dictionary(
        "inventory_price_list_kind",
        ("价目表适用范围", "Use of a price list"),
        sale=("销售", "Sales"),
        purchase=("采购", "Purchases"),
    ),
    dictionary(
        "inventory_tax_treatment",
        ("征税方式", "Treatment of tax"),
        taxed=("应税", "Taxed"),
        exempt=("免税", "Exempt"),
        reverse_charge=("反向征收", "Reverse charge"),
    ),
    dictionary(
        "inventory_tax_rounding",
        ("税额舍入方式", "Rounding of tax"),
        document=("整单舍入", "Of the document"),
        line=("逐行舍入", "Of each line"),
    ),
    dictionary(
        "inventory_margin_by",
        ("毛利汇总方式", "Margins by"),
        product=("按商品", "Product"),
        customer=("按客户", "Customer"),
        salesperson=("按销售员", "Salesperson"),
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


MENUS = (
    Menu("inventory", Message("进销存", "Inventory"), path="/inventory", icon="lucide:warehouse", order=300),
    page("inventory:product", ("商品", "Products"), "/inventory/products", "lucide:package", 1),
    page("inventory:warehouse", ("仓库", "Warehouses"), "/inventory/warehouses", "lucide:warehouse", 2),
    page("inventory:supplier", ("供应商", "Suppliers"), "/inventory/suppliers", "lucide:truck", 3),
    page(
        "inventory:purchase-order",
        ("采购订单", "Purchase orders"),
        "/inventory/purchase-orders",
        "lucide:shopping-cart",
        4,
    ),
    page(
        "inventory:purchase-order-revision",
        ("采购订单变更", "Purchase order revisions"),
        "/inventory/purchase-order-revisions",
        "lucide:file-signature",
        4,
        granted_with="inventory:purchase-order:list",
    ),
    page("inventory:receipt", ("入库单", "Receipts"), "/inventory/receipts", "lucide:package-plus", 5),
    page("inventory:quotation", ("报价单", "Quotations"), "/inventory/quotations", "lucide:file-pen-line", 6),
    page("inventory:sales-order", ("销售订单", "Sales orders"), "/inventory/sales-orders", "lucide:receipt", 6),
    page("inventory:delivery", ("出库单", "Deliveries"), "/inventory/deliveries", "lucide:package-minus", 7),
    page("inventory:transfer", ("调拨", "Transfers"), "/inventory/transfers", "lucide:arrow-left-right", 8),
    page("inventory:stock-count", ("盘点", "Stock counts"), "/inventory/stock-counts", "lucide:clipboard-check", 9),
    page("inventory:stock", ("库存", "Stock"), "/inventory/stock", "lucide:boxes", 10),
    page(
        "inventory:purchase-return",
        ("采购退货", "Purchase returns"),
        "/inventory/purchase-returns",
        "lucide:undo-2",
        11,
    ),
    page("inventory:tax", ("税种", "Taxes"), "/inventory/taxes", "lucide:percent", 13),
    page("inventory:price-list", ("价目表", "Price lists"), "/inventory/price-lists", "lucide:tags", 14),
    page("inventory:price", ("价目", "Prices"), "/inventory/prices", "lucide:tag", 15),
    page("inventory:reorder-level", ("补货点", "Reorder levels"), "/inventory/reorder-levels", "lucide:target", 16),
    page(
        "inventory:reorder-proposal",
        ("补货建议", "Reorder proposals"),
        "/inventory/reorder-proposals",
        "lucide:list-checks",
        17,
    ),
    page(
        "inventory:margin",
        ("毛利分析", "Margins"),
        "/inventory/margins",
        "lucide:activity",
        18,
        granted_with="inventory:stock:ledger",
    ),
    page("inventory:sales-return", ("销售退货", "Sales returns"), "/inventory/sales-returns", "lucide:redo-2", 12),
)

PERMISSIONS: Mapping[str, Message] = {
    "inventory:purchase-order:hold": Message("挂起", "Hold"),
    "inventory:sales-order:hold": Message("挂起", "Hold"),
    "inventory:stock:ledger": Message("库存流水", "Stock ledger"),
    "inventory:transfer:reverse": Message("冲销", "Reverse"),
    "inventory:stock-count:reverse": Message("冲销", "Reverse"),
    "inventory:receipt:return": Message("采购退货", "Return to the supplier"),
    "inventory:receipt:reverse": Message("冲销", "Reverse"),
    "inventory:purchase-return:reverse": Message("冲销", "Reverse"),
    "inventory:sales-return:reverse": Message("冲销", "Reverse"),
    "inventory:delivery:return": Message("销售退货", "Return from the customer"),
    "inventory:delivery:reverse": Message("冲销", "Reverse"),
}
