"""What plugins that require approval may import. Those that only want an approval emit events: see README.md."""

from plugins.approval.records import INSTANCES

__all__ = ["INSTANCES"]
