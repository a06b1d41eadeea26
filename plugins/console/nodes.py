"""Parts of a page description. Texts that people or plugins wrote act neither as templates nor as markup in it."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial

from plugins.api import Message

Node = dict[str, object]
quoted = partial(json.dumps, ensure_ascii=False)  # as texts in formulas of the renderer
# what begins a template, a variable, a tag or an entity, unless a zero-width space follows
_BEGINNING = re.compile(r"[$<&\\](?=\S)")
_PARAMETER, VARIABLE = re.compile(r"\{(\w+)\}"), re.compile(r"\$\{(\w+)(?: \| url_encode)?\}")
_NO_SPACE = "\u200b"
RECORD_PAGE = "/api/v1/console/records/{list}"
_ROWS_PAGE = "/api/v1/console/rows/${list}"
PAGE_SIZES = (20, 50, 100, 200)


def plain(text: str) -> str:
    """Return the text for a page description, so that it is shown literally, even `${name}` and `<b>`."""
    return _BEGINNING.sub(lambda found: found.group() + _NO_SPACE, text)


def as_text(value: str) -> str:
    """Return the template that shows a value as text; of its own accord the renderer escapes only plain variables."""
    return f"${{{value} | html}}"


def node(kind: str, /, **parts: object) -> Node:
    """Return a part of a page: its type, as the renderer calls it, and its settings."""
    return {"type": kind, **parts}


def page(title: str, *body: Node, **more: object) -> Node:
    """Return a whole page."""
    return node("page", title=title, body=[*body], **more)


def goes(address: str) -> Node:
    """Return what a click does that goes to another page."""
    return {"actionType": "url", "url": address, "blank": False}


def opens(kind: str, title: str, body: Node, *, reloads: str = "", **more: object) -> Node:
    """Return what a click does that opens a `drawer` or a `dialog`; the list `reloads` is read anew once it is closed."""
    opened: Node = {"title": title, "size": "lg", "closeOnEsc": True, "body": body, **more}
    if reloads:
        opened["onEvent"] = {"cancel": {"actions": [{"actionType": "reload", "componentId": reloads}]}}
    return {"actionType": kind, kind: opened}


def link(title: str, address: str, **more: object) -> Node:
    """Return a button that goes to another page."""
    return node("button", label=title, **goes(address), **{"level": "link", **more})


def leads_to_rows(title: str) -> Node:
    """Return the button of a row with a `list` and the `query` that selects rows of it, which it opens."""
    body = node("service", schemaApi=call("GET", _ROWS_PAGE))
    shown = opens("drawer", "${title}", body, actions=[], data=values_of(dict.fromkeys(("title", "list", "query"))))
    return node("operation", buttons=[node("button", label=title, level="link", **shown)])


def reference(shown: Node, pages: str, by: str) -> Node:
    """Return a value as a link to a record: `pages` is what the address begins with, `by` the field with its id."""
    return {**shown, "type": "reference", "pages": pages, "by": by}


def rows(api: Node, columns: Sequence[Node], **more: object) -> Node:
    """Return a list that is read page by page; `forceAppendDataToQuery` is needed if its address has variables."""
    paged = {**api, "forceAppendDataToQuery": True}
    common: Node = {"syncLocation": False, "perPage": PAGE_SIZES[0], "footerToolbar": ["statistics", "pagination"]}
    return node("crud", api=paged, columns=[*columns], **{**common, **more})


def call(method: str, path: str, data: Mapping[str, object] | None = None) -> Node:
    """Return a request to the API; `data` are the templates of the values that it sends, by name.

    The renderer encodes values in the query itself, but not those in the path.
    """
    sent = {} if data is None else {"data": dict(data)}
    place, mark, query = path.partition("?")
    return {"method": method.lower(), "url": VARIABLE.sub(r"${\1 | url_encode}", place) + mark + query, **sent}


def asking(path: str, given: Mapping[str, object]) -> str:
    """Return the path with these parameters, which may be templates."""
    query = "&".join(f"{name}={value}" for name, value in given.items())
    return f"{path}?{query}" if query else path


def addressed(path: str, id: str = "record_id") -> str:
    """Return the path with templates for its parameters: the last names the record, the ones before it the page's."""
    *outer, last = _PARAMETER.findall(path) or [""]
    for name in outer:
        path = path.replace(f"{{{name}}}", "${record_id}")
    return path.replace(f"{{{last}}}", f"${{{id if last == 'id' else last}}}")


def values_of(names: Mapping[str, object]) -> dict[str, object]:
    """Return the templates that send the values of these fields under their own names."""
    return {name: f"${{{name}}}" for name in names}


def tabs(*parts: tuple[str, list[Node]]) -> Node:
    """Return tabs whose contents are created, and loaded, when they are first opened; a table is hidden with its tab."""
    made: list[Node] = [{"title": title, "body": body} for title, body in parts]
    for tab, (_, (first, *_)) in zip(made, parts, strict=True):
        if first["type"] == "table" and "visibleOn" in first:
            tab["visibleOn"] = first["visibleOn"]
    return node("tabs", mountOnEnter=True, tabs=made)


WORDS: Mapping[str, Message] = {
    "actions": Message("操作", "Actions"),
    "acts": Message("{action}：{noun}", "{action} {noun}"),
    "all": Message("全部", "All"),
    "after": Message("修改后", "After"),
    "ask": Message("请先选择条件，再点击“查询”", "Choose what to show, then press Show"),
    "at": Message("时间", "When"),
    "becomes": Message("操作后，状态变为“{state}”。", "Its status will be “{state}”."),
    "before": Message("修改前", "Before"),
    "by": Message("操作人", "By"),
    "calendar": Message("月历", "Calendar"),
    "called": Message("{action}{noun}", "{action} {noun}"),
    "cancel": Message("取消", "Cancel"),
    "changes": Message("变更", "Changes"),
    "counts": Message("数值", "Value"),
    "details": Message("详情", "Details"),
    "due": Message("{list} · 7 天内到期", "{list} · due within 7 days"),
    "empty": Message("显示空字段", "Show empty fields"),
    "field": Message("字段", "Field"),
    "files": Message("附件", "Files"),
    "filters": Message("更多筛选", "More filters"),
    "final": Message("删除后无法恢复。", "This cannot be undone."),
    "from": Message("从", "From"),
    "history": Message("历史", "History"),
    "home": Message("首页", "Home"),
    "kind": Message("类型", "Kind"),
    "more": Message("更多", "More"),
    "name": Message("名称", "Name"),
    "new": Message("新增{noun}…", "New {noun}…"),
    "no": Message("否", "No"),
    "no_page": Message("该菜单没有控制台页面，请通过接口使用", "This menu has no page in the console; use the API"),
    "no_right": Message("没有可以查看的内容", "There is nothing that you may see here"),
    "not_asked": Message("当前无需您处理", "It is not waiting for you"),
    "nothing_here": Message("暂无内容", "Nothing at the moment"),
    "only_in": Message("仅在以下状态可用：{states}", "Only in status: {states}"),
    "open": Message("查看", "Open"),
    "open_page": Message("打开完整页面", "Open page"),
    "page": Message("页面", "Page"),
    "period": Message("日期", "Period"),
    "print": Message("打印", "Print"),
    "query": Message("查询", "Show"),
    "rehearse": Message("预演", "Rehearse"),
    "restorable": Message("删除后，有权限的人可以恢复。", "People with the right can restore it."),
    "record": Message("记录信息", "About this record"),
    "rows": Message("全表浏览", "All rows"),
    "search": Message("搜索", "Search"),
    "see_all": Message("查看全部", "See all"),
    "since": Message("与 {day} 相比", "Compared with {day}"),
    "so_far": Message("截至目前", "so far"),
    "sum": Message("合计", "Total"),
    "sums": Message("本页合计", "Total of this page:"),
    "sure": Message("确定{action}吗？", "{action}: are you sure?"),
    "than": Message("与 {first} 至 {last} 相比", "Compared with {first} to {last}"),
    "to": Message("到", "To"),
    "tried": Message("{action}完成，未保存任何修改", "{action}: done, nothing is saved"),
    "unread": Message("未读消息", "Unread messages"),
    "views": Message("视图", "Views"),
    "which": Message("请先选择{field}", "Choose: {field}"),
    "yes": Message("是", "Yes"),
}
