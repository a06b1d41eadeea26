"""The company as the script knows it: people who are logged in, the dates, the ledger, and records by their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.support.company_month.dates import Dates
from tests.support.company_month.ledger import Ledger
from tests.support.company_month.recorder import Record, Recorder, User


@dataclass
class Company:
    """What the parts of the script share."""

    dates: Dates
    users: dict[str, User]
    departments: dict[str, int]
    roles: dict[str, int]
    recorder: Recorder
    ledger: Ledger = field(default_factory=Ledger)
    ids: dict[str, Any] = field(default_factory=dict)  # of records that other parts refer to, by a name of the script

    def __getitem__(self, who: str) -> User:
        return self.users[who]

    async def decide(self, who: str, record: Record, at: str, action: str = "agree") -> None:
        """Somebody finds the task about a record, reads the record, and decides."""
        user = self[who]
        tasks = await user.rows("/api/v1/approvals/tasks?box=todo")
        [task] = [one for one in tasks if one["resource_id"] == record["id"]]
        await user.get(f"/api/v1/approvals/instances/{task['id']}")
        read = await user.get(f"{at}/{record['id']}")
        assert read["id"] == record["id"]
        await user.post(f"/api/v1/approvals/instances/{task['id']}/{action}", {"comment": "已核对"})
