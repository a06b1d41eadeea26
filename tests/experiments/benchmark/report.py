"""The figures of the benchmark as a table, as a picture, and in results/speed.md."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "tests" / "experiments" / "results"
BASE = "fastapi"
BEFORE = "tradewind-before"
BEGIN, END = "<!-- bench -->", "<!-- /bench -->"
_COLOURS = {
    "tradewind": "#1f6f8b",
    "tornado": "#8aa29e",
    "fastapi": "#3d5467",
    "sanic": "#db5461",
    "fastify": "#c9a227",
}
_WIDTH, _BAR, _LEFT = 560, 14, 210
Figures = Mapping[str, Any]


def table(figures: Figures) -> str:
    """Return the requests per second by work and server, × FastAPI or the older checkout; for W7 the p99."""
    names = list(dict.fromkeys(name for work in figures["works"].values() for name in work["servers"]))
    lines = [f"| Work | {' | '.join(names)} | aim | server µs | mongod µs |", "| --- " * (len(names) + 4) + "|"]
    for code, work in figures["works"].items():
        servers = work["servers"]
        ours = servers.get(names[0], {})
        cells = [_cell(work, servers.get(name)) for name in names]
        costs = [f"{ours[key]['median']:,.0f}" if ours else "" for key in ("server_us", "mongod_us")]
        aim = f"{work['aim']:g}" if work["aim"] else ""
        lines.append(f"| {code} {work['title']} | {' | '.join([*cells, aim, *costs])} |")
    return "\n".join(lines)


def _cell(work: Figures, seen: Figures | None) -> str:
    if seen is None:
        return ""
    if "ratio" in work:
        return _paired_cell(work, seen)
    base = work["servers"].get(BASE)
    if work["latency"]:
        p99 = seen["p99_ms"]["median"]
        ratio = f"{p99 / base['p99_ms']['median']:.2f}" if base and base["p99_ms"]["median"] else ""
        return f"{ratio} ({p99:,.0f} ms)"
    rate = seen["per_second"]["median"]
    ratio = f"{rate / base['per_second']['median']:.1f}" if base and base["per_second"]["median"] else ""
    return f"{ratio} ({rate:,.0f}/s, p99 {seen['p99_ms']['median']:,.0f} ms)"


def _paired_cell(work: Figures, seen: Figures) -> str:
    """Return the figure of one of two versions; this version's has the ratio, and the middle half of its rounds."""
    figure = f"{seen['p99_ms']['median']:,.0f} ms" if work["latency"] else f"{seen['per_second']['median']:,.0f}/s"
    if seen is work["servers"].get(BEFORE):
        return figure
    ratio = work["ratio"]
    half = f", {ratio['low']:.2f} to {ratio['high']:.2f}" if "low" in ratio else ""
    return f"{ratio['median']:.2f}{half} ({figure})"


def about(figures: Figures) -> str:
    """Return the date, machine and method in a few sentences."""
    return (
        f"Measured {figures['when'][:10]} on {figures['cores']} cores ({figures['cpu']}), Python {figures['python']}: "
        f"× FastAPI (median of {figures['rounds']} rounds of {figures['seconds']:g} s, {figures['connections']} "
        f"connections; load: {figures['load']}), {figures['customers']:,} customers. Each server alone on one core, "
        "mongod and the load on the other. The last columns are the processor time of a request of ours."
    )


def write_document(figures: Figures) -> None:
    """Put the table between the marks in results/speed.md."""
    document = RESULTS / "speed.md"
    before, _, rest = document.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    if not after:
        raise ValueError(f"results/speed.md has no {BEGIN} … {END}")
    picture = "![Requests a second, × FastAPI](bench.svg)"
    document.write_text(f"{before}{BEGIN}\n{about(figures)}\n\n{table(figures)}\n\n{picture}\n{END}{after}")


def chart(figures: Figures) -> str:
    """Return the requests per second × FastAPI as bars, in SVG."""
    bars, at = [], 30
    works = {code: work for code, work in figures["works"].items() if not work["latency"] and BASE in work["servers"]}
    rates = {
        code: {
            name: one["per_second"]["median"] / work["servers"][BASE]["per_second"]["median"]
            for name, one in work["servers"].items()
        }
        for code, work in works.items()
    }
    most = max((ratio for by_name in rates.values() for ratio in by_name.values()), default=1)
    for code, by_name in rates.items():
        title = escape(f"{code} {works[code]['title']}")
        bars.append(f'<text x="{_LEFT - 8}" y="{at + 20}" text-anchor="end">{title}</text>')
        for name, ratio in by_name.items():
            width = ratio / most * _WIDTH
            colour = _COLOURS.get(name, "#888888")
            bars.append(f'<rect x="{_LEFT}" y="{at}" width="{width:.1f}" height="{_BAR - 2}" fill="{colour}"/>')
            bars.append(f'<text x="{_LEFT + width + 4:.1f}" y="{at + 10}" class="n">{escape(name)} {ratio:.1f}</text>')
            at += _BAR
        at += 10
    style = "text{font:12px sans-serif;fill:#333}.n{font-size:10px}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 120}" height="{at}"><style>{style}</style>'
    )
    caption = f'<text x="{_LEFT}" y="18">Requests a second, × FastAPI ({figures["when"][:10]})</text>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', caption, *bars, "</svg>", ""])
