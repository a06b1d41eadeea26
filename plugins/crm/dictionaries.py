"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Dictionary, Item, Message
from plugins.crm.states import CONTRACT_STATES, LEAD_STATES, OPPORTUNITY_STAGES, PLAN_STATES

_COLOURS = {
    "new": "blue",
    "contacted": "cyan",
    "qualified": "cyan",
    "converted": "green",
    "invalid": "gray",
    "initial": "gray",
    "proposal": "blue",
    "negotiation": "orange",
    "won": "green",
    "lost": "red",
    "draft": "gray",
    "pending": "orange",
    "in_force": "green",
    "rejected": "red",
    "completed": "blue",
    "terminated": "gray",
    "partial": "cyan",
    "paid": "green",
    "overdue": "red",
}


def _dictionary(type: str, title: Message, items: Mapping[str, tuple[str, str]]) -> Dictionary:
    return Dictionary(type, title, tuple(_item(value, Message(*labels)) for value, labels in items.items()))


def _item(value: str, label: Message) -> Item:
    return Item(value, label, _COLOURS.get(value, ""))


DICTIONARIES = (
    Dictionary(
        "crm_customer_level",
        Message("客户级别", "Customer level"),
        (
            Item("A", Message("重点", "Key"), "red"),
            Item("B", Message("普通", "Regular"), "blue"),
            Item("C", Message("一般", "Minor")),
        ),
    ),
    Dictionary(
        "crm_customer_status",
        Message("客户状态", "Customer status"),
        (
            Item("active", Message("合作中", "Active"), "green"),
            Item("potential", Message("潜在", "Potential"), "blue"),
            Item("inactive", Message("停止合作", "Inactive"), "gray"),
        ),
    ),
    _dictionary(
        "crm_customer_source",
        Message("客户来源", "Customer source"),
        {
            "referral": ("转介绍", "Referral"),
            "website": ("官网", "Website"),
            "exhibition": ("展会", "Exhibition"),
            "phone": ("电话", "Phone"),
        },
    ),
    _dictionary(
        "crm_customer_industry",
        Message("所属行业", "Industry"),
        {
            "manufacturing": ("制造业", "Manufacturing"),
            "logistics": ("物流", "Logistics"),
            "agriculture": ("农业", "Agriculture"),
            "construction": ("建筑", "Construction"),
            "software": ("软件", "Software"),
            "healthcare": ("医疗", "Healthcare"),
            "retail": ("零售", "Retail"),
            "energy": ("能源", "Energy"),
            "education": ("教育", "Education"),
            "other": ("其他", "Other"),
        },
    ),
    _dictionary(
        "crm_lead_source",
        Message("线索来源", "Lead source"),
        {
            "referral": ("转介绍", "Referral"),
            "website": ("官网", "Website"),
            "exhibition": ("展会", "Exhibition"),
            "phone": ("电话", "Phone"),
            "advertising": ("广告", "Advertising"),
            "other": ("其他", "Other"),
        },
    ),
    Dictionary.of_states("crm_lead_status", Message("线索状态", "Lead status"), LEAD_STATES, _COLOURS),
    Dictionary.of_states(
        "crm_opportunity_stage", Message("商机阶段", "Opportunity stage"), OPPORTUNITY_STAGES, _COLOURS
    ),
    _dictionary(
        "crm_lost_reason",
        Message("输单原因", "Reason for losing"),
        {
            "price": ("价格", "Price"),
            "competitor": ("竞争对手", "Competitor"),
            "budget": ("预算取消", "No budget"),
            "no_decision": ("客户未决策", "No decision"),
            "other": ("其他", "Other"),
        },
    ),
    _dictionary(
        "crm_follow_up_method",
        Message("跟进方式", "Way of following up"),
        {
            "phone": ("电话", "Phone"),
            "visit": ("拜访", "Visit"),
            "wechat": ("微信", "WeChat"),
            "email": ("邮件", "E-mail"),
            "meeting": ("会议", "Meeting"),
            "other": ("其他", "Other"),
        },
    ),
    Dictionary.of_states("crm_contract_status", Message("合同状态", "Contract status"), CONTRACT_STATES, _COLOURS),
    _dictionary(
        "crm_payment_method",
        Message("回款方式", "Way of payment"),
        {
            "transfer": ("银行转账", "Bank transfer"),
            "cash": ("现金", "Cash"),
            "cheque": ("支票", "Cheque"),
            "acceptance": ("承兑汇票", "Acceptance bill"),
            "alipay": ("支付宝", "Alipay"),
            "wechat": ("微信", "WeChat Pay"),
            "other": ("其他", "Other"),
        },
    ),
    Dictionary.of_states(
        "crm_payment_plan_status", Message("回款计划状态", "Payment plan status"), PLAN_STATES, _COLOURS
    ),
    _dictionary(
        "crm_collaborator_access",
        Message("协作权限", "Access of a collaborator"),
        {
            "read": ("只读", "Read"),
            "write": ("读写", "Read and write"),
        },
    ),
)
