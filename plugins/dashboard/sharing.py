"""What dashboards share: their executions and their time limit."""

from __future__ import annotations

from plugins.api.data import Database, SingleFlight


class Executions:
    """The dashboards that are being computed, shared by equal requests."""

    def __init__(self, database: Database, seconds: float) -> None:
        self.seconds = seconds
        self.shared = SingleFlight()
