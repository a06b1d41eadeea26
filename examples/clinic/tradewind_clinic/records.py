"""What a clinic keeps: treatments with their prices, bookings of them, and a number for each customer."""

from plugins.api import Collection, Extends, Index, Message, StateMachine, Transition, dictionary
from plugins.api import integer, money, object_id, record_name, service_fields, text, timestamp
from plugins.crm.api import CUSTOMERS

KINDS = dictionary(
    "clinic_kind",
    ("诊疗类别", "Kind of treatment"),
    checkup=("体检", "Check-up", "blue"),
    dental=("口腔", "Dental", "cyan"),
    surgery=("手术", "Surgery", "red"),
)
TREATMENTS = Collection(
    name="clinic_treatments",
    title="Treatment",
    noun=Message("诊疗项目", "treatment"),
    fields={
        "name": record_name(label=("名称", "Name")),
        "kind": text(label=("类别", "Kind"), required=True, filter=True, dictionary="clinic_kind", example="dental"),
        "minutes": integer(label=("时长（分钟）", "Minutes"), required=True, minimum=5, maximum=480, example=30),
        "price": money(label=("价格", "Price"), required=True, minimum="0", example="120.00"),
    },
    indexes=(Index("name", unique=True),),
)
STATES = StateMachine(
    "clinic_booking",
    "draft",
    states={
        "draft": ("草稿", "Draft"),
        "asked": ("待确认", "Asked for"),
        "booked": ("已预约", "Booked"),
        "done": ("已完成", "Done"),
        "cancelled": ("已取消", "Cancelled"),
    },
    transitions={
        "submit": Transition("draft", "asked", ("提交", "Submit")),
        "withdraw": Transition("asked", "draft", ("撤回", "Withdraw")),
        "reject": Transition("asked", "draft", ("驳回", "Reject"), decides=True),
        "confirm": Transition("asked", "booked", ("确认", "Confirm"), decides=True),
        "complete": Transition("booked", "done", ("完成", "Complete")),
        "cancel": Transition("booked", "cancelled", ("取消", "Cancel")),
    },
    done=("done",),
    refused=("cancelled",),
)
TAKES_TIME = ("asked", "booked", "done")  # states in which a booking takes the time of its doctor
BOOKINGS = Collection(
    name="clinic_bookings",
    title="Booking",
    noun=Message("预约", "booking"),
    scoped=True,
    owner="doctor_id",
    label="reason",
    fields={
        "customer_id": object_id(label=("客户", "Customer"), required=True, ref="crm_customers", filter=True),
        "treatment_id": object_id(label=("诊疗项目", "Treatment"), required=True, ref=TREATMENTS.name, filter=True),
        "doctor_id": integer(label=("医生", "Doctor"), required=True, ref="users", filter=True, example=1),
        "starts_at": timestamp(label=("开始时间", "Starts at"), required=True, filter=True, sort=True),
        "reason": text(label=("事由", "Reason"), required=True, max_length=200, search=True),
        **service_fields(status=STATES.choice(filter=True)),
        "ends_at": timestamp(label=("结束时间", "Ends at"), read_only=True),
        "price": money(label=("价格", "Price"), read_only=True),
    },
    indexes=(Index("doctor_id", "starts_at"), Index("status", "starts_at")),
    states=STATES,
)
CHARTS = Extends(
    CUSTOMERS,
    {"x_chart_number": text(label=("病历号", "Chart number"), max_length=40, filter=True, sort=True, example="P-0012")},
)
