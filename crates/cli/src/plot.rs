//! stub
use crate::error::CliError;
use tapewise_model::Geometry;
use tapewise_order::Plan;
pub struct Panel<'a> {
    pub title: String,
    pub plan: &'a Plan,
}
pub fn head_paths(_p: &[Panel], _g: &Geometry, _t: &str) -> Result<String, CliError> {
    Err(CliError::failed("stub"))
}
use crate::explain::{Row, compute};
use crate::placement::Placed;
use tapewise_order::Algorithm;
/// The head's path in the sorted order beside the one given.
pub fn beside_sorted(placed: &Placed, row: &Row, seed: u64) -> Result<String, CliError> {
    let other = if row.algorithm == Algorithm::Sort {
        Algorithm::Fifo
    } else {
        Algorithm::Sort
    };
    let other =
        compute(placed, other, seed).ok_or_else(|| CliError::failed("nothing to compare with"))?;
    let title = |row: &Row| format!("{}  {}", row.algorithm.title(), row.plan.totals.total);
    let panels = [
        Panel {
            title: title(&other),
            plan: &other.plan,
        },
        Panel {
            title: title(row),
            plan: &row.plan,
        },
    ];
    let title = format!("{}, {} reads", placed.profile.title, placed.problem.len());
    head_paths(&panels, &placed.problem.tape().geometry, &title)
}
