"""Orders, prices and moves agree with each other and with brute force."""

import itertools
import math
import pickle
from array import array

import pytest

import tapewise
from tapewise import Batch, Cartridge


@pytest.fixture(scope="module")
def lto8() -> Cartridge:
    return Cartridge("lto8")


@pytest.fixture(scope="module")
def exact() -> Cartridge:
    """A full cartridge of which the drive's table of wrap ends is known."""
    return Cartridge("lto8", wrap_ends=[(wrap, 0, (wrap + 1) * 110_000 - 1) for wrap in range(208)])


def some(count: int, seed: int = 1) -> Batch:
    return Batch.random(count, last_block=15_000_000, seed=seed)


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_a_plan_has_every_request_once_and_its_price(lto8: Cartridge, count: int) -> None:
    batch = some(count)
    plan = tapewise.order(batch, lto8, work=100_000)
    assert sorted(plan.order) == list(range(count))
    assert plan.ids == [batch.ids[at] for at in plan.order]
    assert math.isclose(plan.total_s, plan.locate_s + plan.read_s, abs_tol=1e-5)
    assert plan.worst_s >= plan.total_s
    assert tapewise.price(batch, lto8, plan.order).total_s == plan.total_s


def test_moves_make_the_total_and_brute_force_finds_nothing_shorter(exact: Cartridge) -> None:
    batch = some(6)
    table = tapewise.moves(batch, exact, end="rewound")
    plan = tapewise.order(batch, exact, end="rewound", algorithm="opt")
    totals = {visits: table.total_us(visits) for visits in itertools.permutations(range(len(table)))}
    shortest = min(totals.values())
    assert round(plan.total_s * 1e6) == shortest
    visits = next(visits for visits, total in totals.items() if total == shortest)
    priced = tapewise.price(batch, exact, table.sequence(visits), end="rewound")
    assert round(priced.total_s * 1e6) == shortest


def test_the_bound_is_below_every_order(exact: Cartridge) -> None:
    batch = some(60)
    plans = tapewise.compare(batch, exact, ["fifo", "sort", "cta", "sltf", "loss", "best"], work=200_000)
    best = plans["best"]
    assert best.bound_s is not None and best.gap is not None
    assert all(plan.total_s >= best.bound_s for plan in plans.values())
    assert plans.columns()["total_s"] == sorted(plan.total_s for plan in plans.values())
    assert best.status in ("optimal", "bounded")


def test_the_same_work_gives_the_same_order(lto8: Cartridge) -> None:
    batch = some(80)
    one, other = (tapewise.order(batch, lto8, work=50_000, seed=3) for _ in range(2))
    assert one.order == other.order
    assert not one.is_cut_short


def test_steps_are_columns_that_add_up(lto8: Cartridge) -> None:
    plan = tapewise.order(some(10), lto8, end="unloaded")
    lengths = {len(column) for column in plan.steps.values()}
    assert len(lengths) == 1
    assert plan.steps["action"][-1] == "finish"
    assert math.isclose(sum(plan.steps["duration_s"]), plan.total_s, abs_tol=1e-4)


def test_errors_are_ours_and_say_what_is_wrong(lto8: Cartridge) -> None:
    with pytest.raises(tapewise.InputError, match="lto99"):
        Cartridge("lto99")
    with pytest.raises(tapewise.CartridgeError, match="99000000"):
        tapewise.order(Batch([99_000_000], block_size=524_288), lto8)
    with pytest.raises(tapewise.CartridgeError, match="size of a block"):
        tapewise.order(Batch([1]), lto8)
    with pytest.raises(tapewise.SearchError, match="deadline"):
        tapewise.order(some(3), lto8, objective="deadline")
    with pytest.raises(tapewise.InputError, match="twice"):
        tapewise.price(some(3), lto8, [0, 0, 1])
    with pytest.raises(tapewise.InputError, match="no order"):
        tapewise.order(some(3), lto8, algorithm="quickest")
    for other in ({"objective": "mean"}, {"spare_tape": True}):
        with pytest.raises(tapewise.InputError, match="no objective of its own"):
            tapewise.order(some(3), lto8, algorithm="sort", **other)  # type: ignore[arg-type]
    with pytest.raises(tapewise.InputError):
        Batch([-1])
    with pytest.raises(tapewise.InputError, match="2 numbers for 3"):
        Batch([1, 2, 3], [1, 2])
    for start in (1.5, "a", None, float("nan")):
        with pytest.raises(tapewise.InputError, match="start_block: .* whole number"):
            Batch([start])  # type: ignore[list-item]
    assert Batch([2.0]).start_block == array("Q", [2])  # type: ignore[list-item]
    with pytest.raises(tapewise.InputError, match=r"block_count: 1\.9 is no whole number"):
        Batch([1, 2], 1.9)  # type: ignore[arg-type]
    with pytest.raises(tapewise.InputError, match="block_count: row 1 has no blocks"):
        Batch([1, 2], [1, 0])
    for size in (0, -1, 0.5):
        with pytest.raises(tapewise.InputError, match="block_size"):
            Batch([1], block_size=size)  # type: ignore[arg-type]
    with pytest.raises(tapewise.InputError, match="row 0: partition 300 is more than 3"):
        tapewise.order(Batch([1], partition=300, block_size=524_288), lto8)
    with pytest.raises(tapewise.InputError, match="deadline_s: request 1 has no number"):
        tapewise.order(Batch([1, 2], deadline_s=[5.0, float("nan")], block_size=524_288), lto8, objective="deadline")
    with pytest.raises(tapewise.InputError, match="nowhere.*not a place"):
        tapewise.order(some(3), lto8, head="nowhere")


def test_everything_survives_a_pickle(lto8: Cartridge) -> None:
    batch = some(5)
    plan = tapewise.order(batch, lto8)
    for value in (batch, lto8, plan, lto8.profile, tapewise.moves(batch, lto8)):
        assert pickle.loads(pickle.dumps(value)) == value
    error = pickle.loads(pickle.dumps(tapewise.SearchError("no")))
    assert isinstance(error, tapewise.TapewiseError)


def test_files_of_several_runs_come_from_a_list(lto8: Cartridge) -> None:
    text = "id,start_block,block_count,priority\na,9000000,2000,1\nb,40000,2000,0\n"
    batch = Batch.parse(text, block_size=524_288)
    assert batch.ids == ["a", "b"] and list(batch.priority) == [1, 0]
    plan = tapewise.order(batch, lto8, objective="mean")
    assert sorted(plan.ids) == ["a", "b"]
    with_empty = Batch.parse("id,start_block,block_count,size_bytes\ne,,,0\na,9,1,\n", block_size=524_288)
    plan = tapewise.order(with_empty, lto8)
    assert plan.ids == ["e", "a"] == tapewise.price(with_empty, lto8, plan.order).ids
    with pytest.raises(tapewise.InputError, match="line 2"):
        Batch.parse("id,start_block,block_count\na,x,1\n")
    with pytest.raises(tapewise.InputError, match="requests: the requests are on 2 cartridges: A, B"):
        Batch.parse("id,volume,start_block,block_count\na,A,1,1\nb,B,9,1\n")


def test_numbers_come_from_any_buffer() -> None:
    assert Batch(array("q", [5, 6])).start_block == array("Q", [5, 6])
    with pytest.raises(tapewise.InputError):
        Batch(array("q", [-5]))
    numpy = pytest.importorskip("numpy")
    assert Batch(numpy.array([5, 6])).start_block == array("Q", [5, 6])
    assert Batch(numpy.array([5, 6], dtype="uint32")).start_block == array("Q", [5, 6])


def test_one_line_each(lto8: Cartridge) -> None:
    batch = some(3)
    plan = tapewise.order(batch, lto8)
    for value in (batch, lto8, lto8.profile, plan, tapewise.moves(batch, lto8)):
        assert "\n" not in repr(value) and len(repr(value)) < 250
    assert plan._repr_html_().startswith("<table>")
