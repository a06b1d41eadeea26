"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from plugins.api import Dictionary, Message, dictionary
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

DICTIONARIES = (
    dictionary(
        "crm_customer_level",
        ("客户级别", "Customer level"),
        A=("重点", "Key", "red"),
        B=("普通", "Regular", "blue"),
        C=("次要", "Minor"),
    ),
    dictionary(
        "crm_customer_status",
        ("客户状态", "Customer status"),
        active=("合作中", "Active", "green"),
        potential=("潜在", "Potential", "blue"),
        inactive=("停止合作", "Inactive", "gray"),
    ),
    dictionary(
        "crm_customer_source",
        ("客户来源", "Customer source"),
        referral=("转介绍", "Referral"),
        website=("官网", "Website"),
        exhibition=("展会", "Exhibition"),
        phone=("电话", "Phone"),
        advertising=("广告", "Advertising"),
        other=("其他", "Other"),
    ),
    dictionary(
        "crm_customer_industry",
        ("所属行业", "Industry"),
        manufacturing=("制造业", "Manufacturing"),
        logistics=("物流", "Logistics"),
        agriculture=("农业", "Agriculture"),
        construction=("建筑", "Construction"),
        software=("软件", "Software"),
        healthcare=("医疗", "Healthcare"),
        retail=("零售", "Retail"),
        energy=("能源", "Energy"),
        education=("教育", "Education"),
        other=("其他", "Other"),
    ),
    dictionary(
        "crm_lead_source",
        ("线索来源", "Lead source"),
        referral=("转介绍", "Referral"),
        website=("官网", "Website"),
        exhibition=("展会", "Exhibition"),
        phone=("电话", "Phone"),
        advertising=("广告", "Advertising"),
        other=("其他", "Other"),
    ),
    Dictionary.of_states("crm_lead_status", Message("线索状态", "Lead status"), LEAD_STATES, _COLOURS),
    Dictionary.of_states(
        "crm_opportunity_stage", Message("商机阶段", "Opportunity stage"), OPPORTUNITY_STAGES, _COLOURS
    ),
    dictionary(
        "crm_lost_reason",
        ("输单原因", "Lost reason"),
        price=("价格", "Price"),
        competitor=("竞争对手", "Competitor"),
        budget=("预算取消", "No budget"),
        no_decision=("客户未决策", "No decision"),
        other=("其他", "Other"),
    ),
    dictionary(
        "crm_follow_up_method",
        ("跟进方式", "Follow-up method"),
        phone=("电话", "Phone"),
        visit=("拜访", "Visit"),
        wechat=("微信", "WeChat"),
        email=("邮件", "Email"),
        meeting=("会议", "Meeting"),
        other=("其他", "Other"),
    ),
    Dictionary.of_states("crm_contract_status", Message("合同状态", "Contract status"), CONTRACT_STATES, _COLOURS),
    dictionary(
        "crm_payment_method",
        ("回款方式", "Payment method"),
        transfer=("银行转账", "Bank transfer"),
        cash=("现金", "Cash"),
        cheque=("支票", "Cheque"),
        acceptance=("承兑汇票", "Acceptance bill"),
        alipay=("支付宝", "Alipay"),
        wechat=("微信支付", "WeChat Pay"),
        other=("其他", "Other"),
    ),
    Dictionary.of_states(
        "crm_payment_plan_status", Message("回款计划状态", "Payment plan status"), PLAN_STATES, _COLOURS
    ),
    dictionary(
        "crm_collaborator_access",
        ("协作权限", "Collaborator access"),
        read=("只读", "Read"),
        write=("读写", "Read and write"),
    ),
)
