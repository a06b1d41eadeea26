"""Figures over records: dashboards, periods, and the audits of stored sums."""
