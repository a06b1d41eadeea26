"""Prometheus alerts and Grafana panels for a service, from which files in `docs/operations` are generated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

_WIDTH, _HEIGHT, _COLUMNS = 8, 8, 3


@dataclass(frozen=True)
class Alert:
    """An alert rule: its name, its condition, how long that must last, its severity, and a summary for the operator."""

    name: str
    expression: str
    lasting: str
    severity: str
    summary: str


@dataclass(frozen=True)
class Panel:
    """A panel: its title, its unit in Grafana, and its queries by legend."""

    title: str
    unit: str
    queries: Mapping[str, str]


_LATENCY = "sum by (le) (rate(tradewind_request_seconds_bucket[5m]))"
_LAG = "sum by (le, instance, process) (rate(tradewind_event_loop_lag_seconds_bucket[5m]))"
_FAILED = '(sum(rate(tradewind_requests_total{status=~"5.."}[5m])) or vector(0))'  # without errors there is no series
_ALL = "sum(rate(tradewind_requests_total[5m]))"
_CERTIFICATE_LEFT = "min by (instance) (tradewind_tls_certificate_expiry_timestamp_seconds) - time()"
_BACKUP_AGE = "time() - max(tradewind_backup_last_success_timestamp_seconds)"

ALERTS: Sequence[Alert] = (
    Alert("TradewindDown", 'up{job="tradewind"} == 0', "1m", "page", "{{ $labels.instance }} cannot be scraped."),
    Alert(
        "TradewindProcessHangs",
        "tradewind_process_up == 0",
        "1m",
        "page",
        "Process {{ $labels.process }} of {{ $labels.instance }} does not answer the others.",
    ),
    Alert("TradewindErrors", f"{_FAILED} / {_ALL} > 0.01", "5m", "page", "More than 1% of the responses are errors."),
    Alert(
        "TradewindSlow",
        f"histogram_quantile(0.99, {_LATENCY}) > 2.5",
        "10m",
        "ticket",
        "One request in a hundred takes longer than 2.5 s.",
    ),
    Alert(
        "TradewindEventLoopLate",
        f"histogram_quantile(0.99, {_LAG}) > 0.25",
        "5m",
        "ticket",
        "The event loop of {{ $labels.instance }} runs a quarter of a second late.",
    ),
    Alert(
        "TradewindDatabaseSlow",
        "sum(rate(tradewind_database_slow_operations_total[10m])) > 0.1",
        "10m",
        "ticket",
        "Operations of MongoDB take longer than a second.",
    ),
    Alert(
        "TradewindChangeStreamClosed",
        "tradewind_change_stream_open == 0",
        "1m",
        "page",
        "{{ $labels.instance }} does not hear what other instances change.",
    ),
    Alert(
        "TradewindOperationLogWaits",
        "sum by (instance) (tradewind_operation_log_waiting) > 2000",
        "5m",
        "ticket",
        "The operation log of {{ $labels.instance }} is not written.",
    ),
    Alert(
        "TradewindJobFails",
        "sum by (job_name) (increase(tradewind_job_failures_total[1h])) > 2",
        "10m",
        "ticket",
        "The job {{ $labels.job_name }} fails.",
    ),
    Alert(
        "TradewindLedgerDifferences",
        "max by (check) (tradewind_ledger_differences) > 0",
        "5m",
        "page",
        "The audit {{ $labels.check }} finds sums that differ from their entries.",
    ),
    Alert(
        "TradewindLedgerAuditOld",
        "max(tradewind_ledger_audit_age_seconds) > 172800",
        "1h",
        "ticket",
        "The ledgers were last compared more than two days ago.",
    ),
    Alert(
        "TradewindBackupOld",
        f"{_BACKUP_AGE} > 129600",
        "1h",
        "page",
        "The last backup is older than a day and a half.",
    ),
    Alert(
        "TradewindMigrationFailed",
        'max(tradewind_migrations{state="failed"}) > 0',
        "5m",
        "page",
        "A migration failed; those behind it wait.",
    ),
    Alert(
        "TradewindMigrationDue",
        'min(tradewind_migrations{state="due"}) > 0',
        "12h",
        "ticket",
        "Migrations have been due for half a day.",
    ),
    Alert(
        "TradewindLogInsRefused",
        'sum(rate(tradewind_logins_total{result=~"refused|locked|limited"}[10m])) > 1',
        "10m",
        "ticket",
        "Somebody tries passwords.",
    ),
    Alert(
        "TradewindLockouts",
        "sum(increase(tradewind_lockouts_total[1h])) > 20",
        "5m",
        "ticket",
        "Many accounts are being locked.",
    ),
    Alert(
        "TradewindFileDescriptors",
        "process_open_fds / process_max_fds > 0.8",
        "10m",
        "ticket",
        "{{ $labels.instance }} has nearly no file descriptors left.",
    ),
    Alert(
        "TradewindCertificateEnds",
        f"{_CERTIFICATE_LEFT} < 1209600",
        "1h",
        "ticket",
        "The certificate of {{ $labels.instance }} ends within two weeks.",
    ),
    Alert(
        "TradewindCertificateRefused",
        "max by (instance) (tradewind_tls_certificate_refused) > 0",
        "5m",
        "ticket",
        "{{ $labels.instance }} cannot use its newest certificate.",
    ),
    Alert(
        "TradewindVersionsDiffer",
        "count(count by (version) (tradewind_build_info)) > 1",
        "1h",
        "ticket",
        "Two versions have been running beside each other for an hour.",
    ),
)

PANELS: Sequence[Panel] = (
    Panel("Requests", "reqps", {"{{status}}": "sum by (status) (rate(tradewind_requests_total[5m]))"}),
    Panel("Errors", "percentunit", {"5xx": f"{_FAILED} / {_ALL}"}),
    Panel(
        "Time to the response",
        "s",
        {f"p{part}": f"histogram_quantile(0.{part}, {_LATENCY})" for part in (50, 90, 99)},
    ),
    Panel(
        "Slowest routes, p99",
        "s",
        {
            "{{method}} {{route}}": "topk(10, histogram_quantile(0.99, "
            "sum by (le, method, route) (rate(tradewind_request_seconds_bucket[15m]))))"
        },
    ),
    Panel("Processes that answer", "short", {"{{instance}} {{process}}": "tradewind_process_up"}),
    Panel("Event loop lag, p99", "s", {"{{instance}} {{process}}": f"histogram_quantile(0.99, {_LAG})"}),
    Panel(
        "Open requests and WebSockets",
        "short",
        {"requests": "sum(tradewind_open_requests)", "WebSockets": "sum(tradewind_open_sockets)"},
    ),
    Panel("Connections to MongoDB", "short", {"{{state}}": "sum by (state) (tradewind_database_connections)"}),
    Panel("Open transactions", "short", {"{{instance}}": "sum by (instance) (tradewind_database_transactions)"}),
    Panel("Slow operations of MongoDB", "ops", {"slow": "sum(rate(tradewind_database_slow_operations_total[5m]))"}),
    Panel(
        "Change streams",
        "short",
        {
            "closed": "count(tradewind_change_stream_open == 0) or vector(0)",
            "lost": "sum(increase(tradewind_change_stream_losses_total[5m]))",
        },
    ),
    Panel(
        "Queues",
        "short",
        {
            "operation log": "sum(tradewind_operation_log_waiting)",
            "worker processes: {{lane}}": "sum by (lane) (tradewind_worker_jobs)",
        },
    ),
    Panel("Failed jobs", "short", {"{{job_name}}": "sum by (job_name) (increase(tradewind_job_failures_total[1h]))"}),
    Panel(
        "Since the last success of a job",
        "s",
        {"{{job_name}}": "time() - max by (job_name) (tradewind_job_last_success_timestamp_seconds > 0)"},
    ),
    Panel(
        "Time in jobs",
        "percentunit",
        {"{{job_name}}": "sum by (job_name) (rate(tradewind_job_duration_seconds_total[15m]))"},
    ),
    Panel("Runs of jobs", "ops", {"{{job_name}}": "sum by (job_name) (rate(tradewind_job_runs_total[15m]))"}),
    Panel("Log-ins", "reqps", {"{{result}}": "sum by (result) (rate(tradewind_logins_total[5m]))"}),
    Panel("Accounts locked", "short", {"in an hour": "sum(increase(tradewind_lockouts_total[1h]))"}),
    Panel("Ledger differences", "short", {"{{check}}": "max by (check) (tradewind_ledger_differences)"}),
    Panel(
        "Age of the ledger audit and the backup",
        "s",
        {"audit": "max(tradewind_ledger_audit_age_seconds)", "backup": _BACKUP_AGE},
    ),
    Panel("Migrations", "short", {"{{state}}": "max by (state) (tradewind_migrations)"}),
    Panel("Memory", "bytes", {"{{instance}} {{process}}": "process_resident_memory_bytes"}),
    Panel("Processors", "short", {"{{instance}} {{process}}": "rate(process_cpu_seconds_total[5m])"}),
    Panel("Versions", "short", {"{{version}}": "count by (version) (tradewind_build_info)"}),
)


def metrics_in(expression: str) -> set[str]:
    """Return the names of the metrics in an expression, without labels and their values."""
    bare = re.sub(r"\{[^}]*\}|\b(?:by|without) \([^)]*\)", "", expression)
    return set(re.findall(r"\b(?:up|(?:tradewind|process)_[a-z_]+)\b", bare))


def metrics_told(text: str) -> set[str]:
    """Return the names of the metrics in a response of `/metrics`, those of histograms with their suffixes."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    return {
        name
        for metric, kind in types.items()
        for name in ([f"{metric}_{part}" for part in ("bucket", "sum", "count")] if kind == "histogram" else [metric])
    }


def render_monitoring() -> dict[str, str]:
    """Return the generated files of `docs/operations`, by name."""
    return {"alerts.yml": "\n".join(_rules()) + "\n", "dashboard.json": json.dumps(_dashboard(), indent=1) + "\n"}


def _rules() -> Iterator[str]:
    yield "# made from scripts/monitoring.py by `scripts/check --write`; alerts.md says what to do"
    yield "groups:"
    yield "  - name: tradewind"
    yield "    rules:"
    for alert in ALERTS:
        yield f"      - alert: {alert.name}"
        yield f"        expr: {json.dumps(alert.expression)}"
        yield f"        for: {alert.lasting}"
        yield f"        labels: {{severity: {alert.severity}}}"
        yield "        annotations:"
        yield f"          summary: {json.dumps(alert.summary)}"
        yield f"          runbook: docs/operations/alerts.md#{alert.name.lower()}"


def _dashboard() -> dict[str, Any]:
    ids = count(1)
    return {
        "title": "Tradewind",
        "uid": "tradewind",
        "schemaVersion": 39,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "30s",
        "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus"}]},
        "panels": [_panel(panel, next(ids)) for panel in PANELS],
    }


def _panel(panel: Panel, id: int) -> dict[str, Any]:
    row, column = divmod(id - 1, _COLUMNS)
    source = {"type": "prometheus", "uid": "${source}"}
    return {
        "id": id,
        "type": "timeseries",
        "title": panel.title,
        "datasource": source,
        "gridPos": {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + number), "datasource": source, "expr": expression, "legendFormat": legend}
            for number, (legend, expression) in enumerate(panel.queries.items())
        ],
    }
