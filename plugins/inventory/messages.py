"""The messages of inventory."""

from plugins.api import Message

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
IN_USE = Message("已被订单使用，不能删除", "It is used in orders and cannot be deleted")
NOT_A_DRAFT = Message("只有草稿可以修改", "Only a draft can be changed")
NOT_DELETABLE = Message(
    "只有草稿或已取消的订单可以删除；结账后取消的订单须保留",
    "Only a draft or a cancelled order can be deleted, and not what was cancelled after its month was closed",
)
NOT_IN_STATE = Message("订单状态不允许该操作", "The state of the order does not allow this")
NOTHING_OPEN = Message("订单中该商品没有待收发的数量", "The order has no open quantity of this product")
MORE_THAN_OPEN = Message(
    "数量超过订单的待收发数量：{open}", "The quantity exceeds the open quantity of the order: {open}"
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
