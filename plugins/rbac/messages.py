"""Messages of the plugin rbac, in Chinese and English."""

from plugins.api import Message

USER_ONE = Message(
    "内置超级管理员不可删除、停用或降级", "The built-in super administrator cannot be deleted, disabled or demoted"
)
LAST_SUPER = Message("至少须保留一名启用的超级管理员", "At least one enabled super administrator must remain")
ROLE_HELD = Message("角色已分配给用户，无法删除", "The role is assigned to users, so it cannot be deleted")
DEPARTMENT_HAS_CHILDREN = Message(
    "部门下还有下级部门，无法删除", "The department has sub-departments, so it cannot be deleted"
)
DEPARTMENT_HAS_PEOPLE = Message("部门下还有人员，无法删除", "The department has people, so it cannot be deleted")
UNDER_ITSELF = Message("不能移动到自身或其下级", "It cannot be moved under itself or what is below it")
MENU_HAS_CHILDREN = Message("菜单下还有子菜单，无法删除", "The menu has submenus, so it cannot be deleted")
UNDER_BUTTON = Message("按钮下不能有子项", "A button cannot have anything below it")
MENU_DECLARED = Message("由插件声明的菜单不可删除", "A menu that a plugin declares cannot be deleted")
NO_GRANTING = Message("您没有给角色授权的权限", "You are not permitted to grant menus to roles")
WIDER_MENUS = Message("不能授予自己没有的菜单", "You cannot grant menus that you do not have yourself")
WIDER_APIS = Message(
    "不能绑定或移除自己没有的接口或权限标识",
    "You cannot add or remove an API or permission code that you do not have yourself",
)
MENU_NOT_HELD = Message(
    "不能更改或删除自己没有的菜单的接口和权限标识",
    "You cannot change or delete the APIs and the permission code of a menu that you do not have yourself",
)
MENU_CODE = Message("仅超级管理员可更改菜单编码", "Only a super administrator may change the code of a menu")
OF_SUPER = Message(
    "对方是超级管理员，仅超级管理员可操作", "The user is a super administrator; only a super administrator may do this"
)
HOLDS_MORE = Message(
    "该用户拥有您没有的权限或数据范围", "The user has permissions or a data scope that you do not have"
)
NAMES_ONESELF = Message(
    "不能让自己成为负责人、审批人、抄送人或接收人",
    "You cannot make yourself a leader, an approver, a copied person or a receiver",
)
DECIDES_BEYOND = Message(
    "该用户审批、负责或被抄送的事项中，有您的数据范围以外的，或属于您不能更改的审批流程，或来自您没有的角色",
    "The user decides on, leads or is copied on what is outside your data scope, in approval flows that you may not"
    " change, or by a role that you do not have",
)
WIDER_DECISIONS = Message(
    "审批流程点名了您没有的角色，不能授予或启用该角色",
    "You cannot give or enable a role that approval flows name and that you do not have yourself",
)
HOLDERS_BEYOND = Message(
    "拥有该角色的用户中，有人不在您的数据范围内，或拥有您没有的权限或数据范围",
    "A user with this role is outside your data scope, or has permissions or a data scope that you do not have",
)
DEPARTMENT_OUTSIDE = Message("部门不在您的数据范围内", "The department is outside your data scope")
WIDER_SCOPE = Message("不能授予比自己更大的数据范围", "You cannot grant a data scope wider than your own")
SUPER_BY_SUPER = Message("仅超级管理员可设置超级管理员", "Only a super administrator may appoint super administrators")
OWN_DELETE = Message("不能删除或停用自己的账号", "You cannot delete or disable your own account")
OWN_PASSWORD = Message(
    "请通过 /api/v1/auth/password 修改自己的密码", "Change your own password with /api/v1/auth/password"
)
HOLDS = Message(
    "该用户名下仍有：{holdings}，请先移交",
    "The user still holds the following, which must be handed over first: {holdings}",
)
HANDOVER_RUNNING = Message("该用户的工作交接正在进行中", "A handover of this user's work is in progress")
RECEIVER_GONE = Message("接收人已停用或删除", "The recipient has been disabled or deleted")
HANDED_OVER = Message("{name} 的工作已移交给您", "The work of {name} was handed over to you")
TOO_MANY_KEYS = Message("一个服务账号最多有 {most} 个密钥", "A service account cannot have more than {most} keys")
# shown by GET /api/v1/system/authorization/explain
NO_PERSON = Message(
    "这是服务账号，请在“服务账号”中操作", "This is a service account: manage it with the service accounts"
)
NO_ACCOUNT = Message(
    "没有该服务账号，或其不在您的数据范围内", "There is no such service account within your data scope"
)
NO_KEY = Message("服务账号没有该密钥", "The service account has no such key")
NO_ROUTE = Message("不存在接口 {method} {path}", "No route matches {method} {path}")
WRONG_METHOD = Message("该路径只接受 {methods}", "This path accepts only {methods}")
PUBLIC_ROUTE = Message("公开接口，无需登录", "The route is public: no log-in is needed")
LOG_IN_IS_ENOUGH = Message("登录即可访问", "Open to every logged-in user")
USER_DISABLED = Message("账号已停用，其令牌无效", "The account is disabled: its tokens are not accepted")
MUST_CHANGE_PASSWORD = Message("必须先修改密码", "The password must be changed first")
FOR_SUPER_ONLY = Message("仅超级管理员可访问", "The route is for super administrators only")
SUPER_BYPASS = Message("超级管理员，跳过接口权限检查", "A super administrator: the API check is skipped")
ROLE_GRANTS = Message(
    "角色“{role}”被授予“{menu}”，其中声明了该接口", 'Role "{role}" grants "{menu}", which declares this API'
)
NO_ROLE = Message("该用户没有角色", "The user has no role")
ROLE_DISABLED = Message("角色“{role}”包含该权限，但已停用", 'Role "{role}" would grant it, but is disabled')
ROLES_DO_NOT_GRANT = Message(
    "已启用的角色 {roles} 均未授予声明该接口的菜单或按钮",
    "None of the enabled roles {roles} grants a menu or button that declares this API",
)
NO_ENABLED_ROLE = Message("该用户的角色均已停用", "Every role of the user is disabled")
NOT_DECLARED = Message("没有菜单声明该接口，无法授权", "No menu declares this API, so nobody can be granted it")
MENU_WITHDRAWN = Message(
    "“{menu}”曾声明该接口，但已失效：当前加载的插件均未声明该菜单",
    '"{menu}" declared this API, but is withdrawn: no loaded plugin declares the menu',
)
ALL_ROWS = Message("全部数据", "all rows")
NOT_SCOPED = Message("全部数据（此类记录不受数据范围限制）", "all rows: data scope does not apply to these records")
UNKEPT_ROWS = Message(
    "全部数据，所属对象指定由他人负责的除外", "all rows except those that belong to a record assigned to other people"
)
NO_ROWS = Message("没有任何数据", "no rows")
OWN_ROWS = Message("本人的数据", "their own rows")
ROWS_OF_DEPARTMENT = Message("所在部门的数据", "the rows of their department")
ROWS_OF_DEPARTMENT_AND_BELOW = Message(
    "所在部门及其下级部门的数据", "the rows of their department and the departments below"
)
DEPARTMENT_ROWS = Message("部门 {departments} 的数据", "the rows of the departments {departments}")
HANDED_ROWS = Message("共享给本人的数据", "rows that are shared with them")
AND = Message("，以及", ", and ")
MORE = Message("等 {count} 个", "and others, {count} in all")
RECORD_SEEN = Message("该记录在数据范围内：{rows}", "The record is within the data scope: {rows}")
RECORD_OUTSIDE = Message("该记录不在数据范围内：{rows}", "The record is outside the data scope: {rows}")
PASSED = Message(
    "{reason}，可查看该记录及其下级记录和附件，不可修改",
    "{reason}: may read the record, the records below it and its attachments, but change nothing",
)
USER_OUTSIDE = Message(
    "没有该用户，或其不在您的数据范围内", "There is no such user, or the user is outside your data scope"
)
RECORD_MISSING = Message("没有这条记录", "There is no such record")
RECORD_UNKNOWN = Message(
    "没有这条记录，或者它不在您自己的数据范围内", "There is no such record, or it is outside your own data scope"
)
