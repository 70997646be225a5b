"""Plots as functions of (data, ax), and the step from axes to an SVG that stands inside HTML. Computes no statistic.

Colours are Okabe and Ito's, which stay distinct with any colour vision; shape and hatching repeat what colour says.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from analysis.document import Figure
from analysis.paired import Equivalence, McNemar, PairedTable
from analysis.passk import RepeatedRate
from analysis.rates import Rate
from analysis.result import Interval
from robustops.core.task import Condition

BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, GREY = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"),
    "#6B7280",
)
MODEL_COLOURS = (GREY, ORANGE, BLUE, GREEN, PURPLE, VERMILLION, SKY)
MARKERS = "osD^vPX"
SHADES = matplotlib.colormaps["Blues"]
INK = "#1F2933"
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: selectable, searchable, in the page's own font
    "svg.hashsalt": "robustops",  # the same data give the same bytes
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9AA5B1",
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E7EB",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}


def draw(name: str, caption: str, plot: Callable[[Axes], None], *, width: float = 7.2, height: float = 3.4) -> Figure:
    """Run `plot` on fresh axes and keep the result as inline SVG. Sizes in inches."""
    return draw_panels(name, caption, [plot], width=width, height=height)


def draw_panels(
    name: str, caption: str, plots: Sequence[Callable[[Axes], None]], *, width: float = 7.2, height: float = 3.4
) -> Figure:
    """The same for several plots beside each other, which share their y axis."""
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(figsize=(width, height), layout="constrained")
        panels = canvas.subplots(1, len(plots), sharey=True, squeeze=False)[0]
        for plot, ax in zip(plots, panels, strict=True):
            plot(ax)
            ax.label_outer()
        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return Figure(name=name, caption=caption, svg=_inline(buffer.getvalue(), caption, width_px=round(96 * width)))


def _inline(svg: str, caption: str, *, width_px: int) -> str:
    """The <svg> element alone: as wide as its place allows, labelled for screen readers, without clashing ids."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    # Group ids would repeat in a page with several figures; the ids that are referred to are hashes of their content.
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    opening, rest = svg.split(">", 1)
    opening = re.sub(r' (?:width|height)="[^"]*"', "", opening)
    label = html.escape(caption, quote=True)
    return f'{opening} role="img" aria-label="{label}" style="max-width:{width_px}px;width:100%">{rest}'


def plot_rates(
    rates: Mapping[Condition, Mapping[str, Rate]], ax: Axes, *, what: str = "cases solved (%)", title: str = "Success"
) -> None:
    """`rates`: condition -> model -> rate. One column a model; filled circles clean, open squares fault."""
    looks = {"clean": (BLUE, "o", BLUE, -0.1), "fault": (VERMILLION, "s", "white", 0.1)}
    models = list(next(iter(rates.values())))
    for condition, by_model in rates.items():
        colour, marker, face, shift = looks[condition]
        where = np.arange(len(models)) + (shift if len(rates) > 1 else 0)
        values = [by_model[model] for model in models]
        n = values[0].n
        ax.errorbar(
            where,
            [100 * rate.estimate for rate in values],
            yerr=_bars(values),
            fmt=marker,
            color=colour,
            markerfacecolor=face,
            capsize=3,
            label=f"{condition} (n = {n})",
        )
        for x, rate in zip(where, values, strict=True):
            beside = ("right", -7) if shift < 0 else ("left", 7)
            ax.annotate(
                f"{100 * rate.estimate:.1f}%",
                (x, 100 * rate.estimate),
                xytext=(beside[1], 0),
                textcoords="offset points",
                ha=beside[0],
                va="center",
            )
    ax.set_xticks(range(len(models)), models)
    ax.set_xlim(-0.6, len(models) - 0.4)
    ax.set_ylim(-4, 104)
    ax.set_ylabel(what)
    ax.grid(axis="x", visible=False)
    ax.set_title(f"{title} with 95% Wilson intervals; {_counts(rates)}", pad=24)
    _legend_on_top(ax, len(rates))


def _legend_on_top(ax: Axes, num_columns: int) -> None:
    """Between title and axes, where it can hide no data; the title needs a pad of 24."""
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=num_columns, borderpad=0, handlelength=1.2)


def _counts(rates: Mapping[Condition, Mapping[str, Rate]]) -> str:
    return ", ".join(f"n = {next(iter(by_model.values())).n} {condition}" for condition, by_model in rates.items())


def _bars(rates: Sequence[Rate]) -> np.ndarray:
    below = [100 * max(0.0, rate.estimate - rate.interval.low) for rate in rates]
    above = [100 * max(0.0, rate.interval.high - rate.estimate) for rate in rates]
    return np.array([below, above])


def plot_gains(gains: Mapping[str, tuple[McNemar, Equivalence]], ax: Axes) -> None:
    """One line a comparison, first on top: 95% interval thin, 90% interval thick, margin of equivalence shaded."""
    for y, (test, equivalence) in enumerate(gains.values()):
        ax.plot(_percent(test.interval.low, test.interval.high), [y, y], color=BLUE, linewidth=1.4)
        ax.plot(_percent(equivalence.interval.low, equivalence.interval.high), [y, y], color=BLUE, linewidth=4)
        ax.plot(100 * test.estimate, y, "o", color="white", markeredgecolor=BLUE, markersize=7)
    margin = 100 * next(iter(gains.values()))[1].margin
    ax.axvspan(-margin, margin, color=GREY, alpha=0.13, linewidth=0)
    ax.axvline(0, color=INK, linewidth=0.9)
    ax.set_yticks(range(len(gains)), [f"{label} (n = {test.n})" for label, (test, _) in gains.items()])
    ax.set_ylim(len(gains) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("gain (percentage points)")
    ax.set_title("Gains with 95% (thin) and 90% (thick) Tango intervals")


def _percent(low: float, high: float) -> list[float]:
    return [100 * low, 100 * high]


def plot_transitions(tables: Mapping[str, PairedTable], ax: Axes) -> None:
    """One stacked bar a comparison, first on top; the count stands inside where there is room."""
    parts = (
        ("retained", "both", BLUE, "white", ""),
        ("gained", "only_a", SKY, INK, ""),
        ("lost", "only_b", ORANGE, INK, "///"),
        ("never solved", "neither", "#E4E7EB", INK, ""),
    )
    left = np.zeros(len(tables))
    for label, cell, colour, ink, hatch in parts:
        counts = np.array([getattr(table, cell) for table in tables.values()])
        shares = 100 * counts / np.array([table.n for table in tables.values()])
        ax.barh(
            range(len(tables)), shares, left=left, color=colour, label=label, hatch=hatch, edgecolor="white", height=0.7
        )
        for y, (count, share, start) in enumerate(zip(counts, shares, left, strict=True)):
            if share >= 4:
                box = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
                ax.text(start + share / 2, y, str(count), ha="center", va="center", color=ink, bbox=box)
        left += shares
    ax.set_yticks(range(len(tables)), [f"{label} (n = {table.n})" for label, table in tables.items()])
    ax.set_ylim(len(tables) - 0.4, -0.6)
    ax.set_xlim(0, 100)
    ax.set_xlabel("cases (%)")
    ax.grid(visible=False)
    ax.set_title("What became of each case; numbers are counts", pad=24)
    _legend_on_top(ax, len(parts))


def plot_groups(groups: Mapping[str, Mapping[str, Rate]], ax: Axes, *, what: str) -> None:
    """`groups`: group -> model -> rate, where it has one. One line a group, first on top, one marker a model."""
    models = list(dict.fromkeys(model for by_model in groups.values() for model in by_model))
    step = 0.6 / max(1, len(models))
    for number, model in enumerate(models):
        lines = [line for line, by_model in enumerate(groups.values()) if model in by_model]
        rates = [by_model[model] for by_model in groups.values() if model in by_model]
        ax.errorbar(
            [100 * rate.estimate for rate in rates],
            np.array(lines) + (number - (len(models) - 1) / 2) * step,
            xerr=_bars(rates),
            fmt=MARKERS[number % len(MARKERS)],
            color=MODEL_COLOURS[number % len(MODEL_COLOURS)],
            capsize=2,
            markersize=5,
            label=model,
        )
    labels = [f"{group} (n = {_sizes(by_model)})" for group, by_model in groups.items()]
    ax.set_yticks(range(len(groups)), labels)
    ax.set_ylim(len(groups) - 0.4, -0.6)
    ax.set_xlim(-3, 103)
    ax.set_xlabel("cases solved (%)")
    ax.grid(axis="y", visible=False)
    ax.set_title(f"{what}, 95% Wilson intervals", pad=24)
    _legend_on_top(ax, len(models))


def _sizes(by_model: Mapping[str, Rate]) -> str:
    """One number where all models have the same cases, else one each."""
    sizes = [rate.n for rate in by_model.values()]
    return str(sizes[0]) if len(set(sizes)) == 1 else " / ".join(map(str, sizes))


def plot_reliability(
    lines: Mapping[int, Sequence[RepeatedRate | None]], ax: Axes, *, ticks: Sequence[str], title: str
) -> None:
    """`lines`: k -> pass^k at each tick, None where nothing ran. Bars are bootstrap intervals over tasks."""
    for number, (k, rates) in enumerate(lines.items()):
        found = [(x, rate) for x, rate in enumerate(rates) if rate is not None]
        values = np.array([100 * rate.estimate for _, rate in found])
        spreads = [rate.interval or Interval(low=rate.estimate, high=rate.estimate) for _, rate in found]
        below = np.maximum(0, values - [100 * spread.low for spread in spreads])
        above = np.maximum(0, [100 * spread.high for spread in spreads] - values)
        ax.errorbar(
            [x + 0.06 * (number - (len(lines) - 1) / 2) for x, _ in found],
            values,
            yerr=np.array([below, above]),
            fmt=f"{MARKERS[number % len(MARKERS)]}-",
            color=SHADES(0.35 + 0.6 * number / max(1, len(lines) - 1)),
            capsize=2,
            markersize=5,
            label=f"k = {k}",
        )
    ax.set_xticks(range(len(ticks)), ticks)
    ax.set_xlim(-0.4, len(ticks) - 0.6)
    ax.set_ylim(-4, 104)
    ax.set_xlabel("fault intensity")
    ax.set_ylabel("pass^k (%)")
    ax.legend(loc="upper right")
    ax.grid(axis="x", visible=False)
    ax.set_title(title)


def plot_curve(
    steps: Sequence[float], values: Sequence[float], trailing: Sequence[float], ax: Axes, label: str
) -> None:
    """Every step as a dot, the trailing mean as a line."""
    ax.plot(steps, values, ".", color=GREY, label="each step")
    ax.plot(steps, trailing, "-", color=BLUE, linewidth=2, label="trailing mean")
    ax.set_xlabel("training step")
    ax.set_ylabel(label)
    ax.set_title(f"{label.capitalize()}, n = {len(steps)} steps")
    ax.legend(loc="best")


def plot_settings(settings: Mapping[str, Sequence[float]], ax: Axes, what: str) -> None:
    """One line a setting, first on top: a dot a seed, a bar at their mean."""
    for y, values in enumerate(settings.values()):
        ax.plot(values, [y] * len(values), "o", color=BLUE, alpha=0.6)
        ax.plot([float(np.mean(values))] * 2, [y - 0.25, y + 0.25], "-", color=INK, linewidth=2)
    ax.set_yticks(range(len(settings)), [f"{label} (n = {len(values)})" for label, values in settings.items()])
    ax.set_ylim(len(settings) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(what)
    ax.set_title(f"{what.capitalize()}, last steps")


def plot_counts(rates: Sequence[float], ax: Axes) -> None:
    """How many tasks have each success rate."""
    counts, edges = np.histogram(rates, bins=np.linspace(-0.05, 1.05, 12))
    ax.bar(100 * (edges[:-1] + edges[1:]) / 2, counts, width=8, color=BLUE)
    ax.set_xlabel("runs that succeed (%)")
    ax.set_ylabel("tasks")
    ax.grid(axis="x", visible=False)
    ax.set_title(f"Difficulty, n = {len(rates)} tasks")
