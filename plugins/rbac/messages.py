"""Messages of the plugin rbac, in Chinese and English."""

from plugins.api import Message

USER_ONE = Message(
    "内置超级管理员不可删除、停用或降级", "The built-in super administrator cannot be deleted, disabled or stripped"
)
LAST_SUPER = Message("至少保留一名启用的超级管理员", "At least one enabled super administrator must stay")
ROLE_HELD = Message("角色已分配给用户，无法删除", "The role is held by somebody")
DEPARTMENT_HAS_CHILDREN = Message("部门下存在子部门", "The department has sub-departments")
DEPARTMENT_HAS_PEOPLE = Message("部门下存在人员", "The department has people")
UNDER_ITSELF = Message("不能移动到自身或其下级", "It cannot be moved under itself")
MENU_HAS_CHILDREN = Message("菜单下存在子菜单", "The menu has children")
UNDER_BUTTON = Message("按钮下不能有子项", "Nothing can be under a button")
MENU_DECLARED = Message("由插件声明的菜单不可删除", "A menu that a plugin declares cannot be deleted")
NO_GRANTING = Message("没有为角色授权的权限", "You are not permitted to grant menus to roles")
WIDER_MENUS = Message("不能授予自己没有的菜单", "You cannot grant menus that you do not hold")
WIDER_APIS = Message(
    "不能绑定或移除自己没有的接口或权限码", "You can neither bind nor remove an API or permission that you do not hold"
)
MENU_NOT_HELD = Message(
    "不能更改或删除自己没有的菜单的接口和权限码",
    "You cannot change or delete the APIs and the permission of a menu that you do not hold",
)
MENU_CODE = Message("仅超级管理员可更改菜单编码", "Only a super administrator may change the code of a menu")
OF_SUPER = Message(
    "对方是超级管理员，仅超级管理员可操作", "The person is a super administrator: only another one may do this"
)
HOLDS_MORE = Message("该用户拥有您没有的权限或数据范围", "The person holds permissions or rows that you do not")
HOLDERS_BEYOND = Message(
    "持有该角色的用户中，有人不在您的数据范围内，或拥有您没有的权限",
    "Somebody who holds the role lies outside your data scope, or holds permissions or rows that you do not",
)
DEPARTMENT_OUTSIDE = Message("部门不在您的数据范围内", "The department lies outside your data scope")
WIDER_SCOPE = Message("不能授予超出自己数据范围的权限", "You cannot grant a data scope wider than your own")
SUPER_BY_SUPER = Message("仅超级管理员可设置超级管理员", "Only a super administrator may set is_super")
OWN_DELETE = Message("不能删除或停用自己", "You cannot delete or disable yourself")
OWN_PASSWORD = Message("请通过修改密码接口修改自己的密码", "Change your own password under /api/v1/auth/password")
HOLDS = Message("该用户名下仍有：{holdings}，请先移交", "The person still holds {holdings}: hand these over first")
HANDOVER_RUNNING = Message("该用户的交接正在进行", "A handover of this person is under way")
RECEIVER_GONE = Message("接收人已停用或删除", "Whoever should receive it was disabled or deleted meanwhile")
HANDED_OVER = Message("{name} 的工作已移交给您", "The work of {name} was handed over to you")
# shown by GET /api/v1/system/authorization/explain
NO_ROUTE = Message("没有接口响应 {method} {path}", "No route matches {method} {path}")
WRONG_METHOD = Message("该路径只接受 {methods}", "This path takes only {methods}")
PUBLIC_ROUTE = Message("公开接口，无需登录", "The route is public: no log-in is needed")
LOG_IN_IS_ENOUGH = Message("登录即可访问", "A log-in is enough")
USER_DISABLED = Message("账号已停用，其令牌无效", "The account is disabled: its tokens are not accepted")
MUST_CHANGE_PASSWORD = Message("必须先修改密码", "The password must be changed first")
FOR_SUPER_ONLY = Message("仅超级管理员可访问", "The route is for super administrators only")
SUPER_BYPASS = Message("超级管理员，跳过接口权限检查", "A super administrator: the API check is skipped")
ROLE_GRANTS = Message(
    "角色“{role}”被授予“{menu}”，其中声明了该接口", 'Role "{role}" grants "{menu}", which declares this API'
)
NO_ROLE = Message("该用户没有角色", "The user holds no role")
ROLE_DISABLED = Message("角色“{role}”可以授权，但已停用", 'Role "{role}" would grant it, but is disabled')
ROLES_DO_NOT_GRANT = Message(
    "已启用的角色 {roles} 均未授予声明该接口的菜单或按钮",
    "None of the enabled roles {roles} grants a menu or button that declares this API",
)
NO_ENABLED_ROLE = Message("该用户的角色均已停用", "Every role of the user is disabled")
NOT_DECLARED = Message("没有菜单声明该接口，无法授权", "No menu declares this API, so nobody can be granted it")
MENU_WITHDRAWN = Message(
    "“{menu}”曾声明该接口，但已撤回：没有已加载的插件声明它",
    '"{menu}" declared this API, but is withdrawn: no loaded plugin declares it',
)
ALL_ROWS = Message("全部数据", "all rows")
NOT_SCOPED = Message("不受数据范围限制", "all rows: these records are not under data scope")
UNKEPT_ROWS = Message(
    "除指定由他人管理者以外的全部数据", "all rows but those that follow a record which other people keep"
)
NO_ROWS = Message("没有任何数据", "no rows")
OWN_ROWS = Message("本人的数据", "their own rows")
ROWS_OF_DEPARTMENT = Message("所在部门的数据", "the rows of their department")
ROWS_OF_DEPARTMENT_AND_BELOW = Message(
    "所在部门及其下级部门的数据", "the rows of their department and the departments below"
)
DEPARTMENT_ROWS = Message("部门 {departments} 的数据", "the rows of the departments {departments}")
HANDED_ROWS = Message("移交给本人的数据", "rows that were handed to them")
AND = Message("、以及", ", and ")
MORE = Message("等 {count} 个", "and others, {count} in all")
RECORD_SEEN = Message("该记录在数据范围内：{rows}", "The record lies within the data scope: {rows}")
RECORD_OUTSIDE = Message("该记录不在数据范围内：{rows}", "The record lies outside the data scope: {rows}")
PASSED = Message(
    "{reason}，可查看该记录及其下级记录和附件，不可修改",
    "{reason}: may read the record, what hangs below it and its attachments, and change nothing",
)
USER_OUTSIDE = Message("没有该用户，或其不在您的数据范围内", "There is no such user, or none within your data scope")
RECORD_MISSING = Message("没有这条记录", "There is no such record")
RECORD_UNKNOWN = Message(
    "没有这条记录，或者它不在您自己的数据范围内", "There is no such record, or it lies outside your own data scope"
)
