"""Messages of the plugin system, in Chinese and English."""

from plugins.api import Message

DICTIONARY_DECLARED = Message(
    "由插件声明的字典不可删除，也不可修改类型",
    "A dictionary that a plugin declares cannot be deleted or given another type",
)
ITEM_DECLARED = Message(
    "由插件声明的字典项不可删除，可停用", "An item that a plugin declares cannot be deleted; disable it instead"
)

ITEM_USED = Message(
    "仍有记录使用字典项 {value}，不可删除，可停用",
    "Records still use the item {value}, so it cannot be deleted; disable it instead",
)

SETTING_OF_SUPERS = Message(
    "设置项 {keys} 仅超级管理员可更改", "Only a super administrator may change these settings: {keys}"
)

NO_SETTING = Message("没有该设置项", "There is no such setting")

# shown by GET /api/v1/system/authorization/explain
NO_ITEM = Message("没有该字典，或字典中没有该项", "There is no such dictionary, or it has no such item")

NO_VIEW = Message("没有该视图，或视图未共享给您", "There is no such view, or it is not shared with you")
NOT_YOUR_VIEW = Message("他人共享的视图不可修改或删除", "A view that somebody else shares cannot be changed or deleted")
SHARES_WITH_ALL = Message(
    "共享给全公司需要有修改系统设置的权限", "Sharing with everybody needs the permission to change settings"
)
TOO_MANY_VIEWS = Message("每人最多保存 {most} 个视图", "Nobody can save more than {most} views")

TOO_MANY_FIELDS = Message("每种记录最多 {most} 个自定义字段", "Records of a kind can have at most {most} custom fields")
TOO_MANY_FILTERS = Message(
    "每种记录最多按 {most} 个自定义字段筛选",
    "Lists can be filtered by at most {most} custom fields of a kind of record",
)
FIELD_DELETED = Message(
    "已有同名字段被删除，其数据仍保留：请恢复该字段，或换一个字段名",
    "A deleted field of this name keeps its values: restore it, or choose another name",
)
