"""The metrics of a service whose routes have all been called."""

import time

from prometheus_client.parser import text_string_to_metric_families

from handlers.operations.metrics import Metrics

ROUTES, STATUSES, TRIES = 500, (200, 400, 401, 404), 5
LIMIT_SECONDS = 0.05


def of_many_routes() -> Metrics:
    metrics = Metrics()
    for number in range(ROUTES):
        for status in STATUSES:
            metrics.observe("GET", f"/api/v1/things-{number}/{{id}}", status, 3.0)
    return metrics


def samples(metrics: Metrics) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def test_metrics_of_many_routes_do_not_hold_the_event_loop() -> None:
    metrics, took = of_many_routes(), []
    for _ in range(TRIES):
        started = time.thread_time()
        metrics.text()
        took.append(time.thread_time() - started)
    assert min(took) < LIMIT_SECONDS


def test_a_request_is_in_its_bucket_and_in_every_larger_one() -> None:
    metrics = Metrics()
    for status, milliseconds in ((200, 2.0), (404, 2.5), (200, 60_000.0)):
        metrics.observe("GET", "/api/a", status, milliseconds)
    found = samples(metrics)
    assert found["tradewind_requests_total", "GET", "/api/a", "200"] == 2
    assert found["tradewind_requests_total", "GET", "/api/a", "404"] == 1
    # prometheus calls the upper bound of a bucket le
    buckets = {
        bound: found["tradewind_request_seconds_bucket", bound, "GET", "/api/a"]
        for bound in ("0.001", "0.0025", "30.0", "+Inf")
    }
    assert buckets == {"0.001": 0, "0.0025": 2, "30.0": 2, "+Inf": 3}
    assert found["tradewind_request_seconds_count", "GET", "/api/a"] == 3
    assert found["tradewind_request_seconds_sum", "GET", "/api/a"] == 60.0045


def test_what_a_label_may_not_hold_is_escaped() -> None:
    metrics, route = Metrics(), 'a"b\\c\nd'
    metrics.observe("GET", route, 200, 1.0)
    assert ("tradewind_requests_total", "GET", route, "200") in samples(metrics)
