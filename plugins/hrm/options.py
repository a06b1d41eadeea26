"""Options of hrm: limits for the evidence of punches, the closed days and agreement on them, the rest between shifts."""

from __future__ import annotations

from plugins.api import Message, Option, Service, integer
from plugins.hrm.closing import CLOSING
from plugins.hrm.evidence import Limits
from plugins.hrm.roster_records import MIN_REST
from plugins.hrm.sheet_records import REQUIRED
from plugins.system.api import Configs

_ACCURACY, _AGE, _SPEED = "hrm_max_accuracy_metres", "hrm_max_fix_age_seconds", "hrm_max_speed_kmh"

OPTIONS = (
    CLOSING,
    MIN_REST,
    REQUIRED,
    Option(
        _ACCURACY,
        integer(minimum=5, maximum=10_000, default=200, nullable=False),
        Message("打卡定位的最大误差（米）", "Maximum error of the position of a punch, in metres"),
    ),
    Option(
        _AGE,
        integer(minimum=5, maximum=86_400, default=300, nullable=False),
        Message("打卡定位的最长时效（秒）", "Maximum age of the position of a punch, in seconds"),
    ),
    Option(
        _SPEED,
        integer(minimum=50, maximum=10_000, default=1_000, nullable=False),
        Message("两次打卡之间的最大速度（公里/小时）", "Maximum speed of travel between two punches, in km/h"),
    ),
)


async def load_limits(service: Service) -> Limits:
    """Return the current limits."""
    configs = service.part(Configs)
    return Limits(*[await configs.value(key) for key in (_ACCURACY, _AGE, _SPEED)])
