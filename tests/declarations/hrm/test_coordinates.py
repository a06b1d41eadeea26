"""Conversion of Chinese coordinates to WGS-84, compared with pairs published with other implementations."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from plugins.hrm.evidence import metres, to_wgs84

# WGS-84 and GCJ-02 of the same place: the test data of eviltransform
GCJ02 = [
    ((121.5272106, 31.1774276), (121.531541859215, 31.17530398364597)),
    ((113.912316, 22.543847), (113.9171764808363, 22.540796131694766)),
    ((116.377817, 39.911954), (116.38404722455657, 39.91334545536069)),
]


@pytest.mark.parametrize(("wgs84", "gcj02"), GCJ02)
def test_gcj02_becomes_wgs84(wgs84: tuple[float, float], gcj02: tuple[float, float]) -> None:
    assert metres(to_wgs84(*gcj02, "gcj02"), wgs84) < 0.1


def test_bd09_and_gcj02_of_a_place_become_the_same_position() -> None:
    # the example of Baidu's own documentation
    bd09, gcj02 = (116.41036949371029, 39.92133699351022), (116.404, 39.915)
    assert metres(to_wgs84(*bd09, "bd09"), to_wgs84(*gcj02, "gcj02")) < 0.1


def test_outside_of_china_gcj02_is_wgs84() -> None:
    assert to_wgs84(-73.98, 40.75, "gcj02") == (-73.98, 40.75)


def test_a_degree_of_latitude_is_111_kilometres() -> None:
    assert metres((121.0, 31.0), (121.0, 32.0)) == pytest.approx(111_195, rel=1e-4)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    lng=st.floats(-180, 180),
    lat=st.floats(-90, 90),
    other=st.tuples(st.floats(-180, 180), st.floats(-90, 90)),
    system=st.sampled_from(["wgs84", "gcj02", "bd09"]),
)
def test_every_position_converts_and_has_a_distance(
    lng: float, lat: float, other: tuple[float, float], system: str
) -> None:
    assert 0 <= metres(to_wgs84(lng, lat, system), other) < 20_040_000
