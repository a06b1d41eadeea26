"""Messages of the plugin webhook, in Chinese and English."""

from plugins.api import Message

NO_DELIVERY = Message("该事件推送没有这条记录", "The webhook has no such delivery")
DISABLED = Message("事件推送“{name}”已停用", 'The webhook "{name}" was disabled')
DISABLED_WHY = Message(
    "接收方持续多日无法接收，或要求不再推送。修复后请重新启用，并重发失败的推送。",
    "Its receiver has failed for days, or asked for no more messages. Enable it again when that is mended, and replay"
    " what failed.",
)
