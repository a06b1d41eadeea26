"""Messages of the plugin dashboard, in Chinese and English."""

from plugins.api import Message

TOO_SLOW = Message("统计超时，请缩小范围后重试", "The dashboard took too long; try a smaller range")
NOT_LISTED = Message("您没有查看该数据所含记录的权限", "You may not list the records behind this figure")
