"""Pictures with matplotlib, which is imported when the first one is drawn.

Every function takes `ax` or makes one, and returns it. Colours are those of Okabe and Ito, which colour-blind readers
can tell apart; what colour says, a marker or a line style says too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .logs import Audit, Fitted
    from .orders import Comparison, Plan

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#999999"


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
