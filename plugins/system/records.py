"""The records of system: dictionaries and the settings that administrators changed."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    anything,
    array,
    boolean,
    choice,
    integer,
    mapping,
    obj,
    record_name,
    shape,
    text,
)
from plugins.api.fields import BLANK
from plugins.api.records import CUSTOM_FIELDS

MAX_ITEMS = 1000

ITEM_FIELDS = {
    "value": text(
        label=("值", "Value"),
        required=True,
        max_length=64,
        pattern=rf"^[^{BLANK}]([^\n\r\u2028\u2029]*[^{BLANK}])?$",
        example="A",
    ),
    "label": text(
        label=("标签", "Label"),
        required=True,
        max_length=100,
        example="重点",
        description="Read and written in the caller's language.",
    ),
    "color": text(label=("颜色", "Colour"), max_length=32, example="red"),
    "sort": integer(label=("排序", "Sort order"), minimum=0, maximum=1_000_000, nullable=False),
    "status": choice("enabled", "disabled", label=("状态", "Status"), nullable=False),
}
_CHANGEABLE = {name: field.but(required=False) for name, field in ITEM_FIELDS.items() if name != "value"}
VERSION = integer(
    minimum=1, required=True, description="The version of the dictionary that was read; a stale one is 40902."
)

DICTIONARIES = Collection(
    name="system_dictionaries",
    title="Dictionary",
    noun=Message("字典", "dictionary"),
    ids="integer",
    default_sort="type",
    watched=True,
    fields={
        "type": text(
            label=("字典类型", "Type"),
            required=True,
            max_length=64,
            pattern=r"^[a-z][a-z0-9_.-]*$",
            sort=True,
            filter=True,
            search=True,
            example="crm_customer_level",
        ),
        "name": record_name(
            label=("字典名称", "Dictionary name"),
            max_length=100,
            description="Read and written in the caller's language.",
        ),
        "items": array(
            obj("DictionaryItem", ITEM_FIELDS),
            label=("字典项", "Items"),
            max_items=MAX_ITEMS,
            default=[],
            nullable=False,
        ),
    },
    indexes=(Index("type", unique=True),),
    # each item also holds `label_en`, `declared` and `edited`
    internal=("name_en", "declared", "edited"),
)

ITEM = shape("DictionaryEntry", **ITEM_FIELDS, version=VERSION)
ITEM_CREATE = shape("DictionaryEntryCreate", **ITEM_FIELDS)
ITEM_UPDATE = shape("DictionaryEntryUpdate", version=VERSION, **_CHANGEABLE)

CONFIGS = Collection(
    name="system_configs",
    title="StoredConfig",
    noun=Message("系统参数", "setting"),
    ids="text",
    default_sort="id",
    watched=True,
    fields={
        "value": anything(label=("参数值", "Value")),
        "changed": boolean(label=("已修改", "Changed"), default=False, description="False while the default applies."),
    },
)

CONFIG = shape(
    "Config",
    description=text(label=("说明", "Description"), nullable=False),
    value=anything(label=("取值", "Value")),
    default=anything(label=("默认值", "Default"), description="The value as long as nobody changes it."),
    public=boolean(label=("公开", "Public"), nullable=False),
    super_only=boolean(
        label=("仅超级管理员可改", "Super administrators only"),
        nullable=False,
        description="Whether only super administrators may change it.",
    ),
    key=text(label=("参数键", "Key"), nullable=False),
    id=text(nullable=False, description="The key."),
    version=integer(minimum=1, nullable=False),
    schema=anything(label=("取值规则", "Schema"), nullable=False, description="The JSON Schema of the value."),
    labels=mapping(
        text(nullable=False), nullable=False, description="The words for the values, if only some are allowed."
    ),
)
CONFIG_BODY = shape(
    "ConfigBody",
    values=anything(required=True, nullable=False, description="Key → value.", example={"site_name": "Tradewind"}),
    versions=anything(
        description='Key → the version that was read, such as `{"site_name": 1}`, for any of the keys; '
        "a stale one is 40902.",
        example={},
    ),
)

CONFIG_UPDATE = shape(
    "ConfigUpdate",
    value=anything(label=("取值", "Value"), required=True, description="Must fit the `schema` of the setting."),
    version=integer(
        minimum=1,
        required=True,
        description="The version that was read; if the setting has changed since, the response is 40902.",
    ),
)

CUSTOM_FIELD_UPDATE = shape(
    "CustomFieldUpdate",
    version=integer(
        label=("版本号", "Version"),
        minimum=1,
        required=True,
        description="The version that was read; if the field has changed since, the response is 40902.",
    ),
    **{name: CUSTOM_FIELDS.fields[name].but(required=False, nullable=False) for name in ("label", "label_en")},
    **{name: CUSTOM_FIELDS.fields[name].but(default=None, nullable=False) for name in ("required", "filterable")},
)
CUSTOM_FIELD_TRIAL = shape(
    "CustomFieldTrial",
    **{name: CUSTOM_FIELDS.fields[name].but(default=None, nullable=False) for name in ("required", "filterable")},
    removed=boolean(label=("删除字段", "Remove it"), nullable=False),
)
_COUNTED = integer(minimum=0, nullable=False)
CUSTOM_FIELD_REHEARSAL = shape(
    "CustomFieldRehearsal",
    records=_COUNTED.but(label=("记录数", "Records"), description="All records of the collection."),
    with_value=_COUNTED.but(label=("已有值", "With a value"), description="Those with a value in it."),
    incomplete=_COUNTED.but(
        label=("缺少必填值", "Without the required value"),
        description="Records that would lack a required value; they stay as they are.",
    ),
    hidden=_COUNTED.but(
        label=("将隐藏的值", "Values to be hidden"), description="Values that nobody would see until it is restored."
    ),
    index=choice("created", "removed", label=("索引", "Index"), description="What happens to its index, if anything."),
)
EXTENSIBLE = shape(
    "ExtensibleCollection",
    collection=text(label=("数据", "Collection"), nullable=False),
    name=text(label=("名称", "Name"), nullable=False, description="In the caller's language."),
    fields=_COUNTED.but(label=("自定义字段数", "Custom fields")),
    filterable=_COUNTED.but(label=("可筛选字段数", "Filterable ones")),
)

RESET_BODY = shape(
    "DataResetBody",
    modules=array(text(max_length=64), min_items=1, unique=True, required=True, description="Names of plugins."),
    confirm=choice("RESET", required=True),
)
RESET = shape(
    "DataReset",
    collections=array(
        obj("WipedCollection", {"name": text(nullable=False), "removed": integer(minimum=0, nullable=False)}),
        max_items=1000,
        nullable=False,
    ),
    removed=integer(minimum=0, nullable=False),
)


MOST_SHARED = 100
_ID = integer(minimum=1, nullable=False, on_delete="keep")
AUDIENCE = obj(
    "ViewAudience",
    {
        "all": boolean(label=("全公司", "Everybody"), default=False, nullable=False),
        "departments": array(
            _ID.but(ref="rbac_departments"),
            label=("部门", "Departments"),
            max_items=MOST_SHARED,
            unique=True,
            description="The people of these departments and of those below them.",
        ),
        "roles": array(_ID.but(ref="rbac_roles"), label=("角色", "Roles"), max_items=MOST_SHARED, unique=True),
        "users": array(_ID.but(ref="rbac_users"), label=("人员", "Users"), max_items=MOST_SHARED, unique=True),
    },
    label=("共享给", "Shared with"),
)

# handlers read it only through `saved_views.seen_by`: people see their own views and those shared with them
SAVED_VIEWS = Collection(
    name="system_saved_views",
    title="SavedView",
    noun=Message("列表视图", "saved view"),
    fields={
        "list": text(
            label=("列表", "List"),
            required=True,
            max_length=200,
            filter=True,
            example="/api/v1/system/users",
            description="The path of a list, without parameters in it.",
        ),
        "name": text(label=("视图名称", "View name"), required=True, max_length=100, example="本月新增"),
        "filters": anything(
            label=("筛选条件", "Filters"),
            example={"status": "enabled"},
            description="An object with query parameters of the list, without `sort` and those of pages.",
        ),
        "sort": text(label=("排序", "Order"), max_length=200, example="-created_at", description="As in the list."),
        "columns": array(
            text(max_length=100, min_length=1, nullable=False, example="username"),
            label=("显示列", "Columns"),
            max_items=200,
            unique=True,
            description="Fields of the list's rows, in the order in which they are shown.",
        ),
        "shared_with": AUDIENCE,
    },
    indexes=(Index("creator_id", "list", "name", unique=True), Index("list", "name")),
)
