"""Messages of the plugin dashboard, in Chinese and English."""

from plugins.api import Message

TOO_SLOW = Message("统计超时，请缩小范围后重试", "The dashboard took too long; try a smaller range")
