"""What people read: dictionaries, menus and the titles of permissions."""

from __future__ import annotations

from plugins.api import Dictionary, Menu, Message, dictionary, page
from plugins.api.business import TERMS_FROM
from plugins.crm.states import AMENDMENT_STATES, CONTRACT_STATES, LEAD_STATES, OPPORTUNITY_STAGES, PLAN_STATES

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
    "approved": "cyan",
    "cancelled": "gray",
    "ended": "gray",
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
    Dictionary.of_states(
        "crm_contract_amendment_status", Message("合同变更状态", "Amendment status"), AMENDMENT_STATES, _COLOURS
    ),
    dictionary(
        "crm_contract_amendment_kind",
        ("合同变更类型", "Kind of amendment"),
        amendment=("变更", "Amendment"),
        renewal=("续签", "Renewal"),
    ),
    dictionary("crm_terms_from", ("账期起算日", "Start of payment terms"), **TERMS_FROM),
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
        "crm_credit_limit",
        ("超过信用额度的订单", "Orders beyond the credit limit"),
        warn=("提醒并确认", "Confirmed with a warning"),
        refuse=("拒绝确认", "Refused"),
    ),
    dictionary(
        "crm_collaborator_access",
        ("协作权限", "Collaborator access"),
        read=("只读", "Read"),
        write=("读写", "Read and write"),
    ),
)


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
    page(
        "crm:contract-amendment",
        ("合同变更", "Contract amendments"),
        "/crm/contract-amendments",
        "lucide:file-pen-line",
        9,
    ),
)

PERMISSIONS = {
    "crm:payment:reverse": Message("冲销", "Reverse"),
    "crm:customer:claim": Message("领取", "Claim"),
    "crm:customer:release": Message("释放", "Release"),
    "crm:customer:transfer": Message("转移", "Transfer"),
    "crm:contract:hold": Message("挂起", "Hold"),
    "crm:contract-amendment:cancel": Message("取消", "Cancel"),
    "crm:customer:share": Message("设置协作人", "Set collaborators"),
}
