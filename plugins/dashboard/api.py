"""What plugins that require dashboard may import."""

from plugins.dashboard.serving import dashboard_route, dashboard_routes

__all__ = ["dashboard_route", "dashboard_routes"]
