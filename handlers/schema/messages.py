"""The message catalogue of the core: every message once, in Chinese and English side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from string import Formatter
from typing import Any, Literal, NamedTuple

Language = Literal["zh", "en"]


class _Counting(Formatter):
    """Fills in templates: `{days:day|days}` is the first word for one, and the second for any other number."""

    def format_field(self, value: Any, format_spec: str) -> str:
        one, several, many = format_spec.partition("|")
        return (one if str(value) in ("1", "1.0") else many) if several else str(super().format_field(value, one))


_fill = _Counting().format
_SEVERAL = re.compile(r"\{\w+:[^|{}]*\|([^{}]*)\}")


class Message(NamedTuple):
    """A message in both languages; `text` and `filled` replace its `{placeholders}`: `{days} {days:day|days}`."""

    zh: str
    en: str

    def text(self, language: Language, **values: object) -> str:
        """Return the message in `language`, with its placeholders replaced by `values`; without any, as a template."""
        template = self.en if language == "en" else self.zh
        return _fill(template, **values) if values else _SEVERAL.sub(r"\1", template)

    def filled(self, **values: object) -> Message:
        """Return the message with its placeholders replaced, in both languages."""
        return Message(_fill(self.zh, **values), _fill(self.en, **values))


class Bilingual:
    """An attribute of a dataclass that is set to a pair of texts, Chinese and English, and read as a `Message`.

    A text that is left out is empty, which the checks of declarations report.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Message | None:
        return instance.__dict__[self._name] if instance is not None else None

    def __set__(self, instance: object, value: tuple[str, str] | None) -> None:
        instance.__dict__[self._name] = None if value is None else as_message(value)


def as_message(texts: Sequence[str]) -> Message:
    """Return the pair of a Chinese and an English text as a message; a text that is left out is empty."""
    given = (texts,) if isinstance(texts, str) else tuple(texts)
    return Message(*(*given, "", "")[:2])


def language_of(header: str | None) -> Language:
    """Return the language of a response: Chinese unless `Accept-Language` prefers English (RFC 9110 section 12.5.4)."""
    return _choose_language(header[:200]) if header else "zh"


@lru_cache(maxsize=1000)
def _choose_language(header: str) -> Language:
    best: tuple[float, Language] = (0.0, "zh")
    for part in header.split(","):
        tag, _, parameter = part.strip().lower().partition(";")
        weight = _parse_weight(parameter)
        for language in ("zh", "en"):
            if tag.split("-")[0] == language and weight > best[0]:
                best = (weight, "en" if language == "en" else "zh")
    return best[1]


def _parse_weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if name != "q":
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0)
    except ValueError:
        return 0.0


SUCCESS = Message("成功", "OK")
STOPPING = Message("服务正在停止", "The service is stopping")
WANTS_JSON = Message(
    "请求体须为 JSON（Content-Type: application/json，UTF-8）",
    "Send JSON: Content-Type: application/json, in UTF-8",
)
WANTS_FORM = Message(
    "请求体须为表单（Content-Type: multipart/form-data）", "Send a form: Content-Type: multipart/form-data"
)
NOT_READY = Message("服务未就绪：{parts}", "The service is not ready: {parts}")
SILENT = Message("进程无响应：{processes}", "Processes do not respond: {processes}")
BUSY = Message("同类任务过多，请稍后重试", "Too many tasks of this kind are running; try again later")
TOO_MANY_OF_YOURS = Message(
    "您有多个同类任务正在进行，请等待其中一个完成后重试",
    "You already have several tasks of this kind running; wait for one to finish",
)
TOO_MUCH_ARRIVING = Message(
    "同时上传的数据过多，请稍后重试", "Too much data is being uploaded at once; try again later"
)
STATUS = Message("状态", "Status")
MISSING_PERMISSION = Message("缺少权限：{operation}", "Missing permission: {operation}")
NOT_IN_STATE = Message("当前状态不允许该操作", "The current state does not allow this")
UNLISTED_ADDRESS = Message("仅限配置中列出的地址访问", "Only the addresses listed in the settings have access")
REFERENCES_GONE = Message("引用的记录已不存在：{fields}", "The record refers to records that no longer exist: {fields}")
FOR_WRITERS = Message("您无权提交任何引用此类记录的表单", "You may not submit any form that refers to these records")
NOT_REFERRED = Message("没有表单引用该数据表", "No form refers to a collection of this name")
MOST_PLACES = Message("须为数字，最多 {places} 位小数", "must be a number with at most {places} decimal places")
# the message of each validation rule
RULES: dict[str, Message] = {
    "required": Message("必填", "is required"),
    "unknown": Message("未知字段", "is not a known field"),
    "type": Message("类型不正确", "has the wrong type"),
    "pattern": Message("格式不正确", "has the wrong format"),
    "format": Message("格式不正确", "has the wrong format"),
    "enum": Message("不在允许的取值范围内", "is not one of the allowed values"),
    "bounds": Message("须在 1970-01-01 与 2199-12-31 之间", "must be between 1970-01-01 and 2199-12-31"),
    "future": Message("不能晚于明天", "must not be later than tomorrow"),
    "series": Message(
        "时间范围过长，最多 3660 个数据点", "covers too long a period: a series has at most 3,660 points"
    ),
    "minLength": Message("内容过短", "is too short"),
    "maxLength": Message("内容过长", "is too long"),
    "minimum": Message("数值过小", "is too small"),
    "maximum": Message("数值过大", "is too large"),
    "exclusiveMinimum": Message("数值过小", "is too small"),
    "minItems": Message("项数过少", "has too few items"),
    "maxItems": Message("项数过多", "has too many items"),
    "uniqueItems": Message("存在重复项", "contains duplicates"),
    "decimals": Message("不是有效的数字，或小数位数过多", "is not a number, or has too many decimal places"),
    "digits": Message(
        "数字超过 15 位有效数字，请以字符串传递", "has more than 15 significant digits: send it as a string"
    ),
    "reference": Message("引用的记录不存在", "refers to a record that does not exist"),
    "dictionary": Message("字典中没有该值，或该值已停用", "is not in its dictionary, or is disabled there"),
    "keeper": Message("仅限该记录指定的负责人使用", "may only be used by the people assigned to it"),
    "ambiguous": Message("对应多条记录，请改填编码或 ID", "matches several records: give a code or an ID instead"),
    "nul": Message("包含非法字符", "contains a character that is not allowed"),
    "cursor": Message("游标无效", "is not a valid cursor for this list"),
    "cell": Message(
        "仪表盘没有该指标，或该指标没有明细", "is not a figure of this dashboard, or has no records behind it"
    ),
    "depth": Message("页码过大，请改用游标翻页", "is too far down the list; use the cursor instead"),
    "levels": Message("层级过深", "is nested too deeply"),
    "sort": Message("不支持按该字段排序", "names a field that the list cannot be sorted by"),
    "duplicate": Message("重复，或已被占用", "is given twice, or already taken"),
    "permission": Message(
        "该记录已存在，您没有修改权限", "belongs to an existing record that you are not permitted to change"
    ),
    "policy": Message(
        "过短，或所含字符种类过少（大写字母、小写字母、数字、符号）",
        "is too short, or has too few kinds of characters: upper case, lower case, digits, symbols",
    ),
    "reused": Message("不能与最近使用过的密码相同", "must differ from recently used passwords"),
    "uncovered": Message("有取值不符合任何分支", "does not cover all values"),
    "unreachable": Message("没有取值会进入该分支", "has a part that no value leads to"),
    "quorum": Message("审批人不足，申请无法通过该节点", "has too few people: requests cannot pass"),
    "invalid": Message("取值无效", "is not valid"),
    "sum": Message("与明细之和不符", "is not the sum of its parts"),
    "cost": Message("内容过于复杂，无法处理", "is too complex to be processed"),
}
