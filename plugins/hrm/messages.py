"""Messages of hrm."""

from plugins.api import Message

IN_USE = Message("已被使用，不能删除", "In use, so it cannot be deleted")
HAS_PUNCHES = Message(
    "员工已有打卡记录，不能删除，请填写离职日期",
    "The employee has punches and cannot be deleted; set the leaving date instead",
)
NOT_EMPLOYED = Message("您不是在职员工", "You are not currently employed")
NOT_ATTENDED = Message("您不在任何考勤组中", "You are not in an attendance group")
OWN_PUNCH = Message("不能复核自己的打卡", "You cannot review your own punches")
OWN_ENTRY = Message("不能为自己补录", "You cannot enter records for yourself")
NOT_ATTENDED_THEN = Message("该员工当日不参加考勤", "The employee is not subject to attendance on that day")
ALREADY_PUNCHED = Message("该时间已有打卡记录", "There is already a punch at that time")
NOT_EMPLOYED_THEN = Message("请假期间该员工不在职", "The employee is not employed during the leave")
CLOSED = Message("{day} 及以前的考勤已封账", "Attendance is closed up to and including {day}")
ALREADY_CLOSED = Message("{day} 及以前的考勤已经封账", "Attendance is closed up to and including {day} already")
NOT_CLOSED = Message("没有可重新开放的考勤日期", "There are no closed days after that day to reopen")
FIRST_ASSIGNMENT = Message(
    "首条任职记录不能删除，请直接修改", "The first assignment cannot be deleted; change it instead"
)
NO_ASSIGNMENT = Message("该员工没有这条任职记录", "The employee has no such assignment")
NOT_OVER = Message("{day} 尚未结束，不能封账", "{day} is not over, so its attendance cannot be closed")
NOT_AGREED_YET = Message(
    "还有 {count} 份考勤确认单未确认，不能封账",
    "{count} attendance {count:sheet|sheets} {count:is|are} not agreed on yet, so attendance cannot be closed",
)
SHEET_OF_OTHERS = Message("只能由员工本人答复", "Only the employee can answer for themselves")
SHEET_ASKED = Message("请确认您 {month} 的考勤", "Please check your attendance of {month} and agree, or object")
SHEET_CHANGED = Message(
    "您 {month} 的考勤数据在答复后有变更，请重新确认",
    "Your attendance of {month} has changed since your answer; please check it again",
)
EVERYBODYS = Message(
    "全员适用的假期额度只能由可查看全部数据的人员维护",
    "Only people who can see all data may change allowances for all employees",
)
NOTHING_LEFT = Message(
    "{year} 年该类假期仅剩 {left} 天", "Only {left} {left:day|days} of this type of leave {left:is|are} left in {year}"
)
HOURS_LEFT = Message(
    "{year} 年该类假期仅剩 {left} 小时",
    "Only {left} {left:hour|hours} of this type of leave {left:is|are} left in {year}",
)
CODE_FIXED = Message("假期类型的编码不能修改", "The code of a leave type cannot be changed")
UNIT_FIXED = Message(
    "该类型已有请假或额度，不能在天与小时之间切换",
    "There is leave or an allowance of this type, so it cannot be switched between days and hours",
)
WHOLE_DAYS = Message("该类假期须按整个工作日申请", "This type of leave is taken in whole working days")
EVIDENCE_MISSING = Message("该类假期须先上传证明附件", "This type of leave needs an attachment as evidence first")
OWN_BALANCE = Message("不能调整自己的假期余额", "You cannot adjust your own leave balance")
NOT_EDITABLE = Message("当前状态不能修改", "The current status does not allow changes")
NOT_DELETABLE = Message("当前状态不能删除", "The current status does not allow deletion")
NOT_IN_STATE = Message("当前状态不允许该操作", "The current status does not allow this action")
OVERLAPS = Message("与其他请假时间重叠", "The leave overlaps with other leave")
ON_DUTY = Message(
    "与 {day} 起的外出或出差时间重叠", "The leave overlaps with outside duty or a business trip from {day}"
)
LEAVE_TITLE = Message("{name} 请假 {days} 天", "Leave of {name}: {days} {days:day|days}")
LEAVE_DECIDED = Message(
    "您 {day} 起的 {days} 天请假：{outcome}", "Your leave of {days} {days:day|days} from {day}: {outcome}"
)
LEAVE_RECOUNTED = Message(
    "因日历或班次变更，您 {day} 起的请假由 {before} 天变为 {days} 天",
    "The calendar has changed: your leave from {day} now takes {days} {days:day|days} instead of {before}",
)
RESULTS_CHANGED = Message(
    "因任职或工作时间安排变更，您 {first} 至 {last} 间有 {days} 天的考勤结果发生变化",
    "Your working time has changed: {days} of your daily results between {first} and {last} are different now",
)
REVIEWED_COUNTS = Message("您 {at} 的打卡经复核：计入考勤", "Your punch of {at} was reviewed: it counts")
REVIEWED_NOT = Message("您 {at} 的打卡经复核：不计入考勤", "Your punch of {at} was reviewed: it does not count")
UNASSIGNED = Message("未分配部门", "No department")

# the result of a punch, in its response
ACCEPTED_AT = Message("打卡成功：{place}", "Punched at {place}")
ACCEPTED_OUTSIDE = Message("外勤打卡成功", "Field punch recorded")
OUTSIDE = Message(
    "不在打卡地点范围内，本次打卡不计入考勤", "You are not at an attendance place; this punch does not count"
)
UNPROVEN = Message("位置信息不可靠，本次打卡不计入考勤", "The position is not reliable; this punch does not count")
REFUSED = Message("位置存在作弊风险，本次打卡不计入考勤", "The position looks forged; this punch does not count")
