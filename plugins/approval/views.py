"""How the console shows approvals: as the desk of a person, with a tab for each box."""

from plugins.api import View
from plugins.approval.records import INSTANCES

VIEWS = (View(INSTANCES, columns=("title", "biz_type", "initiator_id", "submitted_at", "status"), boxes="box"),)
