"""Menus of crm, and the titles of its permissions."""

from __future__ import annotations

from plugins.api import Menu, Message, page

MENUS = (
    Menu("crm", Message("客户管理", "CRM"), path="/crm", icon="lucide:handshake", order=100),
    page("crm:customer", ("客户", "Customers"), "/crm/customers", "lucide:building-2", 1),
    page("crm:contact", ("联系人", "Contacts"), "/crm/contacts", "lucide:contact", 2),
    page("crm:lead", ("线索", "Leads"), "/crm/leads", "lucide:magnet", 3),
    page("crm:opportunity", ("商机", "Opportunities"), "/crm/opportunities", "lucide:target", 4),
    page("crm:follow-up", ("跟进记录", "Follow-ups"), "/crm/follow-ups", "lucide:map-pin", 5),
    page("crm:contract", ("合同", "Contracts"), "/crm/contracts", "lucide:file-signature", 6),
    page("crm:payment-plan", ("回款计划", "Payment plans"), "/crm/payment-plans", "lucide:calendar-clock", 7),
    page("crm:payment", ("回款", "Payments"), "/crm/payments", "lucide:banknote", 8),
)

PERMISSIONS = {
    "crm:payment:reverse": Message("冲销", "Reverse"),
    "crm:customer:claim": Message("领取", "Claim"),
    "crm:customer:release": Message("释放", "Release"),
    "crm:customer:transfer": Message("转移", "Transfer"),
    "crm:contract:hold": Message("挂起", "Hold"),
    "crm:customer:share": Message("设置协作人", "Set collaborators"),
}
