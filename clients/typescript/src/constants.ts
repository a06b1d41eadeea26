// Generated from the declarations of the plugins by `scripts/check --write`: do not edit.

/** The errors by the names that `/meta/constants` has. */
export const ERRORS = {
 "account_disabled": {"code": 40303, "status": 403, "zh": "账号已停用", "en": "Account disabled"},
 "bad_request": {"code": 40000, "status": 400, "zh": "请求格式错误", "en": "Malformed request"},
 "conflict": {"code": 40901, "status": 409, "zh": "数据正被使用，或当前状态不允许该操作", "en": "In use, or not allowed in this state"},
 "duplicate": {"code": 40900, "status": 409, "zh": "数据重复", "en": "Already exists"},
 "forbidden": {"code": 40300, "status": 403, "zh": "没有权限", "en": "Permission denied"},
 "headers_too_large": {"code": 43100, "status": 431, "zh": "请求头过大", "en": "Header block too large"},
 "idempotency_reused": {"code": 40903, "status": 409, "zh": "幂等键已用于其他请求", "en": "Idempotency key already used for another request"},
 "internal": {"code": 50000, "status": 500, "zh": "服务器内部错误", "en": "Internal error"},
 "invalid": {"code": 40001, "status": 400, "zh": "参数校验失败", "en": "Validation failed"},
 "locked": {"code": 42300, "status": 423, "zh": "账号已锁定，请稍后再试", "en": "Account locked; try again later"},
 "login_refused": {"code": 40010, "status": 400, "zh": "用户名或密码错误", "en": "Wrong user name or password"},
 "media_type": {"code": 41500, "status": 415, "zh": "不支持的内容类型", "en": "Media type not accepted"},
 "method_not_allowed": {"code": 40500, "status": 405, "zh": "不支持该请求方法", "en": "Method not allowed"},
 "not_found": {"code": 40400, "status": 404, "zh": "资源不存在", "en": "Not found"},
 "password_change_required": {"code": 40301, "status": 403, "zh": "请先修改密码", "en": "Change your password first"},
 "range": {"code": 41600, "status": 416, "zh": "请求范围无效", "en": "Range not satisfiable"},
 "rate_limited": {"code": 42900, "status": 429, "zh": "请求过于频繁", "en": "Too many requests"},
 "refresh_refused": {"code": 40102, "status": 401, "zh": "刷新令牌已失效，请重新登录", "en": "Refresh token no longer valid; log in again"},
 "request_timeout": {"code": 40800, "status": 408, "zh": "请求超时", "en": "Request timed out"},
 "stale": {"code": 40902, "status": 409, "zh": "数据已被他人修改，请刷新后重试", "en": "Changed by someone else; reload and try again"},
 "super_only": {"code": 40302, "status": 403, "zh": "仅超级管理员可操作", "en": "Only super administrators may do this"},
 "token_expired": {"code": 40101, "status": 401, "zh": "登录已过期", "en": "Access token expired"},
 "too_large": {"code": 41300, "status": 413, "zh": "请求体过大", "en": "Request body too large"},
 "unauthenticated": {"code": 40100, "status": 401, "zh": "请先登录", "en": "Log in first"},
 "unavailable": {"code": 50300, "status": 503, "zh": "服务暂不可用，请稍后重试", "en": "Service unavailable; try again later"},
 "wecom_refused": {"code": 40011, "status": 400, "zh": "企业微信登录被拒绝", "en": "WeCom log-in refused"}
} as const;

/** Those that plugins declare; `/meta/constants` has what was added since. */
export const DICTIONARIES = {
 "approval_absent": {
  "title": {"zh": "人数不足时", "en": "If people lack"},
  "items": {
   "leader": {"zh": "由发起人的上级代替", "en": "The initiator's leaders", "color": ""},
   "substitute": {"zh": "由替补人员代替", "en": "The substitutes", "color": ""},
   "refuse": {"zh": "不予提交", "en": "Refuse the request", "color": ""},
   "delegate": {"zh": "由受托人代理", "en": "The delegate", "color": ""}
  }
 },
 "approval_action": {
  "title": {"zh": "审批操作", "en": "Approval action"},
  "items": {
   "submit": {"zh": "提交", "en": "Submitted", "color": ""},
   "agree": {"zh": "同意", "en": "Agreed", "color": "green"},
   "reject": {"zh": "驳回", "en": "Rejected", "color": "red"},
   "send-back": {"zh": "退回", "en": "Sent back", "color": "blue"},
   "transfer": {"zh": "转办", "en": "Transferred", "color": ""},
   "reassign": {"zh": "改派", "en": "Reassigned", "color": ""},
   "delegate": {"zh": "转交受托人", "en": "Passed to the delegate", "color": ""},
   "withdraw": {"zh": "撤回", "en": "Withdrawn", "color": "gray"},
   "return": {"zh": "退回发起人", "en": "Returned to the initiator", "color": "blue"},
   "add-signer-before": {"zh": "前加签", "en": "Signer added before", "color": ""},
   "add-signer-after": {"zh": "后加签", "en": "Signer added after", "color": ""},
   "ask-advice": {"zh": "征求意见", "en": "Asked for advice", "color": ""},
   "advise": {"zh": "答复意见", "en": "Gave advice", "color": ""},
   "comment": {"zh": "评论", "en": "Commented", "color": ""},
   "overdue-escalate": {"zh": "超时转给上级", "en": "Overdue: passed to the leader", "color": ""},
   "overdue-agree": {"zh": "超时自动同意", "en": "Overdue: agreed", "color": "green"},
   "overdue-reject": {"zh": "超时自动驳回", "en": "Overdue: rejected", "color": "red"},
   "overdue-return": {"zh": "超时退回发起人", "en": "Overdue: returned to the initiator", "color": "blue"}
  }
 },
 "approval_box": {
  "title": {"zh": "审批分类", "en": "Approval box"},
  "items": {
   "mine": {"zh": "我发起的", "en": "Mine", "color": ""},
   "copied": {"zh": "抄送我的", "en": "Copied to me", "color": ""},
   "todo": {"zh": "待我处理", "en": "To do", "color": ""},
   "done": {"zh": "我已处理", "en": "Done", "color": ""}
  }
 },
 "approval_on_reject": {
  "title": {"zh": "驳回后处理", "en": "On rejection"},
  "items": {
   "end": {"zh": "结束审批", "en": "End the approval", "color": ""},
   "back": {"zh": "退回发起人", "en": "Send back to the initiator", "color": ""}
  }
 },
 "approval_operator": {
  "title": {"zh": "比较方式", "en": "Operator"},
  "items": {
   "eq": {"zh": "等于", "en": "Equal to", "color": ""},
   "ne": {"zh": "不等于", "en": "Not equal to", "color": ""},
   "gt": {"zh": "大于", "en": "More than", "color": ""},
   "gte": {"zh": "大于或等于", "en": "At least", "color": ""},
   "lt": {"zh": "小于", "en": "Less than", "color": ""},
   "lte": {"zh": "小于或等于", "en": "At most", "color": ""},
   "in": {"zh": "属于", "en": "One of", "color": ""},
   "not_in": {"zh": "不属于", "en": "None of", "color": ""},
   "contains": {"zh": "包含", "en": "Contains", "color": ""},
   "exists": {"zh": "有值", "en": "Has a value", "color": ""}
  }
 },
 "approval_overdue": {
  "title": {"zh": "超时处理", "en": "When it is over"},
  "items": {
   "remind": {"zh": "提醒审批人", "en": "Remind the approvers", "color": ""},
   "escalate": {"zh": "转给上级", "en": "Ask their leaders", "color": ""},
   "agree": {"zh": "自动同意", "en": "Agree", "color": ""},
   "reject": {"zh": "自动驳回", "en": "Reject", "color": ""},
   "return": {"zh": "退回发起人", "en": "Return to the initiator", "color": ""}
  }
 },
 "approval_own_requests": {
  "title": {"zh": "本人单据的审批", "en": "Decisions on own requests"},
  "items": {"ask": {"zh": "本人可审批", "en": "They do", "color": ""}, "leave_out": {"zh": "由他人审批", "en": "Others do", "color": ""}}
 },
 "approval_place": {
  "title": {"zh": "加签方式", "en": "Place"},
  "items": {"before": {"zh": "前加签", "en": "Before", "color": ""}, "after": {"zh": "后加签", "en": "After", "color": ""}}
 },
 "approval_reason": {
  "title": {"zh": "必须填写意见", "en": "Comment required"},
  "items": {
   "reject": {"zh": "驳回或退回时", "en": "To reject or send back", "color": ""},
   "always": {"zh": "每次审批", "en": "Always", "color": ""}
  }
 },
 "approval_repeated": {
  "title": {"zh": "连续节点的同一审批人", "en": "Who agreed at the node before"},
  "items": {
   "ask": {"zh": "再次审批", "en": "Is asked again", "color": ""},
   "skip": {"zh": "视为同意", "en": "Has agreed here too", "color": ""}
  }
 },
 "approval_status": {
  "title": {"zh": "审批状态", "en": "Approval status"},
  "items": {
   "draft": {"zh": "草稿", "en": "Draft", "color": "gray"},
   "pending": {"zh": "审批中", "en": "Pending", "color": "orange"},
   "approved": {"zh": "已通过", "en": "Approved", "color": "green"},
   "rejected": {"zh": "已驳回", "en": "Rejected", "color": "red"},
   "returned": {"zh": "已退回", "en": "Sent back", "color": "blue"},
   "withdrawn": {"zh": "已撤回", "en": "Withdrawn", "color": ""}
  }
 },
 "approval_visit": {
  "title": {"zh": "节点处理情况", "en": "State of a visit"},
  "items": {
   "waiting": {"zh": "待处理", "en": "Waiting", "color": ""},
   "decided": {"zh": "已处理", "en": "Decided", "color": ""},
   "sent_back": {"zh": "已退回", "en": "Sent back", "color": ""},
   "ended": {"zh": "已取消", "en": "Cancelled", "color": ""}
  }
 },
 "approval_way": {
  "title": {"zh": "操作途径", "en": "Way"},
  "items": {
   "link": {"zh": "消息链接", "en": "Link in a message", "color": ""},
   "link_without_login": {"zh": "消息链接（免登录）", "en": "Link in a message, without a log-in", "color": ""}
  }
 },
 "approval_without_definition": {
  "title": {"zh": "无适用流程时的处理", "en": "Requests without a flow"},
  "items": {
   "leave": {"zh": "等待有审批权限的人处理", "en": "Waits for whoever may approve it", "color": ""},
   "approve": {"zh": "直接通过", "en": "Approved", "color": ""},
   "refuse": {"zh": "不允许提交", "en": "Refused", "color": ""}
  }
 },
 "auth_login_event": {
  "title": {"zh": "登录事件", "en": "Log-in event"},
  "items": {
   "login": {"zh": "登录", "en": "Log-in", "color": ""},
   "logout": {"zh": "退出登录", "en": "Log-out", "color": ""},
   "lockout": {"zh": "账号锁定", "en": "Lockout", "color": "red"},
   "token_reuse": {"zh": "令牌重复使用", "en": "Token reused", "color": "red"},
   "kicked_out": {"zh": "强制下线", "en": "Forced log-out", "color": "orange"},
   "password_change": {"zh": "修改密码", "en": "Password change", "color": ""}
  }
 },
 "auth_wecom_change": {
  "title": {"zh": "通讯录同步结果", "en": "Taken over from WeCom"},
  "items": {
   "created": {"zh": "新增", "en": "Created", "color": "green"},
   "linked": {"zh": "绑定", "en": "Linked", "color": "blue"},
   "changed": {"zh": "更新", "en": "Changed", "color": "blue"},
   "left": {"zh": "已离开", "en": "Left", "color": "gray"},
   "disabled": {"zh": "已停用", "en": "Disabled", "color": "red"}
  }
 },
 "biz_type": {
  "title": {"zh": "其他业务类型", "en": "Other business types"},
  "items": {"GENERAL": {"zh": "通用", "en": "General", "color": ""}}
 },
 "cms_article_format": {
  "title": {"zh": "文章格式", "en": "Article format"},
  "items": {"html": {"zh": "富文本", "en": "Rich text", "color": ""}, "markdown": {"zh": "Markdown", "en": "Markdown", "color": ""}}
 },
 "cms_article_status": {
  "title": {"zh": "文章状态", "en": "Article status"},
  "items": {
   "draft": {"zh": "草稿", "en": "Draft", "color": "gray"},
   "scheduled": {"zh": "定时发布", "en": "Scheduled", "color": "orange"},
   "published": {"zh": "已发布", "en": "Published", "color": "green"},
   "archived": {"zh": "已下线", "en": "Unpublished", "color": "red"}
  }
 },
 "crm_collaborator_access": {
  "title": {"zh": "协作权限", "en": "Collaborator access"},
  "items": {"read": {"zh": "只读", "en": "Read", "color": ""}, "write": {"zh": "读写", "en": "Read and write", "color": ""}}
 },
 "crm_contract_amendment_kind": {
  "title": {"zh": "合同变更类型", "en": "Kind of amendment"},
  "items": {"amendment": {"zh": "变更", "en": "Amendment", "color": ""}, "renewal": {"zh": "续签", "en": "Renewal", "color": ""}}
 },
 "crm_contract_amendment_status": {
  "title": {"zh": "合同变更状态", "en": "Amendment status"},
  "items": {
   "draft": {"zh": "草稿", "en": "Draft", "color": "gray"},
   "pending": {"zh": "审批中", "en": "Pending approval", "color": "orange"},
   "approved": {"zh": "待生效", "en": "Approved", "color": "cyan"},
   "in_force": {"zh": "已生效", "en": "In force", "color": "green"},
   "rejected": {"zh": "已驳回", "en": "Rejected", "color": "red"},
   "cancelled": {"zh": "已取消", "en": "Cancelled", "color": "gray"},
   "ended": {"zh": "已终止", "en": "Ended", "color": "gray"}
  }
 },
 "crm_contract_status": {
  "title": {"zh": "合同状态", "en": "Contract status"},
  "items": {
   "draft": {"zh": "草稿", "en": "Draft", "color": "gray"},
   "pending": {"zh": "审批中", "en": "Pending approval", "color": "orange"},
   "in_force": {"zh": "执行中", "en": "In force", "color": "green"},
   "rejected": {"zh": "已驳回", "en": "Rejected", "color": "red"},
   "completed": {"zh": "已完成", "en": "Completed", "color": "blue"},
   "terminated": {"zh": "已终止", "en": "Terminated", "color": "gray"}
  }
 },
 "crm_credit_limit": {
  "title": {"zh": "超过信用额度的订单", "en": "Orders beyond the credit limit"},
  "items": {
   "warn": {"zh": "提醒并确认", "en": "Confirmed with a warning", "color": ""},
   "refuse": {"zh": "拒绝确认", "en": "Refused", "color": ""}
  }
 },
 "crm_customer_industry": {
  "title": {"zh": "所属行业", "en": "Industry"},
  "items": {
   "manufacturing": {"zh": "制造业", "en": "Manufacturing", "color": ""},
   "logistics": {"zh": "物流", "en": "Logistics", "color": ""},
   "agriculture": {"zh": "农业", "en": "Agriculture", "color": ""},
   "construction": {"zh": "建筑", "en": "Construction", "color": ""},
   "software": {"zh": "软件", "en": "Software", "color": ""},
   "healthcare": {"zh": "医疗", "en": "Healthcare", "color": ""},
   "retail": {"zh": "零售", "en": "Retail", "color": ""},
   "energy": {"zh": "能源", "en": "Energy", "color": ""},
   "education": {"zh": "教育", "en": "Education", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "crm_customer_level": {
  "title": {"zh": "客户级别", "en": "Customer level"},
  "items": {
   "A": {"zh": "重点", "en": "Key", "color": "red"},
   "B": {"zh": "普通", "en": "Regular", "color": "blue"},
   "C": {"zh": "次要", "en": "Minor", "color": ""}
  }
 },
 "crm_customer_source": {
  "title": {"zh": "客户来源", "en": "Customer source"},
  "items": {
   "referral": {"zh": "转介绍", "en": "Referral", "color": ""},
   "website": {"zh": "官网", "en": "Website", "color": ""},
   "exhibition": {"zh": "展会", "en": "Exhibition", "color": ""},
   "phone": {"zh": "电话", "en": "Phone", "color": ""},
   "advertising": {"zh": "广告", "en": "Advertising", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "crm_customer_status": {
  "title": {"zh": "客户状态", "en": "Customer status"},
  "items": {
   "active": {"zh": "合作中", "en": "Active", "color": "green"},
   "potential": {"zh": "潜在", "en": "Potential", "color": "blue"},
   "inactive": {"zh": "停止合作", "en": "Inactive", "color": "gray"}
  }
 },
 "crm_follow_up_method": {
  "title": {"zh": "跟进方式", "en": "Follow-up method"},
  "items": {
   "phone": {"zh": "电话", "en": "Phone", "color": ""},
   "visit": {"zh": "拜访", "en": "Visit", "color": ""},
   "wechat": {"zh": "微信", "en": "WeChat", "color": ""},
   "email": {"zh": "邮件", "en": "Email", "color": ""},
   "meeting": {"zh": "会议", "en": "Meeting", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "crm_lead_source": {
  "title": {"zh": "线索来源", "en": "Lead source"},
  "items": {
   "referral": {"zh": "转介绍", "en": "Referral", "color": ""},
   "website": {"zh": "官网", "en": "Website", "color": ""},
   "exhibition": {"zh": "展会", "en": "Exhibition", "color": ""},
   "phone": {"zh": "电话", "en": "Phone", "color": ""},
   "advertising": {"zh": "广告", "en": "Advertising", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "crm_lead_status": {
  "title": {"zh": "线索状态", "en": "Lead status"},
  "items": {
   "new": {"zh": "新建", "en": "New", "color": "blue"},
   "contacted": {"zh": "已联系", "en": "Contacted", "color": "cyan"},
   "qualified": {"zh": "已确认", "en": "Qualified", "color": "cyan"},
   "converted": {"zh": "已转化", "en": "Converted", "color": "green"},
   "invalid": {"zh": "无效", "en": "Invalid", "color": "gray"}
  }
 },
 "crm_lost_reason": {
  "title": {"zh": "输单原因", "en": "Lost reason"},
  "items": {
   "price": {"zh": "价格", "en": "Price", "color": ""},
   "competitor": {"zh": "竞争对手", "en": "Competitor", "color": ""},
   "budget": {"zh": "预算取消", "en": "No budget", "color": ""},
   "no_decision": {"zh": "客户未决策", "en": "No decision", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "crm_opportunity_stage": {
  "title": {"zh": "商机阶段", "en": "Opportunity stage"},
  "items": {
   "initial": {"zh": "初步接触", "en": "Initial contact", "color": "gray"},
   "qualified": {"zh": "需求确认", "en": "Qualified", "color": "cyan"},
   "proposal": {"zh": "方案报价", "en": "Proposal", "color": "blue"},
   "negotiation": {"zh": "商务谈判", "en": "Negotiation", "color": "orange"},
   "won": {"zh": "赢单", "en": "Won", "color": "green"},
   "lost": {"zh": "输单", "en": "Lost", "color": "red"}
  }
 },
 "crm_payment_method": {
  "title": {"zh": "回款方式", "en": "Payment method"},
  "items": {
   "transfer": {"zh": "银行转账", "en": "Bank transfer", "color": ""},
   "cash": {"zh": "现金", "en": "Cash", "color": ""},
   "cheque": {"zh": "支票", "en": "Cheque", "color": ""},
   "acceptance": {"zh": "承兑汇票", "en": "Acceptance bill", "color": ""},
   "alipay": {"zh": "支付宝", "en": "Alipay", "color": ""},
   "wechat": {"zh": "微信支付", "en": "WeChat Pay", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "crm_payment_plan_status": {
  "title": {"zh": "回款计划状态", "en": "Payment plan status"},
  "items": {
   "pending": {"zh": "未到期", "en": "Not yet due", "color": "orange"},
   "partial": {"zh": "部分回款", "en": "Partly paid", "color": "cyan"},
   "paid": {"zh": "已回款", "en": "Paid", "color": "green"},
   "overdue": {"zh": "已逾期", "en": "Overdue", "color": "red"}
  }
 },
 "crm_terms_from": {
  "title": {"zh": "账期起算日", "en": "Start of payment terms"},
  "items": {
   "document": {"zh": "单据日期", "en": "Date of the document", "color": ""},
   "month_end": {"zh": "月结（当月末）", "en": "End of its month", "color": ""}
  }
 },
 "dashboard_ranking": {
  "title": {"zh": "排名依据", "en": "Ranking basis"},
  "items": {"payments": {"zh": "回款额", "en": "Payments", "color": ""}, "contracts": {"zh": "合同额", "en": "Contracts", "color": ""}}
 },
 "files_visibility": {
  "title": {"zh": "文件可见范围", "en": "File visibility"},
  "items": {"public": {"zh": "公开", "en": "Public", "color": ""}, "private": {"zh": "私有", "en": "Private", "color": ""}}
 },
 "finance_account_type": {
  "title": {"zh": "账户类型", "en": "Account type"},
  "items": {
   "cash": {"zh": "现金", "en": "Cash", "color": ""},
   "bank": {"zh": "银行", "en": "Bank", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "finance_adjustment_kind": {
  "title": {"zh": "款项调整类型", "en": "Adjustment type"},
  "items": {
   "rebate": {"zh": "折让", "en": "Rebate", "color": ""},
   "cash_discount": {"zh": "现金折扣", "en": "Cash discount", "color": ""},
   "write_off": {"zh": "坏账核销", "en": "Write-off", "color": ""},
   "charge": {"zh": "手续费", "en": "Bank charge", "color": ""},
   "difference": {"zh": "尾差", "en": "Difference", "color": ""}
  }
 },
 "finance_category": {
  "title": {"zh": "收支类别", "en": "Income and expense category"},
  "items": {
   "sales": {"zh": "销售", "en": "Sales", "color": ""},
   "service": {"zh": "服务", "en": "Services", "color": ""},
   "purchase": {"zh": "采购", "en": "Purchasing", "color": ""},
   "salary": {"zh": "工资", "en": "Salaries", "color": ""},
   "rent": {"zh": "房租", "en": "Rent", "color": ""},
   "office": {"zh": "办公", "en": "Office", "color": ""},
   "travel": {"zh": "差旅", "en": "Travel", "color": ""},
   "reimbursement": {"zh": "报销", "en": "Reimbursement", "color": ""},
   "bank_charge": {"zh": "银行手续费", "en": "Bank charges", "color": ""},
   "tax": {"zh": "税费", "en": "Taxes", "color": ""}
  }
 },
 "finance_e_invoice_signature": {
  "title": {"zh": "电子发票签章", "en": "Signature of an e-invoice"},
  "items": {
   "valid": {"zh": "有效", "en": "Valid", "color": "green"},
   "unchecked": {"zh": "未能确认", "en": "Could not be confirmed", "color": "orange"},
   "absent": {"zh": "文件无签章", "en": "Not signed", "color": "orange"}
  }
 },
 "finance_entry_kind": {
  "title": {"zh": "往来变动类型", "en": "Open item entry type"},
  "items": {
   "owed": {"zh": "发生", "en": "Owed", "color": ""},
   "paid": {"zh": "结算", "en": "Paid", "color": ""},
   "advance": {"zh": "预收预付", "en": "Advance", "color": ""},
   "rescheduled": {"zh": "改期", "en": "Rescheduled", "color": ""},
   "rebate": {"zh": "折让", "en": "Rebate", "color": ""},
   "cash_discount": {"zh": "现金折扣", "en": "Cash discount", "color": ""},
   "write_off": {"zh": "坏账核销", "en": "Write-off", "color": ""},
   "charge": {"zh": "手续费", "en": "Bank charge", "color": ""},
   "difference": {"zh": "尾差", "en": "Difference", "color": ""}
  }
 },
 "finance_invoice_direction": {
  "title": {"zh": "发票方向", "en": "Invoice direction"},
  "items": {"in": {"zh": "进项", "en": "Received", "color": ""}, "out": {"zh": "销项", "en": "Sent", "color": ""}}
 },
 "finance_invoice_kind": {
  "title": {"zh": "开票类型", "en": "Invoice kind"},
  "items": {
   "standard": {"zh": "常规", "en": "Standard", "color": ""},
   "prepayment": {"zh": "预付款", "en": "Prepayment", "color": ""},
   "part": {"zh": "分批", "en": "Part", "color": ""},
   "final": {"zh": "结算", "en": "Final", "color": ""}
  }
 },
 "finance_made_out_to_us": {
  "title": {"zh": "抬头为本公司", "en": "Made out to this company"},
  "items": {
   "yes": {"zh": "是", "en": "Yes", "color": "green"},
   "no": {"zh": "否，购买方不是本公司", "en": "No, to another buyer", "color": "red"},
   "unknown": {"zh": "未核对：未设置本公司税号", "en": "Not compared: the company's tax number is not set", "color": ""}
  }
 },
 "finance_payment_direction": {
  "title": {"zh": "收付方向", "en": "Payment direction"},
  "items": {"in": {"zh": "收款", "en": "Received", "color": ""}, "out": {"zh": "付款", "en": "Paid", "color": ""}}
 },
 "finance_payment_method": {
  "title": {"zh": "收付方式", "en": "Payment method"},
  "items": {
   "transfer": {"zh": "银行转账", "en": "Bank transfer", "color": ""},
   "cash": {"zh": "现金", "en": "Cash", "color": ""},
   "cheque": {"zh": "支票", "en": "Cheque", "color": ""},
   "acceptance": {"zh": "承兑汇票", "en": "Acceptance bill", "color": ""},
   "alipay": {"zh": "支付宝", "en": "Alipay", "color": ""},
   "wechat": {"zh": "微信支付", "en": "WeChat Pay", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "finance_side": {
  "title": {"zh": "往来方向", "en": "Side"},
  "items": {"receivable": {"zh": "应收", "en": "Receivable", "color": ""}, "payable": {"zh": "应付", "en": "Payable", "color": ""}}
 },
 "finance_tax_document": {
  "title": {"zh": "税额单据类型", "en": "Document with tax"},
  "items": {
   "invoice": {"zh": "发票", "en": "Invoice", "color": ""},
   "credit_note": {"zh": "红字发票", "en": "Credit note", "color": ""}
  }
 },
 "finance_terms_from": {
  "title": {"zh": "账期起算日", "en": "Start of payment terms"},
  "items": {
   "document": {"zh": "单据日期", "en": "Date of the document", "color": ""},
   "month_end": {"zh": "月结（当月末）", "en": "End of its month", "color": ""}
  }
 },
 "finance_voucher_kind": {
  "title": {"zh": "凭证类型", "en": "Voucher type"},
  "items": {
   "income": {"zh": "收入", "en": "Income", "color": "green"},
   "expense": {"zh": "支出", "en": "Expense", "color": "red"},
   "transfer": {"zh": "转账", "en": "Transfer", "color": "blue"}
  }
 },
 "hrm_attendance_status": {
  "title": {"zh": "考勤结果", "en": "Daily result"},
  "items": {
   "pending": {"zh": "待打卡", "en": "Pending", "color": "gray"},
   "normal": {"zh": "正常", "en": "Normal", "color": "green"},
   "late": {"zh": "迟到", "en": "Late", "color": "orange"},
   "early_leave": {"zh": "早退", "en": "Early leave", "color": "orange"},
   "missed": {"zh": "缺卡", "en": "Missed punch", "color": "red"},
   "absent": {"zh": "旷工", "en": "Absent", "color": "red"},
   "leave": {"zh": "请假", "en": "Leave", "color": "blue"},
   "rest": {"zh": "休息", "en": "Day off", "color": "gray"}
  }
 },
 "hrm_contract_kind": {
  "title": {"zh": "合同类型", "en": "Kind of contract"},
  "items": {
   "fixed_term": {"zh": "固定期限", "en": "Fixed term", "color": ""},
   "open_ended": {"zh": "无固定期限", "en": "Open-ended", "color": ""},
   "project": {"zh": "以完成一定工作任务为期限", "en": "For a project", "color": ""},
   "internship": {"zh": "实习", "en": "Internship", "color": ""},
   "service": {"zh": "劳务", "en": "Service", "color": ""}
  }
 },
 "hrm_coordinate_system": {
  "title": {"zh": "坐标系", "en": "Coordinate system"},
  "items": {
   "wgs84": {"zh": "WGS-84（GPS）", "en": "WGS-84 (GPS)", "color": ""},
   "gcj02": {"zh": "GCJ-02（高德、腾讯）", "en": "GCJ-02 (Amap, Tencent)", "color": ""},
   "bd09": {"zh": "BD-09（百度）", "en": "BD-09 (Baidu)", "color": ""}
  }
 },
 "hrm_day_kind": {
  "title": {"zh": "日期类型", "en": "Kind of day"},
  "items": {
   "working_day": {"zh": "工作日", "en": "Working day", "color": ""},
   "rest_day": {"zh": "休息日", "en": "Day of rest", "color": ""},
   "holiday": {"zh": "节假日", "en": "Holiday", "color": ""}
  }
 },
 "hrm_duty": {
  "title": {"zh": "公务", "en": "Duty elsewhere"},
  "items": {"outside": {"zh": "外出", "en": "Outside duty", "color": ""}, "trip": {"zh": "出差", "en": "Business trip", "color": ""}}
 },
 "hrm_holiday_shifts": {
  "title": {"zh": "节假日排班工时", "en": "Shifts on holidays"},
  "items": {
   "ordinary": {"zh": "按工作日计", "en": "As on working days", "color": ""},
   "overtime": {"zh": "计节假日加班", "en": "Overtime of a holiday", "color": ""}
  }
 },
 "hrm_leave_accrual": {
  "title": {"zh": "额度发放方式", "en": "Accrual of leave"},
  "items": {
   "unlimited": {"zh": "不限额度", "en": "No limit", "color": ""},
   "manual": {"zh": "手工发放", "en": "By adjustment", "color": ""},
   "yearly": {"zh": "按年发放", "en": "Yearly", "color": ""},
   "monthly": {"zh": "按月发放", "en": "Monthly", "color": ""},
   "overtime": {"zh": "加班换休", "en": "By overtime", "color": ""}
  }
 },
 "hrm_leave_entry": {
  "title": {"zh": "假期余额变动", "en": "Entry of a leave balance"},
  "items": {
   "carried_over": {"zh": "上年结转", "en": "Carried over", "color": ""},
   "earned": {"zh": "发放", "en": "Earned", "color": ""},
   "granted": {"zh": "额度", "en": "Allowance", "color": ""},
   "adjusted": {"zh": "调整", "en": "Adjusted", "color": ""},
   "taken": {"zh": "已休", "en": "Taken", "color": "blue"},
   "pending": {"zh": "审批中", "en": "Pending", "color": "orange"},
   "expired": {"zh": "过期", "en": "Expired", "color": "gray"}
  }
 },
 "hrm_leave_type": {
  "title": {"zh": "请假类型", "en": "Leave type"},
  "items": {
   "annual": {"zh": "年假", "en": "Annual leave", "color": ""},
   "sick": {"zh": "病假", "en": "Sick leave", "color": ""},
   "personal": {"zh": "事假", "en": "Personal leave", "color": ""},
   "compensatory": {"zh": "调休", "en": "Time off in lieu", "color": ""},
   "marriage": {"zh": "婚假", "en": "Marriage leave", "color": ""},
   "maternity": {"zh": "产假", "en": "Maternity leave", "color": ""},
   "bereavement": {"zh": "丧假", "en": "Bereavement leave", "color": ""},
   "other": {"zh": "其他", "en": "Other", "color": ""}
  }
 },
 "hrm_leave_unit": {
  "title": {"zh": "请假单位", "en": "Unit of leave"},
  "items": {
   "half": {"zh": "半天", "en": "Half day", "color": ""},
   "day": {"zh": "天", "en": "Day", "color": ""},
   "hour": {"zh": "小时", "en": "Hour", "color": ""}
  }
 },
 "hrm_leave_year": {
  "title": {"zh": "假期年度", "en": "Year of leave"},
  "items": {
   "calendar": {"zh": "自然年", "en": "Calendar year", "color": ""},
   "employment": {"zh": "入职周年", "en": "Year of employment", "color": ""}
  }
 },
 "hrm_month_reading": {
  "title": {"zh": "考勤月报口径", "en": "Reading of a closed month"},
  "items": {"paid": {"zh": "发薪口径", "en": "As paid", "color": ""}, "known": {"zh": "当前口径", "en": "As known now", "color": ""}}
 },
 "hrm_overtime_compensation": {
  "title": {"zh": "加班补偿", "en": "Compensation of overtime"},
  "items": {
   "paid": {"zh": "加班费", "en": "Paid", "color": ""},
   "compensatory": {"zh": "调休", "en": "Time off in lieu", "color": ""}
  }
 },
 "hrm_punch_method": {
  "title": {"zh": "打卡方式", "en": "Punch method"},
  "items": {
   "gps": {"zh": "GPS 定位", "en": "GPS", "color": ""},
   "wifi": {"zh": "WiFi", "en": "WiFi", "color": ""},
   "manual": {"zh": "补卡", "en": "Entered later", "color": ""},
   "clock": {"zh": "考勤机", "en": "Time clock", "color": ""}
  }
 },
 "hrm_punch_proof": {
  "title": {"zh": "位置证明", "en": "Proof of the place"},
  "items": {
   "either": {"zh": "GPS 或 WiFi", "en": "GPS or WiFi", "color": ""},
   "gps": {"zh": "GPS 定位", "en": "GPS", "color": ""},
   "wifi": {"zh": "WiFi", "en": "WiFi", "color": ""},
   "both": {"zh": "GPS 且 WiFi", "en": "GPS and WiFi", "color": ""}
  }
 },
 "hrm_punch_result": {
  "title": {"zh": "打卡结果", "en": "Punch result"},
  "items": {
   "accepted": {"zh": "有效", "en": "Accepted", "color": "green"},
   "outside": {"zh": "外勤", "en": "Outside", "color": "orange"},
   "unproven": {"zh": "位置不可靠", "en": "Unreliable position", "color": "orange"},
   "refused": {"zh": "已拒绝", "en": "Refused", "color": "red"}
  }
 },
 "hrm_punch_review": {
  "title": {"zh": "打卡复核", "en": "Review of a punch"},
  "items": {
   "pending": {"zh": "待复核", "en": "To review", "color": "orange"},
   "accepted": {"zh": "计入", "en": "Counts", "color": "green"},
   "rejected": {"zh": "不计入", "en": "Does not count", "color": "red"}
  }
 },
 "hrm_punch_risk": {
  "title": {"zh": "打卡风险", "en": "Punch risk"},
  "items": {
   "mock_location": {"zh": "设备报告了模拟定位", "en": "The device reports a mock position", "color": ""},
   "invalid_attempt": {"zh": "打卡码无效、已使用或已过期", "en": "The attempt is unknown, used already, or has expired", "color": ""},
   "impossible_speed": {"zh": "与上次打卡相比，移动速度异常", "en": "The speed of travel since the previous punch is implausible", "color": ""},
   "repeated_fix": {"zh": "定位数据与之前的打卡重复", "en": "The position is that of an earlier punch", "color": ""},
   "shared_device": {"zh": "该设备近期由其他员工使用", "en": "Another employee has used the device lately", "color": ""},
   "far_from_wifi": {"zh": "定位与 WiFi 所在地点不符", "en": "The position is not near the place of the WiFi", "color": ""},
   "repeated_photo": {"zh": "照片已在之前的打卡中使用", "en": "The photo is that of an earlier punch", "color": ""},
   "unknown_photo": {"zh": "照片不存在或不是本人上传", "en": "The photo does not exist, or somebody else has uploaded it", "color": ""},
   "future_fix": {"zh": "定位时间晚于服务器时间", "en": "The position is dated later than the server's time", "color": ""},
   "unknown_device": {"zh": "不是常用设备", "en": "The device is not known yet", "color": ""},
   "old_fix": {"zh": "定位信息已过期", "en": "The position is too old", "color": ""},
   "no_attempt": {"zh": "未提供打卡码", "en": "The attempt is missing", "color": ""},
   "no_device": {"zh": "未提供设备编号", "en": "The device is missing", "color": ""},
   "no_photo": {"zh": "未提供照片", "en": "The photo is missing", "color": ""},
   "low_accuracy": {"zh": "定位精度过低", "en": "The position is too inaccurate", "color": ""},
   "no_position": {"zh": "缺少有效定位", "en": "A position at the place is missing", "color": ""},
   "no_wifi": {"zh": "未连接打卡地点的 WiFi", "en": "A WiFi of the place is missing", "color": ""},
   "unknown_wifi": {"zh": "未登记的 WiFi", "en": "The WiFi is not registered with any place", "color": ""},
   "unknown_accuracy": {"zh": "未提供定位精度", "en": "The accuracy of the position is missing", "color": ""},
   "unknown_fix_time": {"zh": "未提供定位时间", "en": "The time of the position is missing", "color": ""}
  }
 },
 "hrm_request_kind": {
  "title": {"zh": "申请类型", "en": "Kind of request"},
  "items": {
   "correction": {"zh": "补卡", "en": "Missing punch", "color": ""},
   "outside": {"zh": "外出", "en": "Outside duty", "color": ""},
   "trip": {"zh": "出差", "en": "Business trip", "color": ""},
   "overtime": {"zh": "加班", "en": "Overtime", "color": ""},
   "swap": {"zh": "换班", "en": "Swap of shifts", "color": ""}
  }
 },
 "hrm_roster_conflict": {
  "title": {"zh": "排班冲突", "en": "Conflict of a roster"},
  "items": {
   "rest": {"zh": "休息不足", "en": "Too little rest", "color": "orange"},
   "leave": {"zh": "已请假", "en": "On leave", "color": "red"},
   "outside": {"zh": "外出", "en": "Outside duty", "color": "orange"},
   "trip": {"zh": "出差", "en": "Business trip", "color": "orange"}
  }
 },
 "hrm_sheet_answer": {
  "title": {"zh": "员工答复", "en": "Answer to a sheet"},
  "items": {"agree": {"zh": "确认", "en": "Agrees", "color": ""}, "object": {"zh": "有异议", "en": "Objects", "color": ""}}
 },
 "hrm_special_day_kind": {
  "title": {"zh": "特殊日期类型", "en": "Kind of special day"},
  "items": {
   "holiday": {"zh": "放假", "en": "Holiday", "color": "green"},
   "workday": {"zh": "调休上班", "en": "Working day", "color": "orange"}
  }
 },
 "inventory_line_kind": {
  "title": {"zh": "行类型", "en": "Kind of line"},
  "items": {
   "product": {"zh": "商品", "en": "Product", "color": ""},
   "service": {"zh": "服务", "en": "Service", "color": ""},
   "text": {"zh": "文字说明", "en": "Text", "color": ""}
  }
 },
 "inventory_margin_by": {
  "title": {"zh": "毛利汇总方式", "en": "Margins by"},
  "items": {
   "product": {"zh": "按商品", "en": "Product", "color": ""},
   "customer": {"zh": "按客户", "en": "Customer", "color": ""},
   "salesperson": {"zh": "按销售员", "en": "Salesperson", "color": ""}
  }
 },
 "inventory_price_list_kind": {
  "title": {"zh": "价目表适用范围", "en": "Use of a price list"},
  "items": {"sale": {"zh": "销售", "en": "Sales", "color": ""}, "purchase": {"zh": "采购", "en": "Purchases", "color": ""}}
 },
 "inventory_product_category": {
  "title": {"zh": "商品分类", "en": "Product category"},
  "items": {
   "parts": {"zh": "零部件", "en": "Parts", "color": ""},
   "materials": {"zh": "原材料", "en": "Materials", "color": ""},
   "finished": {"zh": "成品", "en": "Finished goods", "color": ""},
   "supplies": {"zh": "耗材", "en": "Supplies", "color": ""}
  }
 },
 "inventory_stock_entry_kind": {
  "title": {"zh": "出入库类型", "en": "Movement type"},
  "items": {
   "receipt": {"zh": "采购入库", "en": "Receipt", "color": "green"},
   "delivery": {"zh": "销售出库", "en": "Delivery", "color": "blue"},
   "transfer_in": {"zh": "调入", "en": "Transfer in", "color": "cyan"},
   "transfer_out": {"zh": "调出", "en": "Transfer out", "color": "orange"},
   "count": {"zh": "盘点", "en": "Count", "color": "purple"},
   "purchase_return": {"zh": "采购退货", "en": "Purchase return", "color": "gold"},
   "sales_return": {"zh": "销售退货", "en": "Sales return", "color": "geekblue"}
  }
 },
 "inventory_tax_rounding": {
  "title": {"zh": "税额舍入方式", "en": "Rounding of tax"},
  "items": {
   "document": {"zh": "整单舍入", "en": "Of the document", "color": ""},
   "line": {"zh": "逐行舍入", "en": "Of each line", "color": ""}
  }
 },
 "inventory_tax_treatment": {
  "title": {"zh": "征税方式", "en": "Treatment of tax"},
  "items": {
   "taxed": {"zh": "应税", "en": "Taxed", "color": ""},
   "exempt": {"zh": "免税", "en": "Exempt", "color": ""},
   "reverse_charge": {"zh": "反向征收", "en": "Reverse charge", "color": ""}
  }
 },
 "inventory_terms_from": {
  "title": {"zh": "账期起算日", "en": "Start of payment terms"},
  "items": {
   "document": {"zh": "单据日期", "en": "Date of the document", "color": ""},
   "month_end": {"zh": "月结（当月末）", "en": "End of its month", "color": ""}
  }
 },
 "inventory_unit": {
  "title": {"zh": "计量单位", "en": "Unit"},
  "items": {
   "piece": {"zh": "件", "en": "Piece", "color": ""},
   "box": {"zh": "箱", "en": "Box", "color": ""},
   "set": {"zh": "套", "en": "Set", "color": ""},
   "kg": {"zh": "千克", "en": "Kilogram", "color": ""},
   "m": {"zh": "米", "en": "Metre", "color": ""},
   "l": {"zh": "升", "en": "Litre", "color": ""}
  }
 },
 "notification_announcement_status": {
  "title": {"zh": "公告状态", "en": "State of an announcement"},
  "items": {
   "scheduled": {"zh": "待发布", "en": "Scheduled", "color": "orange"},
   "published": {"zh": "已发布", "en": "Published", "color": "green"},
   "ended": {"zh": "已结束", "en": "Ended", "color": "gray"},
   "withdrawn": {"zh": "已撤回", "en": "Withdrawn", "color": "red"}
  }
 },
 "notification_channel": {
  "title": {"zh": "通知渠道", "en": "Channel of notifications"},
  "items": {"email": {"zh": "邮件", "en": "E-mail", "color": ""}, "wecom": {"zh": "企业微信", "en": "WeCom", "color": ""}}
 },
 "notification_choice": {
  "title": {"zh": "通知方式", "en": "How to notify"},
  "items": {
   "on": {"zh": "立即", "en": "At once", "color": ""},
   "off": {"zh": "关闭", "en": "Off", "color": ""},
   "digest": {"zh": "汇总", "en": "In the digest", "color": ""}
  }
 },
 "notification_delivery_rule": {
  "title": {"zh": "通知发送规则", "en": "Rule of a delivery"},
  "items": {
   "always": {"zh": "公司规定", "en": "Set by the company", "color": ""},
   "own": {"zh": "本人选择", "en": "Chosen by the person", "color": ""},
   "default": {"zh": "默认", "en": "Default", "color": ""},
   "off": {"zh": "本人已关闭", "en": "Switched off by the person", "color": ""},
   "preferred": {"zh": "已由企业微信发送", "en": "Sent by WeCom instead", "color": ""},
   "read": {"zh": "已在系统中阅读", "en": "Read meanwhile", "color": ""},
   "gone": {"zh": "消息已删除或撤回", "en": "Deleted or withdrawn", "color": ""},
   "disabled": {"zh": "账号已停用", "en": "Account disabled", "color": ""},
   "no_address": {"zh": "没有地址", "en": "No address", "color": ""},
   "bad_address": {"zh": "地址无效", "en": "Invalid address", "color": ""},
   "dead_address": {"zh": "地址无法送达", "en": "Undeliverable address", "color": ""},
   "not_set_up": {"zh": "渠道未启用", "en": "Channel not set up", "color": ""}
  }
 },
 "notification_delivery_state": {
  "title": {"zh": "通知发送状态", "en": "State of a delivery"},
  "items": {
   "waiting": {"zh": "待发送", "en": "Waiting", "color": "blue"},
   "sent": {"zh": "已发送", "en": "Sent", "color": "green"},
   "failed": {"zh": "失败", "en": "Failed", "color": "red"},
   "skipped": {"zh": "未发送", "en": "Not sent", "color": "gray"}
  }
 },
 "notification_kind": {
  "title": {"zh": "消息类型", "en": "Notification kind"},
  "items": {
   "approval_task": {"zh": "待办审批", "en": "Approval task", "color": "orange"},
   "approval_copy": {"zh": "审批抄送", "en": "Approval copy", "color": "blue"},
   "approval_result": {"zh": "审批结果", "en": "Approval result", "color": "green"},
   "approval_delegation": {"zh": "审批委托", "en": "Approval delegation", "color": "blue"},
   "leave_result": {"zh": "请假结果", "en": "Leave result", "color": "green"},
   "attendance_result": {"zh": "考勤结果", "en": "Attendance result", "color": "green"},
   "request_result": {"zh": "申请结果", "en": "Request result", "color": "green"},
   "swap_request": {"zh": "换班邀请", "en": "Request to swap", "color": "orange"},
   "punch_review": {"zh": "打卡复核", "en": "Punch review", "color": "orange"},
   "import_progress": {"zh": "导入进度", "en": "Import progress", "color": "blue"},
   "follow_up_reminder": {"zh": "跟进提醒", "en": "Follow-up reminder", "color": "orange"},
   "employment_reminder": {"zh": "劳动合同提醒", "en": "Employment reminder", "color": "orange"},
   "contract_reminder": {"zh": "合同到期提醒", "en": "Contract reminder", "color": "orange"},
   "payment_reminder": {"zh": "回款提醒", "en": "Payment reminder", "color": "red"},
   "ledger_difference": {"zh": "账目差异", "en": "Ledger difference", "color": "red"},
   "handover": {"zh": "工作交接", "en": "Handover", "color": "blue"},
   "dead_address": {"zh": "地址无法送达", "en": "Undeliverable address", "color": "red"},
   "announcement": {"zh": "公告", "en": "Announcement", "color": "purple"}
  }
 },
 "notification_language": {
  "title": {"zh": "通知语言", "en": "Language of notifications"},
  "items": {"zh": {"zh": "中文", "en": "Chinese", "color": ""}, "en": {"zh": "英文", "en": "English", "color": ""}}
 },
 "notification_receipt_state": {
  "title": {"zh": "回执状态", "en": "State of a receipt"},
  "items": {
   "unread": {"zh": "未读", "en": "Unread", "color": "gray"},
   "read": {"zh": "已读", "en": "Read", "color": "blue"},
   "confirmed": {"zh": "已确认", "en": "Confirmed", "color": "green"}
  }
 },
 "notification_waits_for": {
  "title": {"zh": "通知等待原因", "en": "What a delivery waits for"},
  "items": {
   "quiet": {"zh": "免打扰时间", "en": "Quiet hours", "color": ""},
   "digest": {"zh": "汇总发送", "en": "Digest", "color": ""},
   "retry": {"zh": "重试", "en": "Another attempt", "color": ""}
  }
 },
 "rbac_data_scope": {
  "title": {"zh": "数据范围", "en": "Data scope"},
  "items": {
   "all": {"zh": "全部数据", "en": "All data", "color": ""},
   "department": {"zh": "本部门", "en": "Own department", "color": ""},
   "department_and_below": {"zh": "本部门及以下", "en": "Own department and below", "color": ""},
   "self": {"zh": "仅本人", "en": "Own data", "color": ""},
   "custom": {"zh": "自定义部门", "en": "Chosen departments", "color": ""}
  }
 },
 "rbac_matrix_rows": {
  "title": {"zh": "权限矩阵的行", "en": "Rows of the matrix"},
  "items": {"user": {"zh": "用户", "en": "Users", "color": ""}, "role": {"zh": "角色", "en": "Roles", "color": ""}}
 },
 "rbac_menu_type": {
  "title": {"zh": "菜单类型", "en": "Type of menu"},
  "items": {
   "directory": {"zh": "目录", "en": "Directory", "color": ""},
   "menu": {"zh": "菜单", "en": "Menu", "color": ""},
   "button": {"zh": "按钮", "en": "Button", "color": ""},
   "link": {"zh": "外链", "en": "Link", "color": ""}
  }
 },
 "rbac_outcome": {
  "title": {"zh": "操作结果", "en": "Outcome"},
  "items": {"success": {"zh": "成功", "en": "Success", "color": "green"}, "failure": {"zh": "失败", "en": "Failure", "color": "red"}}
 },
 "system_field_index": {
  "title": {"zh": "索引变化", "en": "Change of an index"},
  "items": {"created": {"zh": "新建", "en": "Created", "color": ""}, "removed": {"zh": "移除", "en": "Removed", "color": ""}}
 },
 "system_field_type": {
  "title": {"zh": "自定义字段类型", "en": "Types of custom fields"},
  "items": {
   "text": {"zh": "文本", "en": "Text", "color": ""},
   "long_text": {"zh": "长文本", "en": "Long text", "color": ""},
   "integer": {"zh": "整数", "en": "Whole number", "color": ""},
   "money": {"zh": "金额", "en": "Amount of money", "color": ""},
   "quantity": {"zh": "数量", "en": "Quantity", "color": ""},
   "boolean": {"zh": "是/否", "en": "Yes or no", "color": ""},
   "day": {"zh": "日期", "en": "Day", "color": ""},
   "timestamp": {"zh": "时间", "en": "Date and time", "color": ""},
   "choice": {"zh": "字典选项", "en": "Choice from a dictionary", "color": ""},
   "reference": {"zh": "引用其他记录", "en": "Another record", "color": ""}
  }
 },
 "system_field_use": {
  "title": {"zh": "自定义字段用途", "en": "Use of a collection"},
  "items": {"extend": {"zh": "扩展", "en": "Extend", "color": ""}, "target": {"zh": "引用", "en": "Refer to", "color": ""}}
 },
 "system_job_result": {
  "title": {"zh": "任务结果", "en": "Job result"},
  "items": {
   "waiting": {"zh": "尚未运行", "en": "Not yet run", "color": "gray"},
   "running": {"zh": "运行中", "en": "Running", "color": "blue"},
   "succeeded": {"zh": "成功", "en": "Succeeded", "color": "green"},
   "failed": {"zh": "失败", "en": "Failed", "color": "red"},
   "killed": {"zh": "中断", "en": "Interrupted", "color": "orange"}
  }
 },
 "system_status": {
  "title": {"zh": "启用状态", "en": "Status"},
  "items": {
   "enabled": {"zh": "启用", "en": "Enabled", "color": "green"},
   "disabled": {"zh": "停用", "en": "Disabled", "color": "gray"}
  }
 },
 "webhook_delivery_state": {
  "title": {"zh": "推送状态", "en": "State of a delivery"},
  "items": {
   "pending": {"zh": "待推送", "en": "Pending", "color": "blue"},
   "delivered": {"zh": "已送达", "en": "Delivered", "color": "green"},
   "failed": {"zh": "失败", "en": "Failed", "color": "red"}
  }
 }
} as const;

/** The states of records, and the actions that lead from some to another. */
export const STATE_MACHINES = {
 "approval_instance": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "pending": {"zh": "审批中", "en": "Pending"},
   "approved": {"zh": "已通过", "en": "Approved"},
   "rejected": {"zh": "已驳回", "en": "Rejected"},
   "returned": {"zh": "已退回", "en": "Sent back"},
   "withdrawn": {"zh": "已撤回", "en": "Withdrawn"}
  },
  "actions": {
   "submit": {"from": ["draft", "returned", "withdrawn"], "to": "pending", "zh": "提交", "en": "Submit"},
   "approve": {"from": ["pending"], "to": "approved", "zh": "通过", "en": "Approve"},
   "reject": {"from": ["pending"], "to": "rejected", "zh": "驳回", "en": "Reject"},
   "return": {"from": ["pending"], "to": "returned", "zh": "退回", "en": "Send back"},
   "withdraw": {"from": ["pending"], "to": "withdrawn", "zh": "撤回", "en": "Withdraw"}
  }
 },
 "approval_task": {
  "initial": "pending",
  "states": {
   "pending": {"zh": "待处理", "en": "Pending"},
   "waiting": {"zh": "等待加签", "en": "Waits for an added signer"},
   "advice": {"zh": "征求意见", "en": "Asked for advice"},
   "advised": {"zh": "已答复意见", "en": "Advised"},
   "agreed": {"zh": "已同意", "en": "Agreed"},
   "rejected": {"zh": "已驳回", "en": "Rejected"},
   "sent_back": {"zh": "已退回", "en": "Sent back"},
   "transferred": {"zh": "已转办", "en": "Transferred"},
   "reassigned": {"zh": "已改派", "en": "Reassigned"},
   "cancelled": {"zh": "已取消", "en": "Cancelled"}
  },
  "actions": {
   "agree": {"from": ["pending"], "to": "agreed", "zh": "同意", "en": "Agree"},
   "reject": {"from": ["pending"], "to": "rejected", "zh": "驳回", "en": "Reject"},
   "send-back": {"from": ["pending"], "to": "sent_back", "zh": "退回", "en": "Send back"},
   "transfer": {"from": ["pending"], "to": "transferred", "zh": "转办", "en": "Transfer"},
   "reassign": {"from": ["pending"], "to": "reassigned", "zh": "改派", "en": "Reassign"},
   "wait": {"from": ["pending"], "to": "waiting", "zh": "等待加签", "en": "Wait for an added signer"},
   "resume": {"from": ["waiting"], "to": "pending", "zh": "加签完成", "en": "Resume"},
   "ask-advice": {"from": ["pending"], "to": "advice", "zh": "征求意见", "en": "Ask for advice"},
   "advise": {"from": ["advice"], "to": "advised", "zh": "答复意见", "en": "Advise"},
   "cancel": {"from": ["pending", "waiting", "advice"], "to": "cancelled", "zh": "取消", "en": "Cancel"}
  }
 },
 "cms_article": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "scheduled": {"zh": "定时发布", "en": "Scheduled"},
   "published": {"zh": "已发布", "en": "Published"},
   "archived": {"zh": "已下线", "en": "Unpublished"}
  },
  "actions": {
   "publish": {"from": ["draft", "scheduled", "archived"], "to": "published", "zh": "发布", "en": "Publish"},
   "schedule": {"from": ["draft", "scheduled", "archived"], "to": "scheduled", "zh": "发布", "en": "Publish"},
   "come-due": {"from": ["scheduled"], "to": "published", "zh": "已发布", "en": "Published"},
   "unpublish": {"from": ["scheduled", "published"], "to": "archived", "zh": "下线", "en": "Unpublish"}
  }
 },
 "core_import": {
  "initial": "reading",
  "states": {
   "reading": {"zh": "读取中", "en": "Reading"},
   "running": {"zh": "导入中", "en": "Running"},
   "finished": {"zh": "已完成", "en": "Finished"},
   "failed": {"zh": "失败", "en": "Failed"}
  },
  "actions": {
   "run": {"from": ["reading"], "to": "running", "zh": "导入中", "en": "Running"},
   "finish": {"from": ["running"], "to": "finished", "zh": "已完成", "en": "Finished"},
   "fail": {"from": ["reading", "running"], "to": "failed", "zh": "失败", "en": "Failed"},
   "give-up": {"from": ["reading"], "to": "failed", "zh": "失败", "en": "Failed"}
  }
 },
 "crm_contract": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "pending": {"zh": "审批中", "en": "Pending approval"},
   "in_force": {"zh": "执行中", "en": "In force"},
   "rejected": {"zh": "已驳回", "en": "Rejected"},
   "completed": {"zh": "已完成", "en": "Completed"},
   "terminated": {"zh": "已终止", "en": "Terminated"}
  },
  "actions": {
   "submit": {"from": ["draft", "rejected"], "to": "pending", "zh": "提交审批", "en": "Submit"},
   "withdraw": {"from": ["pending"], "to": "draft", "zh": "撤回", "en": "Withdraw"},
   "approve": {"from": ["pending"], "to": "in_force", "zh": "批准", "en": "Approve"},
   "reject": {"from": ["pending"], "to": "rejected", "zh": "驳回", "en": "Reject"},
   "complete": {"from": ["in_force"], "to": "completed", "zh": "完成", "en": "Complete"},
   "terminate": {"from": ["in_force"], "to": "terminated", "zh": "终止", "en": "Terminate"}
  }
 },
 "crm_contract_amendment": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "pending": {"zh": "审批中", "en": "Pending approval"},
   "approved": {"zh": "待生效", "en": "Approved"},
   "in_force": {"zh": "已生效", "en": "In force"},
   "rejected": {"zh": "已驳回", "en": "Rejected"},
   "cancelled": {"zh": "已取消", "en": "Cancelled"},
   "ended": {"zh": "已终止", "en": "Ended"}
  },
  "actions": {
   "submit": {"from": ["draft", "rejected"], "to": "pending", "zh": "提交审批", "en": "Submit"},
   "withdraw": {"from": ["pending"], "to": "draft", "zh": "撤回", "en": "Withdraw"},
   "approve": {"from": ["pending"], "to": "approved", "zh": "批准", "en": "Approve"},
   "reject": {"from": ["pending"], "to": "rejected", "zh": "驳回", "en": "Reject"},
   "cancel": {"from": ["approved"], "to": "cancelled", "zh": "取消", "en": "Cancel"},
   "take-effect": {"from": ["approved"], "to": "in_force", "zh": "已生效", "en": "In force"},
   "end": {"from": ["in_force"], "to": "ended", "zh": "已终止", "en": "Ended"}
  }
 },
 "crm_import": {
  "initial": "reading",
  "states": {
   "reading": {"zh": "读取中", "en": "Reading"},
   "running": {"zh": "导入中", "en": "Running"},
   "finished": {"zh": "已完成", "en": "Finished"},
   "failed": {"zh": "失败", "en": "Failed"}
  },
  "actions": {
   "run": {"from": ["reading"], "to": "running", "zh": "导入中", "en": "Running"},
   "finish": {"from": ["running"], "to": "finished", "zh": "已完成", "en": "Finished"},
   "fail": {"from": ["reading", "running"], "to": "failed", "zh": "失败", "en": "Failed"},
   "give-up": {"from": ["reading"], "to": "failed", "zh": "失败", "en": "Failed"}
  }
 },
 "crm_lead": {
  "initial": "new",
  "states": {
   "new": {"zh": "新建", "en": "New"},
   "contacted": {"zh": "已联系", "en": "Contacted"},
   "qualified": {"zh": "已确认", "en": "Qualified"},
   "converted": {"zh": "已转化", "en": "Converted"},
   "invalid": {"zh": "无效", "en": "Invalid"}
  },
  "actions": {
   "contact": {"from": ["new"], "to": "contacted", "zh": "联系", "en": "Contact"},
   "qualify": {"from": ["new", "contacted"], "to": "qualified", "zh": "确认", "en": "Qualify"},
   "discard": {"from": ["new", "contacted", "qualified"], "to": "invalid", "zh": "作废", "en": "Discard"},
   "reopen": {"from": ["contacted", "qualified", "invalid"], "to": "new", "zh": "重新打开", "en": "Reopen"},
   "convert": {"from": ["new", "contacted", "qualified"], "to": "converted", "zh": "转化", "en": "Convert"}
  }
 },
 "crm_opportunity": {
  "initial": "initial",
  "states": {
   "initial": {"zh": "初步接触", "en": "Initial contact"},
   "qualified": {"zh": "需求确认", "en": "Qualified"},
   "proposal": {"zh": "方案报价", "en": "Proposal"},
   "negotiation": {"zh": "商务谈判", "en": "Negotiation"},
   "won": {"zh": "赢单", "en": "Won"},
   "lost": {"zh": "输单", "en": "Lost"}
  },
  "actions": {
   "advance-to-initial": {"from": ["qualified", "proposal", "negotiation"], "to": "initial", "zh": "推进阶段", "en": "Advance"},
   "advance-to-qualified": {"from": ["initial", "proposal", "negotiation"], "to": "qualified", "zh": "推进阶段", "en": "Advance"},
   "advance-to-proposal": {"from": ["initial", "qualified", "negotiation"], "to": "proposal", "zh": "推进阶段", "en": "Advance"},
   "advance-to-negotiation": {"from": ["initial", "qualified", "proposal"], "to": "negotiation", "zh": "推进阶段", "en": "Advance"},
   "win": {"from": ["initial", "qualified", "proposal", "negotiation"], "to": "won", "zh": "赢单", "en": "Win"},
   "lose": {"from": ["initial", "qualified", "proposal", "negotiation"], "to": "lost", "zh": "输单", "en": "Lose"}
  }
 },
 "crm_payment_plan": {
  "initial": "pending",
  "states": {
   "pending": {"zh": "未到期", "en": "Not yet due"},
   "partial": {"zh": "部分回款", "en": "Partly paid"},
   "paid": {"zh": "已回款", "en": "Paid"},
   "overdue": {"zh": "已逾期", "en": "Overdue"}
  },
  "actions": {
   "pay-part": {"from": ["pending", "paid", "overdue"], "to": "partial", "zh": "部分回款", "en": "Partly paid"},
   "pay": {"from": ["pending", "partial", "overdue"], "to": "paid", "zh": "已回款", "en": "Paid"},
   "fall-due": {"from": ["pending", "partial", "paid"], "to": "overdue", "zh": "已逾期", "en": "Overdue"},
   "unpay": {"from": ["partial", "paid", "overdue"], "to": "pending", "zh": "未到期", "en": "Not yet due"}
  }
 },
 "files_object": {
  "initial": "arriving",
  "states": {
   "arriving": {"zh": "上传中", "en": "Uploading"},
   "expected": {"zh": "待上传", "en": "Awaiting upload"},
   "stored": {"zh": "已存储", "en": "Stored"},
   "leaving": {"zh": "清理中", "en": "Being removed"}
  },
  "actions": {
   "expect": {"from": ["arriving"], "to": "expected", "zh": "待上传", "en": "Awaiting upload"},
   "arrive": {"from": ["expected"], "to": "arriving", "zh": "上传中", "en": "Uploading"},
   "store": {"from": ["arriving", "expected", "stored"], "to": "stored", "zh": "已存储", "en": "Stored"},
   "leave": {"from": ["arriving", "expected", "stored", "leaving"], "to": "leaving", "zh": "清理中", "en": "Being removed"}
  }
 },
 "finance_expense_claim": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "submitted": {"zh": "审批中", "en": "Pending approval"},
   "approved": {"zh": "已批准", "en": "Approved"},
   "rejected": {"zh": "已驳回", "en": "Rejected"},
   "paid": {"zh": "已付清", "en": "Paid"},
   "reversed": {"zh": "已冲销", "en": "Reversed"}
  },
  "actions": {
   "submit": {"from": ["draft", "rejected"], "to": "submitted", "zh": "提交", "en": "Submit"},
   "withdraw": {"from": ["submitted"], "to": "draft", "zh": "撤回", "en": "Withdraw"},
   "approve": {"from": ["submitted"], "to": "approved", "zh": "批准", "en": "Approve"},
   "reject": {"from": ["submitted"], "to": "rejected", "zh": "驳回", "en": "Reject"},
   "pay": {"from": ["approved"], "to": "paid", "zh": "付款", "en": "Pay"},
   "unpay": {"from": ["paid"], "to": "approved", "zh": "撤销付款", "en": "Undo the payment"},
   "reverse": {"from": ["approved"], "to": "reversed", "zh": "冲销", "en": "Reverse"}
  }
 },
 "finance_invoice": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "confirmed": {"zh": "已确认", "en": "Confirmed"},
   "partly_paid": {"zh": "部分结清", "en": "Partly paid"},
   "paid": {"zh": "已结清", "en": "Paid"},
   "void": {"zh": "已作废", "en": "Void"},
   "credited": {"zh": "已红冲", "en": "Credited"}
  },
  "actions": {
   "confirm": {"from": ["draft"], "to": "confirmed", "zh": "确认", "en": "Confirm"},
   "pay-part": {"from": ["confirmed", "partly_paid"], "to": "partly_paid", "zh": "收付款", "en": "Enter payment"},
   "pay": {"from": ["confirmed", "partly_paid"], "to": "paid", "zh": "收付款", "en": "Enter payment"},
   "void": {"from": ["draft", "confirmed"], "to": "void", "zh": "作废", "en": "Void"},
   "unpay": {"from": ["partly_paid", "paid", "credited"], "to": "confirmed", "zh": "已确认", "en": "Confirmed"},
   "unpay-part": {"from": ["partly_paid", "paid"], "to": "partly_paid", "zh": "部分结清", "en": "Partly paid"},
   "settle": {"from": ["partly_paid", "credited"], "to": "paid", "zh": "已结清", "en": "Paid"},
   "credit": {"from": ["confirmed", "partly_paid", "paid"], "to": "credited", "zh": "已红冲", "en": "Credited"}
  }
 },
 "finance_open_item": {
  "initial": "planned",
  "states": {
   "planned": {"zh": "待发生", "en": "Planned"},
   "open": {"zh": "未结清", "en": "Open"},
   "partly_paid": {"zh": "部分结清", "en": "Partly paid"},
   "paid": {"zh": "已结清", "en": "Paid"},
   "void": {"zh": "已作废", "en": "Void"}
  },
  "actions": {
   "pay-part": {"from": ["open", "partly_paid"], "to": "partly_paid", "zh": "收付款", "en": "Enter payment"},
   "pay": {"from": ["open", "partly_paid"], "to": "paid", "zh": "收付款", "en": "Enter payment"},
   "reopen": {"from": ["planned", "partly_paid", "paid", "void"], "to": "open", "zh": "未结清", "en": "Open"},
   "reopen-part": {"from": ["paid", "void"], "to": "partly_paid", "zh": "部分结清", "en": "Partly paid"},
   "settle": {"from": ["void"], "to": "paid", "zh": "已结清", "en": "Paid"},
   "void": {"from": ["planned", "open", "partly_paid", "paid"], "to": "void", "zh": "已作废", "en": "Void"}
  }
 },
 "finance_opening_item": {
  "initial": "booked",
  "states": {"booked": {"zh": "已入账", "en": "Booked"}, "reversed": {"zh": "已冲销", "en": "Reversed"}},
  "actions": {"reverse": {"from": ["booked"], "to": "reversed", "zh": "冲销", "en": "Reverse"}}
 },
 "finance_payment": {
  "initial": "booked",
  "states": {"booked": {"zh": "已入账", "en": "Booked"}, "reversed": {"zh": "已冲销", "en": "Reversed"}},
  "actions": {
   "allocate": {"from": ["booked"], "to": "booked", "zh": "核销", "en": "Allocate"},
   "take-back": {"from": ["booked"], "to": "booked", "zh": "撤销核销", "en": "Undo allocation"},
   "reverse": {"from": ["booked"], "to": "reversed", "zh": "冲销", "en": "Reverse"}
  }
 },
 "hrm_attendance_sheet": {
  "initial": "open",
  "states": {
   "open": {"zh": "待确认", "en": "Not answered"},
   "agreed": {"zh": "已确认", "en": "Agreed"},
   "objected": {"zh": "有异议", "en": "Objected"},
   "changed": {"zh": "数据已变更", "en": "Changed since"}
  },
  "actions": {
   "agree": {"from": ["open", "objected", "changed"], "to": "agreed", "zh": "确认", "en": "Agree"},
   "object": {"from": ["open", "agreed", "changed"], "to": "objected", "zh": "提出异议", "en": "Object"},
   "change": {"from": ["agreed", "objected"], "to": "changed", "zh": "数据已变更", "en": "Changed since"}
  }
 },
 "hrm_daily_result": {
  "initial": "pending",
  "states": {
   "pending": {"zh": "待打卡", "en": "Pending"},
   "normal": {"zh": "正常", "en": "Normal"},
   "late": {"zh": "迟到", "en": "Late"},
   "early_leave": {"zh": "早退", "en": "Early leave"},
   "missed": {"zh": "缺卡", "en": "Missed punch"},
   "absent": {"zh": "旷工", "en": "Absent"},
   "leave": {"zh": "请假", "en": "Leave"},
   "rest": {"zh": "休息", "en": "Day off"}
  },
  "actions": {
   "become-pending": {
    "from": ["normal", "late", "early_leave", "missed", "absent", "leave", "rest"],
    "to": "pending",
    "zh": "待打卡",
    "en": "Pending"
   },
   "become-normal": {
    "from": ["pending", "late", "early_leave", "missed", "absent", "leave", "rest"],
    "to": "normal",
    "zh": "正常",
    "en": "Normal"
   },
   "become-late": {
    "from": ["pending", "normal", "early_leave", "missed", "absent", "leave", "rest"],
    "to": "late",
    "zh": "迟到",
    "en": "Late"
   },
   "become-early-leave": {
    "from": ["pending", "normal", "late", "missed", "absent", "leave", "rest"],
    "to": "early_leave",
    "zh": "早退",
    "en": "Early leave"
   },
   "become-missed": {
    "from": ["pending", "normal", "late", "early_leave", "absent", "leave", "rest"],
    "to": "missed",
    "zh": "缺卡",
    "en": "Missed punch"
   },
   "become-absent": {
    "from": ["pending", "normal", "late", "early_leave", "missed", "leave", "rest"],
    "to": "absent",
    "zh": "旷工",
    "en": "Absent"
   },
   "become-leave": {
    "from": ["pending", "normal", "late", "early_leave", "missed", "absent", "rest"],
    "to": "leave",
    "zh": "请假",
    "en": "Leave"
   },
   "become-rest": {
    "from": ["pending", "normal", "late", "early_leave", "missed", "absent", "leave"],
    "to": "rest",
    "zh": "休息",
    "en": "Day off"
   }
  }
 },
 "hrm_leave": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "pending": {"zh": "审批中", "en": "Pending approval"},
   "approved": {"zh": "已批准", "en": "Approved"},
   "rejected": {"zh": "已驳回", "en": "Rejected"},
   "cancelled": {"zh": "已销假", "en": "Cancelled"}
  },
  "actions": {
   "submit": {"from": ["draft", "rejected"], "to": "pending", "zh": "提交", "en": "Submit"},
   "withdraw": {"from": ["pending"], "to": "draft", "zh": "撤回", "en": "Withdraw"},
   "approve": {"from": ["pending"], "to": "approved", "zh": "批准", "en": "Approve"},
   "reject": {"from": ["pending"], "to": "rejected", "zh": "驳回", "en": "Reject"},
   "cancel": {"from": ["approved"], "to": "cancelled", "zh": "销假", "en": "Cancel"}
  }
 },
 "hrm_request": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "pending": {"zh": "审批中", "en": "Pending approval"},
   "approved": {"zh": "已批准", "en": "Approved"},
   "rejected": {"zh": "已驳回", "en": "Rejected"},
   "cancelled": {"zh": "已撤销", "en": "Cancelled"}
  },
  "actions": {
   "submit": {"from": ["draft", "rejected"], "to": "pending", "zh": "提交", "en": "Submit"},
   "withdraw": {"from": ["pending"], "to": "draft", "zh": "撤回", "en": "Withdraw"},
   "approve": {"from": ["pending"], "to": "approved", "zh": "批准", "en": "Approve"},
   "reject": {"from": ["pending"], "to": "rejected", "zh": "驳回", "en": "Reject"},
   "cancel": {"from": ["approved"], "to": "cancelled", "zh": "撤销", "en": "Cancel"}
  }
 },
 "inventory_purchase_order": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "pending": {"zh": "审批中", "en": "Pending approval"},
   "ordered": {"zh": "已下单", "en": "Ordered"},
   "partly_received": {"zh": "部分入库", "en": "Partly received"},
   "received": {"zh": "已入库", "en": "Received"},
   "closed": {"zh": "已关闭", "en": "Closed"},
   "cancelled": {"zh": "已取消", "en": "Cancelled"}
  },
  "actions": {
   "submit": {"from": ["draft"], "to": "pending", "zh": "提交审批", "en": "Submit"},
   "withdraw": {"from": ["pending"], "to": "draft", "zh": "撤回", "en": "Withdraw"},
   "reject": {"from": ["pending"], "to": "draft", "zh": "驳回", "en": "Reject"},
   "confirm": {"from": ["draft", "pending"], "to": "ordered", "zh": "确认", "en": "Confirm"},
   "ship-part": {"from": ["ordered", "partly_received"], "to": "partly_received", "zh": "入库", "en": "Receive"},
   "ship": {"from": ["ordered", "partly_received"], "to": "received", "zh": "入库", "en": "Receive"},
   "cancel": {"from": ["draft", "pending", "ordered"], "to": "cancelled", "zh": "取消", "en": "Cancel"},
   "close": {"from": ["partly_received"], "to": "closed", "zh": "关闭", "en": "Close"},
   "revise": {"from": ["ordered"], "to": "ordered", "zh": "变更", "en": "Revise"},
   "revise-part": {"from": ["partly_received"], "to": "partly_received", "zh": "部分入库", "en": "Partly received"},
   "revise-rest": {"from": ["partly_received"], "to": "received", "zh": "已入库", "en": "Received"},
   "unship-part": {"from": ["partly_received", "received"], "to": "partly_received", "zh": "部分入库", "en": "Partly received"},
   "unship": {"from": ["partly_received", "received"], "to": "ordered", "zh": "已下单", "en": "Ordered"}
  }
 },
 "inventory_purchase_order_revision": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "pending": {"zh": "审批中", "en": "Pending approval"},
   "in_force": {"zh": "已生效", "en": "In force"},
   "cancelled": {"zh": "已取消", "en": "Cancelled"}
  },
  "actions": {
   "submit": {"from": ["draft"], "to": "pending", "zh": "提交审批", "en": "Submit"},
   "withdraw": {"from": ["pending"], "to": "draft", "zh": "撤回", "en": "Withdraw"},
   "reject": {"from": ["pending"], "to": "draft", "zh": "驳回", "en": "Reject"},
   "confirm": {"from": ["draft", "pending"], "to": "in_force", "zh": "确认", "en": "Confirm"},
   "cancel": {"from": ["draft", "pending"], "to": "cancelled", "zh": "取消", "en": "Cancel"}
  }
 },
 "inventory_quotation": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "sent": {"zh": "已发出", "en": "Sent"},
   "accepted": {"zh": "已接受", "en": "Accepted"},
   "partly_ordered": {"zh": "部分下单", "en": "Partly ordered"},
   "ordered": {"zh": "已下单", "en": "Ordered"},
   "rejected": {"zh": "已拒绝", "en": "Rejected"}
  },
  "actions": {
   "send": {"from": ["draft"], "to": "sent", "zh": "发出", "en": "Send"},
   "accept": {"from": ["sent"], "to": "accepted", "zh": "客户接受", "en": "Accept"},
   "reject": {"from": ["sent", "accepted"], "to": "rejected", "zh": "客户拒绝", "en": "Reject"},
   "revise": {"from": ["sent", "accepted", "rejected"], "to": "draft", "zh": "退回修改", "en": "Revise"},
   "renew": {"from": ["sent"], "to": "sent", "zh": "延长有效期", "en": "Renew"},
   "renew-accepted": {"from": ["accepted"], "to": "accepted", "zh": "已接受", "en": "Accepted"},
   "renew-part": {"from": ["partly_ordered"], "to": "partly_ordered", "zh": "部分下单", "en": "Partly ordered"},
   "contract": {"from": ["sent", "accepted"], "to": "accepted", "zh": "转合同", "en": "Make a contract"},
   "order": {"from": ["sent", "accepted", "partly_ordered"], "to": "ordered", "zh": "转订单", "en": "Order"},
   "order-part": {"from": ["sent", "accepted", "partly_ordered"], "to": "partly_ordered", "zh": "部分下单", "en": "Partly ordered"},
   "unorder-part": {"from": ["partly_ordered", "ordered"], "to": "partly_ordered", "zh": "部分下单", "en": "Partly ordered"},
   "unorder": {"from": ["partly_ordered", "ordered"], "to": "accepted", "zh": "已接受", "en": "Accepted"}
  }
 },
 "inventory_sales_order": {
  "initial": "draft",
  "states": {
   "draft": {"zh": "草稿", "en": "Draft"},
   "confirmed": {"zh": "已确认", "en": "Confirmed"},
   "partly_delivered": {"zh": "部分出库", "en": "Partly delivered"},
   "delivered": {"zh": "已出库", "en": "Delivered"},
   "closed": {"zh": "已关闭", "en": "Closed"},
   "cancelled": {"zh": "已取消", "en": "Cancelled"}
  },
  "actions": {
   "confirm": {"from": ["draft"], "to": "confirmed", "zh": "确认", "en": "Confirm"},
   "ship-part": {"from": ["confirmed", "partly_delivered"], "to": "partly_delivered", "zh": "出库", "en": "Deliver"},
   "ship": {"from": ["confirmed", "partly_delivered"], "to": "delivered", "zh": "出库", "en": "Deliver"},
   "cancel": {"from": ["draft", "confirmed"], "to": "cancelled", "zh": "取消", "en": "Cancel"},
   "close": {"from": ["partly_delivered"], "to": "closed", "zh": "关闭", "en": "Close"},
   "revise": {"from": ["confirmed"], "to": "confirmed", "zh": "变更", "en": "Revise"},
   "revise-part": {"from": ["partly_delivered"], "to": "partly_delivered", "zh": "部分出库", "en": "Partly delivered"},
   "revise-rest": {"from": ["partly_delivered"], "to": "delivered", "zh": "已出库", "en": "Delivered"},
   "unship-part": {"from": ["partly_delivered", "delivered"], "to": "partly_delivered", "zh": "部分出库", "en": "Partly delivered"},
   "unship": {"from": ["partly_delivered", "delivered"], "to": "confirmed", "zh": "已确认", "en": "Confirmed"}
  }
 },
 "notification_announcement": {
  "initial": "scheduled",
  "states": {
   "scheduled": {"zh": "待发布", "en": "Scheduled"},
   "published": {"zh": "已发布", "en": "Published"},
   "ended": {"zh": "已结束", "en": "Ended"},
   "withdrawn": {"zh": "已撤回", "en": "Withdrawn"}
  },
  "actions": {
   "publish": {"from": ["scheduled"], "to": "published", "zh": "已发布", "en": "Published"},
   "end": {"from": ["scheduled", "published"], "to": "ended", "zh": "已结束", "en": "Ended"},
   "withdraw": {"from": ["scheduled", "published"], "to": "withdrawn", "zh": "撤回", "en": "Withdraw"}
  }
 },
 "rbac_handover": {
  "initial": "running",
  "states": {
   "running": {"zh": "进行中", "en": "Running"},
   "finished": {"zh": "已完成", "en": "Finished"},
   "failed": {"zh": "部分失败", "en": "Failed"}
  },
  "actions": {
   "finish": {"from": ["running"], "to": "finished", "zh": "已完成", "en": "Finished"},
   "fail": {"from": ["running"], "to": "failed", "zh": "部分失败", "en": "Failed"}
  }
 }
} as const;

/** What each permission code permits. */
export const PERMISSIONS = {
 "approval:definition:create": {"zh": "新增审批流程", "en": "create approval flows"},
 "approval:definition:delete": {"zh": "删除审批流程", "en": "delete approval flows"},
 "approval:definition:list": {"zh": "查询审批流程", "en": "list approval flows"},
 "approval:definition:read": {"zh": "查看审批流程", "en": "read approval flows"},
 "approval:definition:restore": {"zh": "恢复审批流程", "en": "restore approval flows"},
 "approval:definition:simulate": {"zh": "审批流程：模拟", "en": "simulate (approval flows)"},
 "approval:definition:update": {"zh": "修改审批流程", "en": "edit approval flows"},
 "approval:delegation:create": {"zh": "新增审批委托", "en": "create delegations"},
 "approval:delegation:delete": {"zh": "删除审批委托", "en": "delete delegations"},
 "approval:delegation:list": {"zh": "查询审批委托", "en": "list delegations"},
 "approval:delegation:read": {"zh": "查看审批委托", "en": "read delegations"},
 "approval:figure:list": {"zh": "审批统计：用时明细", "en": "visits (figures)"},
 "approval:figure:read": {"zh": "审批统计：节点用时", "en": "nodes (figures)"},
 "approval:form:create": {"zh": "新增审批表单", "en": "create request forms"},
 "approval:form:delete": {"zh": "删除审批表单", "en": "delete request forms"},
 "approval:form:list": {"zh": "查询审批表单", "en": "list request forms"},
 "approval:form:read": {"zh": "查看审批表单", "en": "read request forms"},
 "approval:form:restore": {"zh": "恢复审批表单", "en": "restore request forms"},
 "approval:form:update": {"zh": "修改审批表单", "en": "edit request forms"},
 "approval:instance:create": {"zh": "新增审批单", "en": "create requests"},
 "approval:instance:delete": {"zh": "删除审批单", "en": "delete requests"},
 "approval:instance:list": {"zh": "查询审批单", "en": "list requests"},
 "approval:instance:read": {"zh": "查看审批单", "en": "read requests"},
 "approval:instance:reassign": {"zh": "审批单：改派", "en": "reassign (requests)"},
 "approval:instance:submit": {"zh": "审批单：提交", "en": "submit (requests)"},
 "approval:instance:update": {"zh": "修改审批单", "en": "edit requests"},
 "approval:instance:withdraw": {"zh": "审批单：撤回", "en": "withdraw (requests)"},
 "approval:task:add-signer": {"zh": "我的审批：加签", "en": "add a signer (my approvals)"},
 "approval:task:agree": {"zh": "我的审批：同意", "en": "agree (my approvals)"},
 "approval:task:ask-advice": {"zh": "我的审批：征求意见", "en": "ask for advice (my approvals)"},
 "approval:task:list": {"zh": "查询我的审批", "en": "list my approvals"},
 "approval:task:reject": {"zh": "我的审批：驳回", "en": "reject (my approvals)"},
 "approval:task:send-back": {"zh": "我的审批：退回", "en": "send back (my approvals)"},
 "approval:task:transfer": {"zh": "我的审批：转办", "en": "transfer (my approvals)"},
 "cms:article:create": {"zh": "新增文章", "en": "create articles"},
 "cms:article:delete": {"zh": "删除文章", "en": "delete articles"},
 "cms:article:export": {"zh": "导出文章", "en": "export articles"},
 "cms:article:list": {"zh": "查询文章", "en": "list articles"},
 "cms:article:preview": {"zh": "文章：预览", "en": "preview (articles)"},
 "cms:article:publish": {"zh": "文章：发布", "en": "publish (articles)"},
 "cms:article:read": {"zh": "查看文章", "en": "read articles"},
 "cms:article:restore": {"zh": "文章：恢复历史版本", "en": "restore a revision (articles)"},
 "cms:article:unpublish": {"zh": "文章：下线", "en": "unpublish (articles)"},
 "cms:article:update": {"zh": "修改文章", "en": "edit articles"},
 "cms:category:create": {"zh": "新增文章栏目", "en": "create article categories"},
 "cms:category:delete": {"zh": "删除文章栏目", "en": "delete article categories"},
 "cms:category:export": {"zh": "导出文章栏目", "en": "export article categories"},
 "cms:category:import": {"zh": "导入文章栏目", "en": "import article categories"},
 "cms:category:list": {"zh": "查询文章栏目", "en": "list article categories"},
 "cms:category:read": {"zh": "查看文章栏目", "en": "read article categories"},
 "cms:category:restore": {"zh": "恢复文章栏目", "en": "restore article categories"},
 "cms:category:update": {"zh": "修改文章栏目", "en": "edit article categories"},
 "cms:site:read": {"zh": "查看站点设置", "en": "read site settings"},
 "cms:site:update": {"zh": "修改站点设置", "en": "edit site settings"},
 "crm:contact:create": {"zh": "新增联系人", "en": "create contacts"},
 "crm:contact:delete": {"zh": "删除联系人", "en": "delete contacts"},
 "crm:contact:export": {"zh": "导出联系人", "en": "export contacts"},
 "crm:contact:import": {"zh": "导入联系人", "en": "import contacts"},
 "crm:contact:list": {"zh": "查询联系人", "en": "list contacts"},
 "crm:contact:read": {"zh": "查看联系人", "en": "read contacts"},
 "crm:contact:restore": {"zh": "恢复联系人", "en": "restore contacts"},
 "crm:contact:update": {"zh": "修改联系人", "en": "edit contacts"},
 "crm:contract-amendment:approve": {"zh": "合同变更：批准", "en": "approve (contract amendments)"},
 "crm:contract-amendment:cancel": {"zh": "合同变更：取消", "en": "cancel (contract amendments)"},
 "crm:contract-amendment:create": {"zh": "新增合同变更", "en": "create contract amendments"},
 "crm:contract-amendment:delete": {"zh": "删除合同变更", "en": "delete contract amendments"},
 "crm:contract-amendment:list": {"zh": "查询合同变更", "en": "list contract amendments"},
 "crm:contract-amendment:read": {"zh": "查看合同变更", "en": "read contract amendments"},
 "crm:contract-amendment:reject": {"zh": "合同变更：驳回", "en": "reject (contract amendments)"},
 "crm:contract-amendment:restore": {"zh": "恢复合同变更", "en": "restore contract amendments"},
 "crm:contract-amendment:submit": {"zh": "合同变更：提交审批", "en": "submit (contract amendments)"},
 "crm:contract-amendment:update": {"zh": "修改合同变更", "en": "edit contract amendments"},
 "crm:contract-amendment:withdraw": {"zh": "合同变更：撤回", "en": "withdraw (contract amendments)"},
 "crm:contract:approve": {"zh": "合同：批准", "en": "approve (contracts)"},
 "crm:contract:complete": {"zh": "合同：完成", "en": "complete (contracts)"},
 "crm:contract:create": {"zh": "新增合同", "en": "create contracts"},
 "crm:contract:delete": {"zh": "删除合同", "en": "delete contracts"},
 "crm:contract:export": {"zh": "导出合同", "en": "export contracts"},
 "crm:contract:hold": {"zh": "合同：挂起", "en": "hold (contracts)"},
 "crm:contract:import": {"zh": "导入合同", "en": "import contracts"},
 "crm:contract:list": {"zh": "查询合同", "en": "list contracts"},
 "crm:contract:read": {"zh": "查看合同", "en": "read contracts"},
 "crm:contract:reject": {"zh": "合同：驳回", "en": "reject (contracts)"},
 "crm:contract:restore": {"zh": "恢复合同", "en": "restore contracts"},
 "crm:contract:submit": {"zh": "合同：提交审批", "en": "submit (contracts)"},
 "crm:contract:terminate": {"zh": "合同：终止", "en": "terminate (contracts)"},
 "crm:contract:update": {"zh": "修改合同", "en": "edit contracts"},
 "crm:contract:withdraw": {"zh": "合同：撤回", "en": "withdraw (contracts)"},
 "crm:customer:claim": {"zh": "客户：领取", "en": "claim (customers)"},
 "crm:customer:create": {"zh": "新增客户", "en": "create customers"},
 "crm:customer:delete": {"zh": "删除客户", "en": "delete customers"},
 "crm:customer:export": {"zh": "导出客户", "en": "export customers"},
 "crm:customer:import": {"zh": "导入客户", "en": "import customers"},
 "crm:customer:list": {"zh": "查询客户", "en": "list customers"},
 "crm:customer:read": {"zh": "查看客户", "en": "read customers"},
 "crm:customer:release": {"zh": "客户：释放", "en": "release (customers)"},
 "crm:customer:restore": {"zh": "恢复客户", "en": "restore customers"},
 "crm:customer:share": {"zh": "客户：设置协作人", "en": "set collaborators (customers)"},
 "crm:customer:transfer": {"zh": "客户：转移", "en": "transfer (customers)"},
 "crm:customer:update": {"zh": "修改客户", "en": "edit customers"},
 "crm:follow-up:create": {"zh": "新增跟进记录", "en": "create follow-ups"},
 "crm:follow-up:delete": {"zh": "删除跟进记录", "en": "delete follow-ups"},
 "crm:follow-up:export": {"zh": "导出跟进记录", "en": "export follow-ups"},
 "crm:follow-up:import": {"zh": "导入跟进记录", "en": "import follow-ups"},
 "crm:follow-up:list": {"zh": "查询跟进记录", "en": "list follow-ups"},
 "crm:follow-up:read": {"zh": "查看跟进记录", "en": "read follow-ups"},
 "crm:follow-up:restore": {"zh": "恢复跟进记录", "en": "restore follow-ups"},
 "crm:follow-up:update": {"zh": "修改跟进记录", "en": "edit follow-ups"},
 "crm:lead:convert": {"zh": "线索：转化", "en": "convert (leads)"},
 "crm:lead:create": {"zh": "新增线索", "en": "create leads"},
 "crm:lead:delete": {"zh": "删除线索", "en": "delete leads"},
 "crm:lead:export": {"zh": "导出线索", "en": "export leads"},
 "crm:lead:import": {"zh": "导入线索", "en": "import leads"},
 "crm:lead:list": {"zh": "查询线索", "en": "list leads"},
 "crm:lead:read": {"zh": "查看线索", "en": "read leads"},
 "crm:lead:restore": {"zh": "恢复线索", "en": "restore leads"},
 "crm:lead:update": {"zh": "修改线索", "en": "edit leads"},
 "crm:opportunity:advance": {"zh": "商机：推进阶段", "en": "advance (opportunities)"},
 "crm:opportunity:create": {"zh": "新增商机", "en": "create opportunities"},
 "crm:opportunity:delete": {"zh": "删除商机", "en": "delete opportunities"},
 "crm:opportunity:export": {"zh": "导出商机", "en": "export opportunities"},
 "crm:opportunity:import": {"zh": "导入商机", "en": "import opportunities"},
 "crm:opportunity:list": {"zh": "查询商机", "en": "list opportunities"},
 "crm:opportunity:lose": {"zh": "商机：输单", "en": "lose (opportunities)"},
 "crm:opportunity:read": {"zh": "查看商机", "en": "read opportunities"},
 "crm:opportunity:restore": {"zh": "恢复商机", "en": "restore opportunities"},
 "crm:opportunity:update": {"zh": "修改商机", "en": "edit opportunities"},
 "crm:opportunity:win": {"zh": "商机：赢单", "en": "win (opportunities)"},
 "crm:payment-plan:create": {"zh": "新增回款计划", "en": "create payment plans"},
 "crm:payment-plan:delete": {"zh": "删除回款计划", "en": "delete payment plans"},
 "crm:payment-plan:export": {"zh": "导出回款计划", "en": "export payment plans"},
 "crm:payment-plan:import": {"zh": "导入回款计划", "en": "import payment plans"},
 "crm:payment-plan:list": {"zh": "查询回款计划", "en": "list payment plans"},
 "crm:payment-plan:read": {"zh": "查看回款计划", "en": "read payment plans"},
 "crm:payment-plan:update": {"zh": "修改回款计划", "en": "edit payment plans"},
 "crm:payment:create": {"zh": "新增回款", "en": "create payments"},
 "crm:payment:delete": {"zh": "删除回款", "en": "delete payments"},
 "crm:payment:export": {"zh": "导出回款", "en": "export payments"},
 "crm:payment:list": {"zh": "查询回款", "en": "list payments"},
 "crm:payment:read": {"zh": "查看回款", "en": "read payments"},
 "crm:payment:reverse": {"zh": "回款：冲销", "en": "reverse (payments)"},
 "crm:payment:update": {"zh": "修改回款", "en": "edit payments"},
 "dashboard:chart:attendance-summary": {"zh": "数据看板：考勤汇总", "en": "attendance summary (dashboards)"},
 "dashboard:chart:contract-trend": {"zh": "数据看板：合同签约趋势", "en": "contract trend (dashboards)"},
 "dashboard:chart:customer-distribution": {"zh": "数据看板：客户分布", "en": "customer distribution (dashboards)"},
 "dashboard:chart:employee-distribution": {"zh": "数据看板：人员分布", "en": "employee distribution (dashboards)"},
 "dashboard:chart:finance-summary": {"zh": "数据看板：收支汇总", "en": "finance summary (dashboards)"},
 "dashboard:chart:headcount-trend": {"zh": "数据看板：人员趋势", "en": "headcount trend (dashboards)"},
 "dashboard:chart:lead-source-distribution": {"zh": "数据看板：线索来源分布", "en": "lead sources (dashboards)"},
 "dashboard:chart:opportunity-funnel": {"zh": "数据看板：商机漏斗", "en": "opportunity funnel (dashboards)"},
 "dashboard:chart:overview": {"zh": "数据看板：核心指标", "en": "overview (dashboards)"},
 "dashboard:chart:sales-ranking": {"zh": "数据看板：业绩排行", "en": "sales ranking (dashboards)"},
 "dashboard:chart:sales-trend": {"zh": "数据看板：回款趋势", "en": "payment trend (dashboards)"},
 "dashboard:chart:sales-vs-purchase": {"zh": "数据看板：销售与采购对比", "en": "sales and purchases (dashboards)"},
 "dashboard:chart:stock-value-by-warehouse": {"zh": "数据看板：仓库库存金额", "en": "stock value by warehouse (dashboards)"},
 "finance:account:create": {"zh": "新增账户", "en": "create accounts"},
 "finance:account:delete": {"zh": "删除账户", "en": "delete accounts"},
 "finance:account:export": {"zh": "导出账户", "en": "export accounts"},
 "finance:account:import": {"zh": "导入账户", "en": "import accounts"},
 "finance:account:list": {"zh": "查询账户", "en": "list accounts"},
 "finance:account:read": {"zh": "查看账户", "en": "read accounts"},
 "finance:account:restore": {"zh": "恢复账户", "en": "restore accounts"},
 "finance:account:update": {"zh": "修改账户", "en": "edit accounts"},
 "finance:adjustment:create": {"zh": "新增款项调整", "en": "create adjustments"},
 "finance:adjustment:export": {"zh": "导出款项调整", "en": "export adjustments"},
 "finance:adjustment:list": {"zh": "查询款项调整", "en": "list adjustments"},
 "finance:adjustment:read": {"zh": "查看款项调整", "en": "read adjustments"},
 "finance:adjustment:reverse": {"zh": "款项调整：冲销", "en": "reverse (adjustments)"},
 "finance:ageing:export": {"zh": "导出账龄分析", "en": "export ageing"},
 "finance:ageing:read": {"zh": "查看账龄分析", "en": "read ageing"},
 "finance:audit:read": {"zh": "查看账目核对", "en": "read ledger audit"},
 "finance:audit:run": {"zh": "账目核对：立即核对", "en": "run now (ledger audit)"},
 "finance:balance:export": {"zh": "导出往来余额", "en": "export balances of parties"},
 "finance:balance:list": {"zh": "查询往来余额", "en": "list balances of parties"},
 "finance:credit-note:export": {"zh": "导出红字发票", "en": "export credit notes"},
 "finance:credit-note:list": {"zh": "查询红字发票", "en": "list credit notes"},
 "finance:credit-note:read": {"zh": "查看红字发票", "en": "read credit notes"},
 "finance:credit-note:reverse": {"zh": "红字发票：冲销", "en": "reverse (credit notes)"},
 "finance:dunning:read": {"zh": "查看催款清单", "en": "read dunning list"},
 "finance:exchange-rate:create": {"zh": "新增汇率", "en": "create exchange rates"},
 "finance:exchange-rate:delete": {"zh": "删除汇率", "en": "delete exchange rates"},
 "finance:exchange-rate:differences": {"zh": "汇率：汇兑损益", "en": "exchange differences (exchange rates)"},
 "finance:exchange-rate:export": {"zh": "导出汇率", "en": "export exchange rates"},
 "finance:exchange-rate:import": {"zh": "导入汇率", "en": "import exchange rates"},
 "finance:exchange-rate:list": {"zh": "查询汇率", "en": "list exchange rates"},
 "finance:exchange-rate:read": {"zh": "查看汇率", "en": "read exchange rates"},
 "finance:exchange-rate:restore": {"zh": "恢复汇率", "en": "restore exchange rates"},
 "finance:exchange-rate:update": {"zh": "修改汇率", "en": "edit exchange rates"},
 "finance:expense-claim:approve": {"zh": "费用报销：批准", "en": "approve (expense claims)"},
 "finance:expense-claim:create": {"zh": "新增费用报销", "en": "create expense claims"},
 "finance:expense-claim:delete": {"zh": "删除费用报销", "en": "delete expense claims"},
 "finance:expense-claim:export": {"zh": "导出费用报销", "en": "export expense claims"},
 "finance:expense-claim:list": {"zh": "查询费用报销", "en": "list expense claims"},
 "finance:expense-claim:pay": {"zh": "费用报销：付款", "en": "pay (expense claims)"},
 "finance:expense-claim:read": {"zh": "查看费用报销", "en": "read expense claims"},
 "finance:expense-claim:restore": {"zh": "恢复费用报销", "en": "restore expense claims"},
 "finance:expense-claim:reverse": {"zh": "费用报销：冲销", "en": "reverse (expense claims)"},
 "finance:expense-claim:submit": {"zh": "费用报销：提交", "en": "submit (expense claims)"},
 "finance:expense-claim:update": {"zh": "修改费用报销", "en": "edit expense claims"},
 "finance:invoice:confirm": {"zh": "发票：确认", "en": "confirm (invoices)"},
 "finance:invoice:create": {"zh": "新增发票", "en": "create invoices"},
 "finance:invoice:credit": {"zh": "发票：红冲", "en": "credit (invoices)"},
 "finance:invoice:delete": {"zh": "删除发票", "en": "delete invoices"},
 "finance:invoice:export": {"zh": "导出发票", "en": "export invoices"},
 "finance:invoice:import": {"zh": "导入发票", "en": "import invoices"},
 "finance:invoice:list": {"zh": "查询发票", "en": "list invoices"},
 "finance:invoice:pay": {"zh": "发票：收付款", "en": "enter payment (invoices)"},
 "finance:invoice:payables": {"zh": "发票：应付", "en": "payables (invoices)"},
 "finance:invoice:read": {"zh": "查看发票", "en": "read invoices"},
 "finance:invoice:receivables": {"zh": "发票：应收", "en": "receivables (invoices)"},
 "finance:invoice:restore": {"zh": "恢复发票", "en": "restore invoices"},
 "finance:invoice:update": {"zh": "修改发票", "en": "edit invoices"},
 "finance:invoice:void": {"zh": "发票：作废", "en": "void (invoices)"},
 "finance:journal:export": {"zh": "导出账户日记账", "en": "export account journals"},
 "finance:journal:list": {"zh": "查询账户日记账", "en": "list account journals"},
 "finance:opening-item:create": {"zh": "新增期初款项", "en": "create opening items"},
 "finance:opening-item:export": {"zh": "导出期初款项", "en": "export opening items"},
 "finance:opening-item:import": {"zh": "导入期初款项", "en": "import opening items"},
 "finance:opening-item:list": {"zh": "查询期初款项", "en": "list opening items"},
 "finance:opening-item:read": {"zh": "查看期初款项", "en": "read opening items"},
 "finance:opening-item:reverse": {"zh": "期初款项：冲销", "en": "reverse (opening items)"},
 "finance:opening-item:update": {"zh": "修改期初款项", "en": "edit opening items"},
 "finance:payment:allocate": {"zh": "收付款：核销", "en": "allocate (payments)"},
 "finance:payment:create": {"zh": "新增收付款", "en": "create payments"},
 "finance:payment:export": {"zh": "导出收付款", "en": "export payments"},
 "finance:payment:import": {"zh": "导入收付款", "en": "import payments"},
 "finance:payment:list": {"zh": "查询收付款", "en": "list payments"},
 "finance:payment:read": {"zh": "查看收付款", "en": "read payments"},
 "finance:payment:reverse": {"zh": "收付款：冲销", "en": "reverse (payments)"},
 "finance:payment:update": {"zh": "修改收付款", "en": "edit payments"},
 "finance:period:close": {"zh": "会计期间：结账", "en": "close (periods)"},
 "finance:period:list": {"zh": "查询会计期间", "en": "list periods"},
 "finance:statement:export": {"zh": "导出往来对账单", "en": "export statements of account"},
 "finance:statement:read": {"zh": "查看往来对账单", "en": "read statements of account"},
 "finance:tax:read": {"zh": "查看税额汇总", "en": "read tax by rate"},
 "finance:unbilled:export": {"zh": "导出未开票明细", "en": "export not invoiced"},
 "finance:unbilled:list": {"zh": "查询未开票明细", "en": "list not invoiced"},
 "finance:voucher:create": {"zh": "新增收支凭证", "en": "create vouchers"},
 "finance:voucher:export": {"zh": "导出收支凭证", "en": "export vouchers"},
 "finance:voucher:list": {"zh": "查询收支凭证", "en": "list vouchers"},
 "finance:voucher:read": {"zh": "查看收支凭证", "en": "read vouchers"},
 "finance:voucher:reverse": {"zh": "收支凭证：冲销", "en": "reverse (vouchers)"},
 "hrm:attendance-closing:agreement": {"zh": "考勤封账：员工确认", "en": "agreements of employees (closed attendance)"},
 "hrm:attendance-closing:create": {"zh": "新增考勤封账", "en": "create closed attendance"},
 "hrm:attendance-closing:list": {"zh": "查询考勤封账", "en": "list closed attendance"},
 "hrm:attendance-closing:read": {"zh": "查看考勤封账", "en": "read closed attendance"},
 "hrm:attendance-closing:reopen": {"zh": "考勤封账：重新开放", "en": "reopen (closed attendance)"},
 "hrm:attendance-group:create": {"zh": "新增考勤组", "en": "create attendance groups"},
 "hrm:attendance-group:delete": {"zh": "删除考勤组", "en": "delete attendance groups"},
 "hrm:attendance-group:export": {"zh": "导出考勤组", "en": "export attendance groups"},
 "hrm:attendance-group:import": {"zh": "导入考勤组", "en": "import attendance groups"},
 "hrm:attendance-group:list": {"zh": "查询考勤组", "en": "list attendance groups"},
 "hrm:attendance-group:read": {"zh": "查看考勤组", "en": "read attendance groups"},
 "hrm:attendance-group:restore": {"zh": "恢复考勤组", "en": "restore attendance groups"},
 "hrm:attendance-group:update": {"zh": "修改考勤组", "en": "edit attendance groups"},
 "hrm:attendance-sheet:list": {"zh": "查询考勤确认", "en": "list attendance sheets"},
 "hrm:attendance-sheet:read": {"zh": "查看考勤确认", "en": "read attendance sheets"},
 "hrm:attendance:export": {"zh": "导出考勤", "en": "export attendance"},
 "hrm:attendance:list": {"zh": "查询考勤", "en": "list attendance"},
 "hrm:attendance:punch": {"zh": "考勤：打卡", "en": "punch (attendance)"},
 "hrm:employee:contract": {"zh": "员工：劳动合同", "en": "employment contracts (employees)"},
 "hrm:employee:create": {"zh": "新增员工", "en": "create employees"},
 "hrm:employee:delete": {"zh": "删除员工", "en": "delete employees"},
 "hrm:employee:export": {"zh": "导出员工", "en": "export employees"},
 "hrm:employee:import": {"zh": "导入员工", "en": "import employees"},
 "hrm:employee:list": {"zh": "查询员工", "en": "list employees"},
 "hrm:employee:private": {"zh": "员工：隐私信息", "en": "private details (employees)"},
 "hrm:employee:read": {"zh": "查看员工", "en": "read employees"},
 "hrm:employee:restore": {"zh": "恢复员工", "en": "restore employees"},
 "hrm:employee:update": {"zh": "修改员工", "en": "edit employees"},
 "hrm:leave-adjustment:create": {"zh": "新增余额调整", "en": "create leave adjustments"},
 "hrm:leave-adjustment:list": {"zh": "查询余额调整", "en": "list leave adjustments"},
 "hrm:leave-adjustment:read": {"zh": "查看余额调整", "en": "read leave adjustments"},
 "hrm:leave-allowance:create": {"zh": "新增假期额度", "en": "create leave allowances"},
 "hrm:leave-allowance:delete": {"zh": "删除假期额度", "en": "delete leave allowances"},
 "hrm:leave-allowance:export": {"zh": "导出假期额度", "en": "export leave allowances"},
 "hrm:leave-allowance:import": {"zh": "导入假期额度", "en": "import leave allowances"},
 "hrm:leave-allowance:list": {"zh": "查询假期额度", "en": "list leave allowances"},
 "hrm:leave-allowance:read": {"zh": "查看假期额度", "en": "read leave allowances"},
 "hrm:leave-allowance:restore": {"zh": "恢复假期额度", "en": "restore leave allowances"},
 "hrm:leave-allowance:update": {"zh": "修改假期额度", "en": "edit leave allowances"},
 "hrm:leave-balance:list": {"zh": "查询假期余额", "en": "list leave balances"},
 "hrm:leave-type:create": {"zh": "新增假期类型", "en": "create leave types"},
 "hrm:leave-type:list": {"zh": "查询假期类型", "en": "list leave types"},
 "hrm:leave-type:read": {"zh": "查看假期类型", "en": "read leave types"},
 "hrm:leave-type:update": {"zh": "修改假期类型", "en": "edit leave types"},
 "hrm:leave:approve": {"zh": "请假：批准", "en": "approve (leave)"},
 "hrm:leave:cancel": {"zh": "请假：销假", "en": "cancel (leave)"},
 "hrm:leave:create": {"zh": "新增请假", "en": "create leave"},
 "hrm:leave:delete": {"zh": "删除请假", "en": "delete leave"},
 "hrm:leave:enter": {"zh": "请假：代录", "en": "enter for others (leave)"},
 "hrm:leave:export": {"zh": "导出请假", "en": "export leave"},
 "hrm:leave:list": {"zh": "查询请假", "en": "list leave"},
 "hrm:leave:read": {"zh": "查看请假", "en": "read leave"},
 "hrm:leave:restore": {"zh": "恢复请假", "en": "restore leave"},
 "hrm:leave:submit": {"zh": "请假：提交", "en": "submit (leave)"},
 "hrm:leave:update": {"zh": "修改请假", "en": "edit leave"},
 "hrm:place:create": {"zh": "新增打卡地点", "en": "create attendance places"},
 "hrm:place:delete": {"zh": "删除打卡地点", "en": "delete attendance places"},
 "hrm:place:export": {"zh": "导出打卡地点", "en": "export attendance places"},
 "hrm:place:import": {"zh": "导入打卡地点", "en": "import attendance places"},
 "hrm:place:list": {"zh": "查询打卡地点", "en": "list attendance places"},
 "hrm:place:read": {"zh": "查看打卡地点", "en": "read attendance places"},
 "hrm:place:restore": {"zh": "恢复打卡地点", "en": "restore attendance places"},
 "hrm:place:update": {"zh": "修改打卡地点", "en": "edit attendance places"},
 "hrm:position:create": {"zh": "新增职位", "en": "create positions"},
 "hrm:position:delete": {"zh": "删除职位", "en": "delete positions"},
 "hrm:position:export": {"zh": "导出职位", "en": "export positions"},
 "hrm:position:import": {"zh": "导入职位", "en": "import positions"},
 "hrm:position:list": {"zh": "查询职位", "en": "list positions"},
 "hrm:position:read": {"zh": "查看职位", "en": "read positions"},
 "hrm:position:restore": {"zh": "恢复职位", "en": "restore positions"},
 "hrm:position:update": {"zh": "修改职位", "en": "edit positions"},
 "hrm:punch:enter": {"zh": "打卡记录：补卡", "en": "enter a punch (punches)"},
 "hrm:punch:import": {"zh": "导入打卡记录", "en": "import punches"},
 "hrm:punch:list": {"zh": "查询打卡记录", "en": "list punches"},
 "hrm:punch:read": {"zh": "查看打卡记录", "en": "read punches"},
 "hrm:punch:review": {"zh": "打卡记录：复核", "en": "review (punches)"},
 "hrm:request:approve": {"zh": "员工申请：批准", "en": "approve (requests)"},
 "hrm:request:cancel": {"zh": "员工申请：撤销", "en": "cancel (requests)"},
 "hrm:request:create": {"zh": "新增员工申请", "en": "create requests"},
 "hrm:request:delete": {"zh": "删除员工申请", "en": "delete requests"},
 "hrm:request:enter": {"zh": "员工申请：代录", "en": "enter for others (requests)"},
 "hrm:request:export": {"zh": "导出员工申请", "en": "export requests"},
 "hrm:request:list": {"zh": "查询员工申请", "en": "list requests"},
 "hrm:request:read": {"zh": "查看员工申请", "en": "read requests"},
 "hrm:request:restore": {"zh": "恢复员工申请", "en": "restore requests"},
 "hrm:request:submit": {"zh": "员工申请：提交", "en": "submit (requests)"},
 "hrm:request:update": {"zh": "修改员工申请", "en": "edit requests"},
 "hrm:roster-pattern:create": {"zh": "新增轮班规则", "en": "create rotation patterns"},
 "hrm:roster-pattern:delete": {"zh": "删除轮班规则", "en": "delete rotation patterns"},
 "hrm:roster-pattern:list": {"zh": "查询轮班规则", "en": "list rotation patterns"},
 "hrm:roster-pattern:read": {"zh": "查看轮班规则", "en": "read rotation patterns"},
 "hrm:roster-pattern:restore": {"zh": "恢复轮班规则", "en": "restore rotation patterns"},
 "hrm:roster-pattern:update": {"zh": "修改轮班规则", "en": "edit rotation patterns"},
 "hrm:roster:create": {"zh": "新增排班", "en": "create rosters"},
 "hrm:roster:delete": {"zh": "删除排班", "en": "delete rosters"},
 "hrm:roster:export": {"zh": "导出排班", "en": "export rosters"},
 "hrm:roster:list": {"zh": "查询排班", "en": "list rosters"},
 "hrm:roster:read": {"zh": "查看排班", "en": "read rosters"},
 "hrm:roster:restore": {"zh": "恢复排班", "en": "restore rosters"},
 "hrm:roster:take": {"zh": "排班：领取班次", "en": "take open shifts (rosters)"},
 "hrm:roster:update": {"zh": "修改排班", "en": "edit rosters"},
 "hrm:shift:create": {"zh": "新增班次", "en": "create shifts"},
 "hrm:shift:delete": {"zh": "删除班次", "en": "delete shifts"},
 "hrm:shift:export": {"zh": "导出班次", "en": "export shifts"},
 "hrm:shift:import": {"zh": "导入班次", "en": "import shifts"},
 "hrm:shift:list": {"zh": "查询班次", "en": "list shifts"},
 "hrm:shift:read": {"zh": "查看班次", "en": "read shifts"},
 "hrm:shift:restore": {"zh": "恢复班次", "en": "restore shifts"},
 "hrm:shift:update": {"zh": "修改班次", "en": "edit shifts"},
 "hrm:special-day:create": {"zh": "新增节假日安排", "en": "create special days"},
 "hrm:special-day:delete": {"zh": "删除节假日安排", "en": "delete special days"},
 "hrm:special-day:export": {"zh": "导出节假日安排", "en": "export special days"},
 "hrm:special-day:import": {"zh": "导入节假日安排", "en": "import special days"},
 "hrm:special-day:list": {"zh": "查询节假日安排", "en": "list special days"},
 "hrm:special-day:read": {"zh": "查看节假日安排", "en": "read special days"},
 "hrm:special-day:restore": {"zh": "恢复节假日安排", "en": "restore special days"},
 "hrm:special-day:update": {"zh": "修改节假日安排", "en": "edit special days"},
 "inventory:delivery:export": {"zh": "导出出库单", "en": "export deliveries"},
 "inventory:delivery:list": {"zh": "查询出库单", "en": "list deliveries"},
 "inventory:delivery:read": {"zh": "查看出库单", "en": "read deliveries"},
 "inventory:delivery:return": {"zh": "出库单：销售退货", "en": "return from the customer (deliveries)"},
 "inventory:delivery:reverse": {"zh": "出库单：冲销", "en": "reverse (deliveries)"},
 "inventory:margin:export": {"zh": "导出毛利分析", "en": "export margins"},
 "inventory:margin:list": {"zh": "查询毛利分析", "en": "list margins"},
 "inventory:price-list:create": {"zh": "新增价目表", "en": "create price lists"},
 "inventory:price-list:delete": {"zh": "删除价目表", "en": "delete price lists"},
 "inventory:price-list:list": {"zh": "查询价目表", "en": "list price lists"},
 "inventory:price-list:read": {"zh": "查看价目表", "en": "read price lists"},
 "inventory:price-list:restore": {"zh": "恢复价目表", "en": "restore price lists"},
 "inventory:price-list:update": {"zh": "修改价目表", "en": "edit price lists"},
 "inventory:price:create": {"zh": "新增价目", "en": "create prices"},
 "inventory:price:delete": {"zh": "删除价目", "en": "delete prices"},
 "inventory:price:export": {"zh": "导出价目", "en": "export prices"},
 "inventory:price:import": {"zh": "导入价目", "en": "import prices"},
 "inventory:price:list": {"zh": "查询价目", "en": "list prices"},
 "inventory:price:read": {"zh": "查看价目", "en": "read prices"},
 "inventory:price:restore": {"zh": "恢复价目", "en": "restore prices"},
 "inventory:price:update": {"zh": "修改价目", "en": "edit prices"},
 "inventory:product:create": {"zh": "新增商品", "en": "create products"},
 "inventory:product:delete": {"zh": "删除商品", "en": "delete products"},
 "inventory:product:export": {"zh": "导出商品", "en": "export products"},
 "inventory:product:import": {"zh": "导入商品", "en": "import products"},
 "inventory:product:list": {"zh": "查询商品", "en": "list products"},
 "inventory:product:read": {"zh": "查看商品", "en": "read products"},
 "inventory:product:restore": {"zh": "恢复商品", "en": "restore products"},
 "inventory:product:update": {"zh": "修改商品", "en": "edit products"},
 "inventory:purchase-order-revision:confirm": {"zh": "采购订单变更：确认", "en": "confirm (purchase order revisions)"},
 "inventory:purchase-order-revision:list": {"zh": "查询采购订单变更", "en": "list purchase order revisions"},
 "inventory:purchase-order-revision:read": {"zh": "查看采购订单变更", "en": "read purchase order revisions"},
 "inventory:purchase-order-revision:submit": {"zh": "采购订单变更：提交审批", "en": "submit (purchase order revisions)"},
 "inventory:purchase-order:cancel": {"zh": "采购订单：取消", "en": "cancel (purchase orders)"},
 "inventory:purchase-order:close": {"zh": "采购订单：关闭", "en": "close (purchase orders)"},
 "inventory:purchase-order:confirm": {"zh": "采购订单：确认", "en": "confirm (purchase orders)"},
 "inventory:purchase-order:create": {"zh": "新增采购订单", "en": "create purchase orders"},
 "inventory:purchase-order:delete": {"zh": "删除采购订单", "en": "delete purchase orders"},
 "inventory:purchase-order:export": {"zh": "导出采购订单", "en": "export purchase orders"},
 "inventory:purchase-order:hold": {"zh": "采购订单：挂起", "en": "hold (purchase orders)"},
 "inventory:purchase-order:import": {"zh": "导入采购订单", "en": "import purchase orders"},
 "inventory:purchase-order:list": {"zh": "查询采购订单", "en": "list purchase orders"},
 "inventory:purchase-order:read": {"zh": "查看采购订单", "en": "read purchase orders"},
 "inventory:purchase-order:receive": {"zh": "采购订单：入库", "en": "receive (purchase orders)"},
 "inventory:purchase-order:restore": {"zh": "恢复采购订单", "en": "restore purchase orders"},
 "inventory:purchase-order:revise": {"zh": "采购订单：变更", "en": "revise (purchase orders)"},
 "inventory:purchase-order:submit": {"zh": "采购订单：提交审批", "en": "submit (purchase orders)"},
 "inventory:purchase-order:update": {"zh": "修改采购订单", "en": "edit purchase orders"},
 "inventory:purchase-return:export": {"zh": "导出采购退货", "en": "export purchase returns"},
 "inventory:purchase-return:list": {"zh": "查询采购退货", "en": "list purchase returns"},
 "inventory:purchase-return:read": {"zh": "查看采购退货", "en": "read purchase returns"},
 "inventory:purchase-return:reverse": {"zh": "采购退货：冲销", "en": "reverse (purchase returns)"},
 "inventory:quotation:accept": {"zh": "报价单：客户接受", "en": "accept (quotations)"},
 "inventory:quotation:contract": {"zh": "报价单：转合同", "en": "make a contract (quotations)"},
 "inventory:quotation:create": {"zh": "新增报价单", "en": "create quotations"},
 "inventory:quotation:delete": {"zh": "删除报价单", "en": "delete quotations"},
 "inventory:quotation:export": {"zh": "导出报价单", "en": "export quotations"},
 "inventory:quotation:import": {"zh": "导入报价单", "en": "import quotations"},
 "inventory:quotation:list": {"zh": "查询报价单", "en": "list quotations"},
 "inventory:quotation:order": {"zh": "报价单：转订单", "en": "order (quotations)"},
 "inventory:quotation:read": {"zh": "查看报价单", "en": "read quotations"},
 "inventory:quotation:reject": {"zh": "报价单：客户拒绝", "en": "reject (quotations)"},
 "inventory:quotation:renew": {"zh": "报价单：延长有效期", "en": "renew (quotations)"},
 "inventory:quotation:restore": {"zh": "恢复报价单", "en": "restore quotations"},
 "inventory:quotation:revise": {"zh": "报价单：退回修改", "en": "revise (quotations)"},
 "inventory:quotation:send": {"zh": "报价单：发出", "en": "send (quotations)"},
 "inventory:quotation:update": {"zh": "修改报价单", "en": "edit quotations"},
 "inventory:receipt:export": {"zh": "导出入库单", "en": "export receipts"},
 "inventory:receipt:list": {"zh": "查询入库单", "en": "list receipts"},
 "inventory:receipt:read": {"zh": "查看入库单", "en": "read receipts"},
 "inventory:receipt:return": {"zh": "入库单：采购退货", "en": "return to the supplier (receipts)"},
 "inventory:receipt:reverse": {"zh": "入库单：冲销", "en": "reverse (receipts)"},
 "inventory:reorder-level:create": {"zh": "新增补货点", "en": "create reorder levels"},
 "inventory:reorder-level:delete": {"zh": "删除补货点", "en": "delete reorder levels"},
 "inventory:reorder-level:export": {"zh": "导出补货点", "en": "export reorder levels"},
 "inventory:reorder-level:import": {"zh": "导入补货点", "en": "import reorder levels"},
 "inventory:reorder-level:list": {"zh": "查询补货点", "en": "list reorder levels"},
 "inventory:reorder-level:read": {"zh": "查看补货点", "en": "read reorder levels"},
 "inventory:reorder-level:restore": {"zh": "恢复补货点", "en": "restore reorder levels"},
 "inventory:reorder-level:update": {"zh": "修改补货点", "en": "edit reorder levels"},
 "inventory:reorder-proposal:list": {"zh": "查询补货建议", "en": "list reorder proposals"},
 "inventory:sales-order:cancel": {"zh": "销售订单：取消", "en": "cancel (sales orders)"},
 "inventory:sales-order:close": {"zh": "销售订单：关闭", "en": "close (sales orders)"},
 "inventory:sales-order:confirm": {"zh": "销售订单：确认", "en": "confirm (sales orders)"},
 "inventory:sales-order:create": {"zh": "新增销售订单", "en": "create sales orders"},
 "inventory:sales-order:delete": {"zh": "删除销售订单", "en": "delete sales orders"},
 "inventory:sales-order:deliver": {"zh": "销售订单：出库", "en": "deliver (sales orders)"},
 "inventory:sales-order:export": {"zh": "导出销售订单", "en": "export sales orders"},
 "inventory:sales-order:hold": {"zh": "销售订单：挂起", "en": "hold (sales orders)"},
 "inventory:sales-order:import": {"zh": "导入销售订单", "en": "import sales orders"},
 "inventory:sales-order:list": {"zh": "查询销售订单", "en": "list sales orders"},
 "inventory:sales-order:read": {"zh": "查看销售订单", "en": "read sales orders"},
 "inventory:sales-order:restore": {"zh": "恢复销售订单", "en": "restore sales orders"},
 "inventory:sales-order:revise": {"zh": "销售订单：变更", "en": "revise (sales orders)"},
 "inventory:sales-order:update": {"zh": "修改销售订单", "en": "edit sales orders"},
 "inventory:sales-return:export": {"zh": "导出销售退货", "en": "export sales returns"},
 "inventory:sales-return:list": {"zh": "查询销售退货", "en": "list sales returns"},
 "inventory:sales-return:read": {"zh": "查看销售退货", "en": "read sales returns"},
 "inventory:sales-return:reverse": {"zh": "销售退货：冲销", "en": "reverse (sales returns)"},
 "inventory:stock-count:create": {"zh": "新增盘点", "en": "create stock counts"},
 "inventory:stock-count:list": {"zh": "查询盘点", "en": "list stock counts"},
 "inventory:stock-count:read": {"zh": "查看盘点", "en": "read stock counts"},
 "inventory:stock-count:reverse": {"zh": "盘点：冲销", "en": "reverse (stock counts)"},
 "inventory:stock:export": {"zh": "导出库存", "en": "export stock"},
 "inventory:stock:ledger": {"zh": "库存：库存流水", "en": "stock ledger (stock)"},
 "inventory:stock:list": {"zh": "查询库存", "en": "list stock"},
 "inventory:supplier:create": {"zh": "新增供应商", "en": "create suppliers"},
 "inventory:supplier:delete": {"zh": "删除供应商", "en": "delete suppliers"},
 "inventory:supplier:export": {"zh": "导出供应商", "en": "export suppliers"},
 "inventory:supplier:import": {"zh": "导入供应商", "en": "import suppliers"},
 "inventory:supplier:list": {"zh": "查询供应商", "en": "list suppliers"},
 "inventory:supplier:read": {"zh": "查看供应商", "en": "read suppliers"},
 "inventory:supplier:restore": {"zh": "恢复供应商", "en": "restore suppliers"},
 "inventory:supplier:update": {"zh": "修改供应商", "en": "edit suppliers"},
 "inventory:tax:create": {"zh": "新增税种", "en": "create taxes"},
 "inventory:tax:delete": {"zh": "删除税种", "en": "delete taxes"},
 "inventory:tax:list": {"zh": "查询税种", "en": "list taxes"},
 "inventory:tax:read": {"zh": "查看税种", "en": "read taxes"},
 "inventory:tax:restore": {"zh": "恢复税种", "en": "restore taxes"},
 "inventory:tax:update": {"zh": "修改税种", "en": "edit taxes"},
 "inventory:transfer:create": {"zh": "新增调拨", "en": "create transfers"},
 "inventory:transfer:list": {"zh": "查询调拨", "en": "list transfers"},
 "inventory:transfer:read": {"zh": "查看调拨", "en": "read transfers"},
 "inventory:transfer:reverse": {"zh": "调拨：冲销", "en": "reverse (transfers)"},
 "inventory:warehouse:create": {"zh": "新增仓库", "en": "create warehouses"},
 "inventory:warehouse:delete": {"zh": "删除仓库", "en": "delete warehouses"},
 "inventory:warehouse:export": {"zh": "导出仓库", "en": "export warehouses"},
 "inventory:warehouse:import": {"zh": "导入仓库", "en": "import warehouses"},
 "inventory:warehouse:list": {"zh": "查询仓库", "en": "list warehouses"},
 "inventory:warehouse:read": {"zh": "查看仓库", "en": "read warehouses"},
 "inventory:warehouse:restore": {"zh": "恢复仓库", "en": "restore warehouses"},
 "inventory:warehouse:update": {"zh": "修改仓库", "en": "edit warehouses"},
 "notification:announcement:create": {"zh": "消息通知：发送公告", "en": "send announcements (notifications)"},
 "notification:announcement:list": {"zh": "查询消息通知", "en": "list notifications"},
 "notification:announcement:read": {"zh": "查看消息通知", "en": "read notifications"},
 "notification:announcement:withdraw": {"zh": "消息通知：撤回", "en": "withdraw (notifications)"},
 "notification:delivery:list": {"zh": "查询通知发送记录", "en": "list deliveries of notifications"},
 "notification:template:create": {"zh": "新增邮件模板", "en": "create E-mail templates"},
 "notification:template:delete": {"zh": "删除邮件模板", "en": "delete E-mail templates"},
 "notification:template:list": {"zh": "查询邮件模板", "en": "list E-mail templates"},
 "notification:template:preview": {"zh": "邮件模板：预览", "en": "preview (E-mail templates)"},
 "notification:template:read": {"zh": "查看邮件模板", "en": "read E-mail templates"},
 "notification:template:restore": {"zh": "恢复邮件模板", "en": "restore E-mail templates"},
 "notification:template:update": {"zh": "修改邮件模板", "en": "edit E-mail templates"},
 "system:authorization:explain": {"zh": "权限诊断：诊断", "en": "explain (explain a permission)"},
 "system:authorization:matrix": {"zh": "权限诊断：权限矩阵", "en": "authorization matrix (explain a permission)"},
 "system:config:list": {"zh": "查询系统设置", "en": "list settings"},
 "system:config:update": {"zh": "修改系统设置", "en": "edit settings"},
 "system:custom-field:create": {"zh": "新增自定义字段", "en": "create custom fields"},
 "system:custom-field:delete": {"zh": "删除自定义字段", "en": "delete custom fields"},
 "system:custom-field:list": {"zh": "查询自定义字段", "en": "list custom fields"},
 "system:custom-field:read": {"zh": "查看自定义字段", "en": "read custom fields"},
 "system:custom-field:restore": {"zh": "恢复自定义字段", "en": "restore custom fields"},
 "system:custom-field:update": {"zh": "修改自定义字段", "en": "edit custom fields"},
 "system:department:create": {"zh": "新增部门", "en": "create departments"},
 "system:department:delete": {"zh": "删除部门", "en": "delete departments"},
 "system:department:export": {"zh": "导出部门", "en": "export departments"},
 "system:department:import": {"zh": "导入部门", "en": "import departments"},
 "system:department:list": {"zh": "查询部门", "en": "list departments"},
 "system:department:read": {"zh": "查看部门", "en": "read departments"},
 "system:department:update": {"zh": "修改部门", "en": "edit departments"},
 "system:dictionary:create": {"zh": "新增字典", "en": "create dictionaries"},
 "system:dictionary:delete": {"zh": "删除字典", "en": "delete dictionaries"},
 "system:dictionary:restore": {"zh": "恢复字典", "en": "restore dictionaries"},
 "system:dictionary:update": {"zh": "修改字典", "en": "edit dictionaries"},
 "system:job:list": {"zh": "查询后台任务", "en": "list jobs"},
 "system:login-log:list": {"zh": "查询登录日志", "en": "list login log"},
 "system:menu:create": {"zh": "新增菜单", "en": "create menus"},
 "system:menu:delete": {"zh": "删除菜单", "en": "delete menus"},
 "system:menu:list": {"zh": "查询菜单", "en": "list menus"},
 "system:menu:read": {"zh": "查看菜单", "en": "read menus"},
 "system:menu:update": {"zh": "修改菜单", "en": "edit menus"},
 "system:operation-log:list": {"zh": "查询操作日志", "en": "list operation log"},
 "system:print-template:create": {"zh": "新增打印模板", "en": "create print templates"},
 "system:print-template:delete": {"zh": "删除打印模板", "en": "delete print templates"},
 "system:print-template:list": {"zh": "查询打印模板", "en": "list print templates"},
 "system:print-template:preview": {"zh": "打印模板：预览", "en": "preview (print templates)"},
 "system:print-template:read": {"zh": "查看打印模板", "en": "read print templates"},
 "system:print-template:restore": {"zh": "恢复打印模板", "en": "restore print templates"},
 "system:print-template:update": {"zh": "修改打印模板", "en": "edit print templates"},
 "system:process:list": {"zh": "查询服务进程", "en": "list processes"},
 "system:role:create": {"zh": "新增角色", "en": "create roles"},
 "system:role:delete": {"zh": "删除角色", "en": "delete roles"},
 "system:role:grant": {"zh": "角色：授权", "en": "grant menus (roles)"},
 "system:role:list": {"zh": "查询角色", "en": "list roles"},
 "system:role:read": {"zh": "查看角色", "en": "read roles"},
 "system:role:restore": {"zh": "恢复角色", "en": "restore roles"},
 "system:role:update": {"zh": "修改角色", "en": "edit roles"},
 "system:service-account:create": {"zh": "新增服务账号", "en": "create service accounts"},
 "system:service-account:delete": {"zh": "删除服务账号", "en": "delete service accounts"},
 "system:service-account:key": {"zh": "服务账号：管理密钥", "en": "manage keys (service accounts)"},
 "system:service-account:list": {"zh": "查询服务账号", "en": "list service accounts"},
 "system:service-account:read": {"zh": "查看服务账号", "en": "read service accounts"},
 "system:service-account:restore": {"zh": "恢复服务账号", "en": "restore service accounts"},
 "system:service-account:update": {"zh": "修改服务账号", "en": "edit service accounts"},
 "system:session:delete": {"zh": "在线用户：强制下线", "en": "log out (online users)"},
 "system:session:list": {"zh": "查询在线用户", "en": "list online users"},
 "system:user:create": {"zh": "新增用户", "en": "create users"},
 "system:user:delete": {"zh": "删除用户", "en": "delete users"},
 "system:user:export": {"zh": "导出用户", "en": "export users"},
 "system:user:handover": {"zh": "用户：工作交接", "en": "hand over work (users)"},
 "system:user:kick-out": {"zh": "用户：强制下线", "en": "log out everywhere (users)"},
 "system:user:list": {"zh": "查询用户", "en": "list users"},
 "system:user:read": {"zh": "查看用户", "en": "read users"},
 "system:user:reset-password": {"zh": "用户：重置密码", "en": "reset password (users)"},
 "system:user:restore": {"zh": "恢复用户", "en": "restore users"},
 "system:user:take-over": {"zh": "用户：同步企业微信通讯录", "en": "take over from WeCom (users)"},
 "system:user:unlock": {"zh": "用户：解锁", "en": "unlock (users)"},
 "system:user:update": {"zh": "修改用户", "en": "edit users"},
 "system:webhook:create": {"zh": "新增事件推送", "en": "create webhooks"},
 "system:webhook:delete": {"zh": "删除事件推送", "en": "delete webhooks"},
 "system:webhook:list": {"zh": "查询事件推送", "en": "list webhooks"},
 "system:webhook:ping": {"zh": "事件推送：测试", "en": "try (webhooks)"},
 "system:webhook:read": {"zh": "查看事件推送", "en": "read webhooks"},
 "system:webhook:replay": {"zh": "事件推送：重新推送", "en": "replay (webhooks)"},
 "system:webhook:restore": {"zh": "恢复事件推送", "en": "restore webhooks"},
 "system:webhook:rotate": {"zh": "事件推送：更换密钥", "en": "rotate the secret (webhooks)"},
 "system:webhook:update": {"zh": "修改事件推送", "en": "edit webhooks"}
} as const;
