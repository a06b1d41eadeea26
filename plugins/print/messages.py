"""Texts of the plugin print, in Chinese and English."""

from plugins.api import Message

TOO_COSTLY = Message("单据内容过多，无法排版", "There is too much on this paper to print it")
NOT_INSTALLED = Message(
    "无法打印：服务器缺少 {what}，请管理员重新安装 Tradewind 及其依赖",
    "Printing needs {what}, which is missing: ask an administrator to install Tradewind with its dependencies",
)
TEMPLATE_FAILS = Message(
    "打印模板“{name}”不适用于此单据：{fault}", 'The print template "{name}" does not work for this paper: {fault}'
)

NO_TOKEN = Message("不是有效格式的核验码", "This has not the form of a code on a paper")
PAGE_TITLE = Message("单据核验", "Check a paper")
PAGE_ASKS = Message("请按纸面填写，以便核对。", "Type what the paper says, so that it can be compared.")
NUMBER = Message("单据编号", "Number")
TOTAL = Message("合计金额", "Total")
CHECK = Message("核验", "Check")
VERDICTS = {
    "equal": Message("与系统记录一致", "This paper agrees with our records"),
    "older": Message("打印后记录已变更，请索取最新单据", "The record has changed since: ask for a new paper"),
    "altered": Message("与我方出具的单据不符，请勿采信", "This is not the paper that we issued: do not rely on it"),
}
PAGE_NOTE = Message(
    "核验比对编号与合计金额；其他内容请以最新打印件为准。",
    "Number and total are compared; for all else, ask for a new print.",
)
