"""Menus of crm, and the titles of its permissions."""

from __future__ import annotations

from plugins.api import Menu, Message

MENUS = (
    Menu("crm", Message("客户管理", "CRM"), path="/crm", icon="lucide:handshake", order=100),
    Menu(
        "crm.customer",
        Message("客户", "Customers"),
        path="/crm/customers",
        parent="crm",
        resource="crm:customer",
        icon="lucide:building-2",
        order=1,
    ),
    Menu(
        "crm.contact",
        Message("联系人", "Contacts"),
        path="/crm/contacts",
        parent="crm",
        resource="crm:contact",
        icon="lucide:contact",
        order=2,
    ),
    Menu(
        "crm.lead",
        Message("线索", "Leads"),
        path="/crm/leads",
        parent="crm",
        resource="crm:lead",
        icon="lucide:magnet",
        order=3,
    ),
    Menu(
        "crm.opportunity",
        Message("商机", "Opportunities"),
        path="/crm/opportunities",
        parent="crm",
        resource="crm:opportunity",
        icon="lucide:target",
        order=4,
    ),
    Menu(
        "crm.follow-up",
        Message("跟进记录", "Follow-ups"),
        path="/crm/follow-ups",
        parent="crm",
        resource="crm:follow-up",
        icon="lucide:map-pin",
        order=5,
    ),
    Menu(
        "crm.contract",
        Message("合同", "Contracts"),
        path="/crm/contracts",
        parent="crm",
        resource="crm:contract",
        icon="lucide:file-signature",
        order=6,
    ),
    Menu(
        "crm.payment-plan",
        Message("回款计划", "Payment plans"),
        path="/crm/payment-plans",
        parent="crm",
        resource="crm:payment-plan",
        icon="lucide:calendar-clock",
        order=7,
    ),
    Menu(
        "crm.payment",
        Message("回款", "Payments"),
        path="/crm/payments",
        parent="crm",
        resource="crm:payment",
        icon="lucide:banknote",
        order=8,
    ),
)

PERMISSIONS = {
    "crm:customer:claim": Message("领取", "Claim"),
    "crm:customer:release": Message("释放", "Release"),
    "crm:customer:transfer": Message("转移", "Transfer"),
    "crm:customer:share": Message("设置协作人", "Set collaborators"),
}
