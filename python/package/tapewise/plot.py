"""Pictures with matplotlib, which is imported when the first one is drawn.

Every function takes `ax` or makes one, and returns it. Colours are those of Okabe and Ito, which colour-blind readers
can tell apart; what colour says, a marker or a line style says too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .logs import Audit, Fitted
    from .orders import Comparison, Plan
    from .simulation import Capacity, Replay, Results
    from .table import Table

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#999999"
SKY, PURPLE, BLACK = "#56B4E9", "#CC79A7", "#000000"
# Colour, line style and marker go together.
_LINES = [(BLUE, "-", "o"), (RED, "--", "s"), (GREEN, "-.", "^"), (ORANGE, ":", "D"), (PURPLE, "-", "v")]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'tapewise[plot]'") from error
    return pyplot.subplots(figsize=(8, 4.5), layout="constrained")[1]


def head_path(plan: Plan, ax: Any = None) -> Any:
    """Where the head is along the tape, over time: reads, and the ways between them."""
    ax = _axes(ax)
    styles = {
        "read": (BLUE, "-", 2.5, "read"),
        "read-through": (GREEN, ":", 1.5, "read on over a gap"),
        "locate": (ORANGE, "-", 0.8, "locate"),
        "finish": (GREY, "--", 0.8, "to where the head is left"),
    }
    steps = plan.steps
    for action, (color, style, width, label) in styles.items():
        times: list[float] = []
        places: list[float] = []
        for at, done in enumerate(steps["action"]):
            if done == action:
                begin = steps["begin_s"][at]
                times += [begin / 60, (begin + steps["duration_s"][at]) / 60, float("nan")]
                places += [steps["from_lpos"][at], steps["to_lpos"][at], float("nan")]
        if times:
            ax.plot(times, places, color=color, linestyle=style, linewidth=width, label=label)
    ax.set(xlabel="time (minutes)", ylabel="place along the tape (LPOS)", title=repr(plan))
    ax.legend(loc="best", fontsize="small")
    return ax


def comparison(plans: Comparison, ax: Any = None) -> Any:
    """The orders of a batch side by side: the total, and how far it may rise."""
    ax = _axes(ax)
    columns = plans.columns()
    names = columns["order"][::-1]
    totals = [seconds / 60 for seconds in columns["total_s"][::-1]]
    worst = [seconds / 60 for seconds in columns["worst_s"][::-1]]
    ax.barh(names, totals, color=[RED if name == "best" else BLUE for name in names], label="total")
    rise = [after - before for before, after in zip(totals, worst, strict=True)]
    ax.errorbar(totals, names, xerr=[[0.0] * len(rise), rise], fmt="none", color=GREY, capsize=3, label="at worst")
    ax.set(xlabel="time (minutes)", title="orders of the same batch")
    ax.legend(loc="upper right", fontsize="small")
    return ax


def predicted(fitted: Fitted, ax: Any = None) -> Any:
    """What a fit predicted for moves that it had not seen, over what was measured."""
    ax = _axes(ax)
    measured, guessed = fitted.moves["measured_s"], fitted.moves["predicted_s"]
    ax.scatter(measured, guessed, s=8, color=BLUE, alpha=0.5, label="a move")
    longest = max([*measured, *guessed], default=1.0)
    ax.plot([0, longest], [0, longest], color=RED, linestyle="--", linewidth=1, label="exact")
    ax.set(xlabel="measured (s)", ylabel="predicted (s)", title=repr(fitted))
    ax.legend(loc="upper left", fontsize="small")
    return ax


def residuals(fitted: Fitted, ax: Any = None) -> Any:
    """The standard error of a prediction by kind of move."""
    ax = _axes(ax)
    kinds = fitted.kinds
    shown = [at for at, count in enumerate(kinds["count"]) if count > 0][::-1]
    labels = [f"{kinds['kind'][at]} ({kinds['count'][at]})" for at in shown]
    ax.barh(labels, [kinds["residual_s"][at] for at in shown], color=BLUE)
    ax.set(xlabel="standard error on moves not fitted to (s)", title=f"{fitted.model}, by kind of move")
    return ax


def audit(audited: Audit, ax: Any = None) -> Any:
    """The hours that a log spent locating, and what other orders would have spent."""
    ax = _axes(ax)
    wanted = {"as_read_s": "as read", "sort_s": "sorted", "cta_s": "as CTA orders", "best_s": "tapewise"}
    columns = audited.columns()
    known = [name for name in wanted if name in columns]
    hours = [audited.total_s(name) / 3600 for name in known]
    ax.barh([wanted[name] for name in known][::-1], hours[::-1], color=BLUE)
    ax.set(xlabel="locating (hours)", title="what the same reads cost in other orders")
    return ax


def responses(results: Results | dict[str, Results], ax: Any = None) -> Any:
    """The share of responses within a given time; of several results by name, a line for each."""
    ax = _axes(ax)
    named = results if isinstance(results, dict) else {results.scenario.name: results}
    for number, ((name, one), (color, style, _)) in enumerate(zip(named.items(), _LINES * len(named), strict=False)):
        shares = [permille / 10 for permille in range(1, 1 + len(one.quantiles_s))]
        minutes = [seconds / 60 for seconds in one.quantiles_s]
        ax.plot(minutes, shares, color=color, linestyle=style, label=name)
        at = one.percentile(95)
        if at.estimate == at.estimate:
            ax.errorbar(
                at.estimate / 60, 95, xerr=at.half_width / 60, color=color, capsize=3, marker="o", markersize=4,
                label=None if number else "95th percentile, with its 95 % interval",
            )  # fmt: skip
    ax.set(xlabel="response (minutes)", ylabel="% of responses within this time", title="responses")
    ax.set_ylim(0, 100)
    ax.legend(loc="lower right", fontsize="small")
    return ax


def capacity(found: Capacity, ax: Any = None) -> Any:
    """The target's metric by number of drives: simulated with 95 % intervals as bands, by formula, and the target."""
    ax = _axes(ax)
    rows = list(found.combinations.rows())
    shown = dict.fromkeys((row["robots"], row["window_s"]) for row in rows)
    for (robots, window_s), (color, style, marker) in zip(shown, _LINES * len(rows), strict=False):
        these = [row for row in rows if (row["robots"], row["window_s"]) == (robots, window_s)]
        name = f"robots: {robots}, window: {window_s:g} s"
        formula = [(row["drives"], row["formula_s"] / 60) for row in these if row["formula_s"] is not None]
        if formula:
            ax.plot(*zip(*formula, strict=True), color=color, linewidth=0.8, alpha=0.7, label=f"{name}, by formula")
        done = [row for row in these if row["estimate_s"] is not None]
        drives = [row["drives"] for row in done]
        bands = ([row[end] / 60 for row in done] for end in ("low_s", "high_s"))
        ax.fill_between(drives, *bands, color=color, alpha=0.25)
        ax.plot(drives, [row["estimate_s"] / 60 for row in done], color=color, linestyle=style, marker=marker,
                label=f"{name}, simulated")  # fmt: skip
    limit = found.limit_s / 60
    ax.axhline(limit, color=BLACK, linestyle=":", label=f"target: {found.target}")
    fewest = "no number of drives tried" if found.answer is None else f"{found.answer.drives} drives"
    title = f"{found.scenario.name}: {fewest} for {found.target}"
    ax.set(xlabel="drives", ylabel=f"{found.metric} of responses (minutes)", title=title)
    # What is far beyond the target would press the rest together.
    ax.set_ylim(0, 4 * limit)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(loc="upper right", fontsize="small")
    return ax


_ACTIONS = {
    "fetch": (SKY, "", "robot gets"),
    "return": (GREY, "", "robot puts back"),
    "mount": (GREEN, "", "load"),
    "locate": (BLUE, "", "locate"),
    "read": (RED, "", "read"),
    "rewind": (ORANGE, "///", "rewind"),
    "unmount": (PURPLE, "...", "unload"),
    "clean": (BLACK, "", "out of order"),
    "repair": (BLACK, "", "out of order"),
}


def gantt(replay: Replay, begin_s: float = 0.0, end_s: float | None = None, ax: Any = None) -> Any:
    """What every drive and robot did between two times; the first hour if no end is given."""
    ax = _axes(ax)
    end_s = begin_s + 3600 if end_s is None else end_s
    bars: dict[str, dict[str, list[tuple[float, float]]]] = {}
    several = len(set(replay.actions["library"])) > 1
    for row in replay.actions.rows():
        who = f"drive {row['drive']}" if row["robot"] is None else f"robot {row['robot']}"
        who = f"{row['library']}, {who}" if several else who
        until_s = row["begin_s"] + row["duration_s"]
        mine = bars.setdefault(who, {})
        if until_s > begin_s and row["begin_s"] < end_s:
            start_s = max(row["begin_s"], begin_s)
            mine.setdefault(row["action"], []).append((start_s / 60, (min(until_s, end_s) - start_s) / 60))
    names = sorted(bars, key=lambda who: (who.rpartition(" ")[0], int(who.rpartition(" ")[2])), reverse=True)
    labelled: set[str] = set()
    for place, who in enumerate(names):
        for action, (color, hatch, label) in _ACTIONS.items():
            if spans := bars[who].get(action):
                shown = None if label in labelled else label
                labelled.add(label)
                ax.broken_barh(spans, (place - 0.35, 0.7), color=color, hatch=hatch, edgecolor="white", linewidth=0.2,
                               label=shown)  # fmt: skip
    ax.set_yticks(range(len(names)), names)
    title = f"{replay.scenario.name}, replication {replay.replication}"
    ax.set(xlabel="time since the replication began (minutes)", title=title)
    ax.set_xlim(begin_s / 60, end_s / 60)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4, fontsize="small")
    return ax


def trace(points: Table, ax: Any = None) -> Any:
    """How the search comes nearer to its end, from `tapewise.trace`: the total and the bound by moves looked at."""
    ax = _axes(ax)
    ax.plot(points["work"], [s / 60 for s in points["total_s"]], color=BLUE, marker="o", label="total")
    bounds = [(work, s / 60) for work, s in zip(points["work"], points["bound_s"], strict=True) if s is not None]
    if bounds:
        ax.plot(*zip(*bounds, strict=True), color=RED, linestyle="--", marker="s", label="no order below")
    ax.set_xscale("log")
    ax.set(xlabel="moves looked at", ylabel="total (minutes)", title="how the search comes nearer to its end")
    ax.legend(loc="best", fontsize="small")
    return ax
