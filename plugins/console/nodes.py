"""Parts of a page description. Texts that people or plugins wrote are no templates in it, and no markup."""

import re
from collections.abc import Mapping, Sequence

from plugins.api import Message

Node = dict[str, object]
# what begins a template, a variable, a tag or an entity; a space without width after it ends that
_BEGINNING = re.compile(r"[$<&\\](?=\S)")
_PARAMETER, VARIABLE = re.compile(r"\{(\w+)\}"), re.compile(r"\$\{(\w+)\}")
_NO_SPACE = "\u200b"
RECORD_PAGE = "/api/v1/console/records/{list}"
PAGE_SIZES = (20, 50, 100, 200)


def plain(text: str) -> str:
    """The text for a page description, where it is shown as it is: `${name}` and `<b>` too."""
    return _BEGINNING.sub(lambda found: found.group() + _NO_SPACE, text)


def node(kind: str, /, **parts: object) -> Node:
    """A part of a page: its type, as the renderer calls it, and its settings."""
    return {"type": kind, **parts}


def page(title: str, *body: Node, **more: object) -> Node:
    """A whole page."""
    return node("page", title=title, body=[*body], **more)


def link(title: str, address: str, **more: object) -> Node:
    """A button that goes to another page."""
    return node("button", label=title, actionType="url", url=address, blank=False, **{"level": "link", **more})


def rows(api: Node, columns: Sequence[Node], **more: object) -> Node:
    """A list that is read page by page; `forceAppendDataToQuery`: also where its address has variables."""
    paged = {**api, "forceAppendDataToQuery": True}
    common: Node = {"syncLocation": False, "perPage": PAGE_SIZES[0], "footerToolbar": ["statistics", "pagination"]}
    return node("crud", api=paged, columns=[*columns], **{**common, **more})


def call(method: str, path: str, data: Mapping[str, object] | None = None) -> Node:
    """A request to the API; `data` are templates of the values that it sends, by name."""
    sent = {} if data is None else {"data": dict(data)}
    return {"method": method.lower(), "url": path, **sent}


def addressed(path: str, id: str = "record_id") -> str:
    """The path with templates for its parameters: `id` has that of its record, and the shell that of the page."""
    *outer, last = _PARAMETER.findall(path) or [""]
    for name in outer:
        path = path.replace(f"{{{name}}}", "${record_id}")
    return path.replace(f"{{{last}}}", f"${{{id if last == 'id' else last}}}")


def values_of(names: Mapping[str, object]) -> dict[str, object]:
    """The templates that send the values of these fields under their own names."""
    return {name: f"${{{name}}}" for name in names}


def tabs(*parts: tuple[str, list[Node]]) -> Node:
    """Tabs whose contents are made, and loaded, when they are first opened."""
    return node("tabs", mountOnEnter=True, tabs=[{"title": title, "body": body} for title, body in parts])


WORDS: Mapping[str, Message] = {
    "actions": Message("操作", "Actions"),
    "all": Message("全部", "All"),
    "after": Message("修改后", "After"),
    "at": Message("时间", "When"),
    "before": Message("修改前", "Before"),
    "by": Message("修改人", "By"),
    "changes": Message("变更", "Changes"),
    "counts": Message("数值", "Value"),
    "delete?": Message("确定删除吗？", "Delete this record?"),
    "details": Message("详情", "Details"),
    "done": Message(
        "新增 ${created}，更新 ${updated}，失败 ${failed}", "${created} new, ${updated} changed, ${failed} failed"
    ),
    "dry_run": Message("仅检查，不写入", "Check only, write nothing"),
    "field": Message("字段", "Field"),
    "file": Message("文件", "File"),
    "files": Message("附件", "Files"),
    "history": Message("历史", "History"),
    "kind": Message("类型", "Kind"),
    "name": Message("名称", "Name"),
    "no": Message("否", "No"),
    "no_page": Message("该菜单没有控制台页面，请通过接口使用", "It has no page in the console; use it by the API"),
    "no_right": Message("没有可以查看的内容", "Nothing here is permitted to you"),
    "not_asked": Message("当前不需要您处理", "It does not wait for you"),
    "only_in": Message("仅适用于状态：{states}", "Only in state: {states}"),
    "open": Message("查看", "Open"),
    "period": Message("日期", "Period"),
    "query": Message("查询", "Show"),
    "result": Message("结果", "Result"),
    "rows": Message("全表浏览", "All rows"),
    "search": Message("搜索", "Search"),
    "sure": Message("确定{action}吗？", "{action}: are you sure?"),
    "template": Message("下载模板", "Template"),
    "views": Message("视图", "Views"),
    "yes": Message("是", "Yes"),
}
