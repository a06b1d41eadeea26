"""What a group asks of the evidence of a punch, and what makes evidence doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plugins.api import Message, boolean, choice, dictionary, integer, obj

PROOFS = ("either", "gps", "wifi", "both")
POLICY = obj(
    "PunchPolicy",
    {
        "proof": choice(
            *PROOFS,
            label=("位置证明", "Proof of the place"),
            default="either",
            nullable=False,
            description="What has to prove the place: a position (`gps`), a WiFi, `either`, or `both`.",
        ),
        "attempt": boolean(
            label=("一次性打卡码", "One-time attempt"),
            default=False,
            nullable=False,
            description="Whether a punch needs the `attempt` of `POST /api/v1/hrm/attendance/attempts`, used once.",
        ),
        "known_device": boolean(
            label=("限常用设备", "Known devices only"),
            default=False,
            nullable=False,
            description="Whether punches of a device count only once it is known; the first one of an employee is.",
        ),
        "photo": boolean(
            label=("须拍照", "Photo"),
            default=False,
            nullable=False,
            description="Whether a punch needs a `photo` that none has had before.",
        ),
        "max_accuracy_metres": integer(
            label=("最大定位误差（米）", "Maximum error (metres)"),
            minimum=5,
            maximum=10_000,
            description="Null: the setting `hrm_max_accuracy_metres`.",
        ),
        "max_fix_age_seconds": integer(
            label=("最长定位时效（秒）", "Maximum age (seconds)"),
            minimum=5,
            maximum=86_400,
            description="Null: the setting `hrm_max_fix_age_seconds`.",
        ),
    },
    label=("打卡证据要求", "Evidence of punches"),
    description="Null, or asking for nothing: a position or a WiFi proves the place, and what is missing is only a risk.",
)

# risk → its weight of 100, and what it says
_KNOWN: Mapping[str, tuple[int, Message]] = {
    "mock_location": (100, Message("设备报告了模拟定位", "The device reports a mock position")),
    "invalid_attempt": (
        100,
        Message("打卡码无效、已使用或已过期", "The attempt is unknown, used already, or has expired"),
    ),
    "impossible_speed": (
        90,
        Message("与上次打卡相比，移动速度异常", "The speed of travel since the previous punch is implausible"),
    ),
    "repeated_fix": (80, Message("定位数据与之前的打卡重复", "The position is that of an earlier punch")),
    "shared_device": (80, Message("该设备近期由其他员工使用", "Another employee has used the device lately")),
    "far_from_wifi": (70, Message("定位与 WiFi 所在地点不符", "The position is not near the place of the WiFi")),
    "repeated_photo": (70, Message("照片已在之前的打卡中使用", "The photo is that of an earlier punch")),
    "unknown_photo": (
        70,
        Message("照片不存在或不是本人上传", "The photo does not exist, or somebody else has uploaded it"),
    ),
    "future_fix": (60, Message("定位时间晚于服务器时间", "The position is dated later than the server's time")),
    "unknown_device": (50, Message("不是常用设备", "The device is not known yet")),
    "old_fix": (40, Message("定位信息已过期", "The position is too old")),
    "no_attempt": (40, Message("未提供打卡码", "The attempt is missing")),
    "no_device": (40, Message("未提供设备编号", "The device is missing")),
    "no_photo": (40, Message("未提供照片", "The photo is missing")),
    "low_accuracy": (30, Message("定位精度过低", "The position is too inaccurate")),
    "no_position": (30, Message("缺少有效定位", "A position at the place is missing")),
    "no_wifi": (30, Message("未连接打卡地点的 WiFi", "A WiFi of the place is missing")),
    "unknown_wifi": (20, Message("未登记的 WiFi", "The WiFi is not registered with any place")),
    "unknown_accuracy": (10, Message("未提供定位精度", "The accuracy of the position is missing")),
    "unknown_fix_time": (10, Message("未提供定位时间", "The time of the position is missing")),
}
RISKS: Mapping[str, Message] = {code: words for code, (_, words) in _KNOWN.items()}
PUNCH_DICTIONARIES = (
    dictionary(
        "hrm_punch_proof",
        ("位置证明", "Proof of the place"),
        either=("GPS 或 WiFi", "GPS or WiFi"),
        gps=("GPS 定位", "GPS"),
        wifi=("WiFi", "WiFi"),
        both=("GPS 且 WiFi", "GPS and WiFi"),
    ),
    dictionary(
        "hrm_punch_review",
        ("打卡复核", "Review of a punch"),
        pending=("待复核", "To review", "orange"),
        accepted=("计入", "Counts", "green"),
        rejected=("不计入", "Does not count", "red"),
    ),
)
REVIEWED_FROM = 30  # a punch with this risk waits for a review even if it counts


def risk_of(risks: Iterable[str]) -> int:
    """Return the risk of a punch, from 0 to 100: the sum of the weights of its risks."""
    return min(100, sum(_KNOWN[risk][0] for risk in risks))


def asks(policy: Mapping[str, Any] | None, name: str) -> bool:
    """Return whether a policy asks for this."""
    return bool(policy and policy.get(name))
