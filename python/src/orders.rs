//! Orders, and what they take.

use crate::arguments::{
    BatchArguments, CartridgeArguments, PlacementArguments, input_error, place,
};
use crate::attention::{Wish, attended, guarded, with_effort};
use crate::errors::SearchError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tapewise::batch::Source;
use tapewise::model::Micros;
use tapewise::order::{Action, Algorithm, Objective, Step};
use tapewise::{Found, Goal, Origin, Placed};

/// The orders by name.
#[pyfunction]
pub fn order_names() -> Vec<(&'static str, &'static str)> {
    Algorithm::ALL
        .iter()
        .map(|algorithm| (algorithm.name(), algorithm.title()))
        .collect()
}

/// Finds an order.
#[pyfunction]
#[pyo3(signature = (batch, cartridge, placement, algorithm, objective, seed, work, budget_s, prove, spare_tape))]
#[expect(
    clippy::too_many_arguments,
    reason = "the Python function above it has keywords"
)]
pub fn find<'py>(
    py: Python<'py>,
    batch: BatchArguments,
    cartridge: CartridgeArguments,
    placement: PlacementArguments,
    algorithm: Option<&str>,
    objective: &str,
    seed: u64,
    work: Option<u64>,
    budget_s: Option<f64>,
    prove: bool,
    spare_tape: bool,
) -> PyResult<Bound<'py, PyDict>> {
    if budget_s.is_some_and(|budget| !budget.is_finite() || budget < 0.0) {
        return Err(input_error("the budget must be zero or more seconds"));
    }
    let named = |name: &str| {
        Algorithm::from_name(name)
            .ok_or_else(|| input_error(format!("there is no order \"{name}\"")))
    };
    let algorithm = algorithm.map(named).transpose()?;
    let objective = Objective::from_name(objective)
        .ok_or_else(|| input_error(format!("\"{objective}\" is none of total, mean, deadline")))?;
    let goal = Goal {
        objective,
        spare_tape,
        ..Goal::default()
    };
    if algorithm.is_some() && !goal.is_least_total() {
        return Err(input_error(
            "an order by name has no objective of its own: leave out algorithm, or objective and spare_tape",
        ));
    }
    let placed = place(py, batch, cartridge, &placement)?;
    let wish = Wish {
        seed,
        prove,
        work,
        budget_s,
    };
    let (placed, found) = attended(py, move |stop| {
        let found = with_effort(wish, stop, |effort| match algorithm {
            Some(algorithm) => placed.order(algorithm, effort),
            None => placed.search(&goal, effort),
        });
        (placed, found)
    })?;
    let found = found.map_err(|error| SearchError::new_err(error.to_string()))?;
    plan(py, &placed, &found)
}

/// What an order of the caller's takes.
#[pyfunction]
pub fn price<'py>(
    py: Python<'py>,
    batch: BatchArguments,
    cartridge: CartridgeArguments,
    placement: PlacementArguments,
    mut sequence: Vec<u32>,
) -> PyResult<Bound<'py, PyDict>> {
    let placed = place(py, batch, cartridge, &placement)?;
    // Requests without blocks need no tape, and an order of ours has them too.
    let requests = &placed.batch.requests;
    let is_empty = |at: u32| {
        requests
            .get(at as usize)
            .is_some_and(|r| r.extents.is_empty())
    };
    sequence.retain(|&at| !is_empty(at));
    let found = guarded(py, || {
        let order = tapewise::order::rao(&placed.problem, &sequence);
        order.map(|order| placed.priced(Origin::Drive, order))
    })?;
    let found = found.map_err(input_error)?;
    plan(py, &placed, &found)
}

/// The price of every move between visits, in microseconds: from the head to each, from each to each (row by row), and
/// from each to where the head is left. A visit is a request, or several that share blocks.
#[pyfunction]
pub fn moves<'py>(
    py: Python<'py>,
    batch: BatchArguments,
    cartridge: CartridgeArguments,
    placement: PlacementArguments,
) -> PyResult<Bound<'py, PyDict>> {
    const MOST: usize = 10_000;
    let placed = place(py, batch, cartridge, &placement)?;
    let (problem, owners) = (&placed.problem, &placed.owners);
    let count = problem.len();
    if count > MOST {
        return Err(input_error(format!(
            "{count} visits have too many moves for a table; at most {MOST}"
        )));
    }
    let table = guarded(py, || {
        let mut table = Vec::with_capacity(count * count * size_of::<i64>());
        let mut row = vec![Micros::ZERO; count];
        for from in 0..count {
            problem.arcs(Some(from), &mut row);
            table.extend(row.iter().flat_map(|time| time.0.to_ne_bytes()));
        }
        table
    })?;
    let first: Vec<i64> = (0..count).map(|to| problem.first_arc(to).0).collect();
    let last: Vec<i64> = (0..count).map(|from| problem.end_cost(from).0).collect();
    let requests = problem.visits().iter();
    let requests: Vec<Vec<usize>> = requests
        .map(|visit| {
            visit
                .requests
                .iter()
                .map(|&request| owners[request as usize].0)
                .collect()
        })
        .collect();
    let (read, inner) = problem.fixed_time();
    let dict = PyDict::new(py);
    dict.set_item("requests", requests)?;
    dict.set_item("first_us", first)?;
    dict.set_item("between_us", PyBytes::new(py, &table))?;
    dict.set_item("last_us", last)?;
    dict.set_item("fixed_us", (read + inner).0)?;
    Ok(dict)
}

/// Requests of a file in any format that names its blocks, as columns.
#[pyfunction]
pub fn read_requests<'py>(
    py: Python<'py>,
    name: &str,
    bytes: &[u8],
    block_size: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let batch = guarded(py, || {
        let source = Source::recognise(name, bytes, None).map_err(|error| error.to_string())?;
        let batch = source.requests(block_size);
        batch.map_err(|error| error.to_string())
    })?;
    let batch = batch.map_err(input_error)?;
    // The columns have no room for a cartridge or a sort key.
    let orderable = batch.check_orderable();
    orderable.map_err(|error| input_error(format!("{name}: {error}")))?;
    let extents = || {
        let requests = batch.requests.iter().enumerate();
        requests.flat_map(|(at, request)| request.extents.iter().map(move |extent| (at, extent)))
    };
    let recorded = extents().flat_map(|(_, extent)| {
        let place = |at: Option<tapewise::formats::WrapLpos>| {
            at.map_or([-1, -1], |at| [i64::from(at.wrap), i64::from(at.lpos)])
        };
        let ([a, b], [c, d]) = (place(extent.start), place(extent.end));
        [a, b, c, d]
    });
    let now = 0;
    let deadline = |request: &tapewise::formats::Request| {
        request
            .deadline
            .as_ref()
            .map_or(-1.0, |deadline| deadline.seconds_from(now).max(0.0))
    };
    if batch.has_points_in_time() {
        return Err(input_error(format!(
            "{name}: deadlines that are points in time; give seconds from now"
        )));
    }
    let dict = PyDict::new(py);
    dict.set_item(
        "ids",
        batch
            .requests
            .iter()
            .map(|request| &request.id)
            .collect::<Vec<_>>(),
    )?;
    dict.set_item("request", extents().map(|(at, _)| at).collect::<Vec<_>>())?;
    dict.set_item(
        "start_block",
        extents()
            .map(|(_, extent)| extent.start_block)
            .collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "block_count",
        extents()
            .map(|(_, extent)| extent.block_count)
            .collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "byte_count",
        extents()
            .map(|(_, extent)| extent.byte_count.unwrap_or(0))
            .collect::<Vec<_>>(),
    )?;
    let partition =
        |(_, extent): (usize, &tapewise::formats::Extent)| extent.partition.map_or(-1, i64::from);
    dict.set_item("partition", extents().map(partition).collect::<Vec<_>>())?;
    dict.set_item("recorded", recorded.collect::<Vec<_>>())?;
    dict.set_item(
        "priority",
        batch
            .requests
            .iter()
            .map(|request| request.priority)
            .collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "deadline_s",
        batch.requests.iter().map(deadline).collect::<Vec<_>>(),
    )?;
    dict.set_item("block_size", batch.block_size)?;
    dict.set_item("notices", &batch.notices)?;
    Ok(dict)
}

fn plan<'py>(py: Python<'py>, placed: &Placed, found: &Found) -> PyResult<Bound<'py, PyDict>> {
    let totals = &found.plan.totals;
    let metres = placed.problem.tape().geometry.metres_per_lpos;
    let dict = PyDict::new(py);
    dict.set_item("requests", placed.reading_order(&found.plan))?;
    dict.set_item("order", found.origin.versioned())?;
    dict.set_item("total_s", totals.total.as_secs_f64())?;
    dict.set_item("locate_s", totals.locate.as_secs_f64())?;
    dict.set_item("read_s", totals.read.as_secs_f64())?;
    dict.set_item("worst_s", found.worst.as_secs_f64())?;
    dict.set_item("bound_s", found.bound.map(Micros::as_secs_f64))?;
    dict.set_item("is_optimal", found.optimal)?;
    dict.set_item("is_cut_short", found.cut_short)?;
    dict.set_item("computed_s", found.computed.as_secs_f64())?;
    dict.set_item(
        "distance_m",
        metres.map(|metres| metres * totals.distance_lpos as f64),
    )?;
    dict.set_item("wrap_changes", totals.wrap_changes)?;
    dict.set_item("positions", &placed.provenance)?;
    dict.set_item("steps", steps(py, placed, found)?)?;
    Ok(dict)
}

/// What the drive does, as columns.
fn steps<'py>(py: Python<'py>, placed: &Placed, found: &Found) -> PyResult<Bound<'py, PyDict>> {
    let steps = &found.plan.steps;
    let action = |step: &Step| match step.action {
        Action::Locate => "locate",
        Action::ReadThrough => "read-through",
        Action::Read => "read",
        Action::Finish => "finish",
    };
    let visit = |step: &Step| &placed.problem.visits()[step.visit as usize];
    let request = |step: &Step| {
        let first = visit(step).requests.first();
        first.map(|&request| placed.owners[request as usize].0)
    };
    let extent = |step: &Step| visit(step).extents[step.extent as usize];
    let block = |step: &Step| extent(step).first_block;
    let count = |step: &Step| {
        let extent = extent(step);
        let is_read = step.action == Action::Read;
        is_read.then_some(extent.last_block - extent.first_block + 1)
    };
    let dict = PyDict::new(py);
    dict.set_item("action", steps.iter().map(action).collect::<Vec<_>>())?;
    dict.set_item("request", steps.iter().map(request).collect::<Vec<_>>())?;
    dict.set_item("start_block", steps.iter().map(block).collect::<Vec<_>>())?;
    dict.set_item("block_count", steps.iter().map(count).collect::<Vec<_>>())?;
    dict.set_item(
        "from_wrap",
        steps.iter().map(|step| step.from.wrap).collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "from_lpos",
        steps.iter().map(|step| step.from.lpos).collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "to_wrap",
        steps.iter().map(|step| step.to.wrap).collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "to_lpos",
        steps.iter().map(|step| step.to.lpos).collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "begin_s",
        steps
            .iter()
            .map(|step| step.begin.as_secs_f64())
            .collect::<Vec<_>>(),
    )?;
    dict.set_item(
        "duration_s",
        steps
            .iter()
            .map(|step| step.duration.as_secs_f64())
            .collect::<Vec<_>>(),
    )?;
    Ok(dict)
}
