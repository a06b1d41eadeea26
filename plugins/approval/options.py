"""Options of approval: what administrators change while the service runs."""

from __future__ import annotations

from plugins.api import Message, Option, boolean, choice

OWN_REQUESTS = "approval_own_requests"
WITHOUT_DEFINITION = "approval_without_definition"
LINK_WITHOUT_LOGIN = "approval_link_without_login"

OPTIONS = (
    Option(
        OWN_REQUESTS,
        choice("ask", "leave_out", default="leave_out", nullable=False),
        Message(
            "本人申请、创建或负责的单据由谁审批",
            "Who decides on what people requested, created or own themselves",
        ),
        super_only=True,
    ),
    Option(
        WITHOUT_DEFINITION,
        choice("leave", "approve", "refuse", default="leave", nullable=False),
        Message("没有适用流程时的处理", "What happens to a request to which no flow applies"),
        super_only=True,
    ),
    Option(
        LINK_WITHOUT_LOGIN,
        boolean(default=False, nullable=False),
        Message(
            "消息中的审批链接是否免登录审批（持有链接即可审批该任务）",
            "Whether the links in messages decide without a log-in: whoever has the link decides on that task",
        ),
        super_only=True,
    ),
)
