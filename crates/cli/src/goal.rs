//! What an order is to be good for: objective, priorities, deadlines, limits.

use crate::batch::Batch;
use crate::error::CliError;
use crate::placement::Placed;
use crate::search::{Clock, Origin, Row, SearchArgs};
use crate::units;
use std::time::{SystemTime, UNIX_EPOCH};
use tapewise_formats::deadline::{Deadline, Timestamp};
use tapewise_model::Micros;
use tapewise_order::{Effort, Limits, MEAN_EXTRA_PERCENT, Objective, Outcome, Wishes, order_for};

/// What the order is to be good for.
#[derive(clap::Args, Clone, Debug)]
pub struct GoalArgs {
    /// What is to be least: total (until everything is read), mean (until a request is read, on
    /// average; a request counts 1 + priority), or deadline (time read after the deadlines, the same
    /// way).
    #[arg(long, value_name = "WHAT", default_value = "total", value_parser = objective)]
    pub objective: Objective,
    /// Move no more tape than this, or fail. In LPOS where the profile does not tell the length of
    /// the tape.
    #[arg(long, value_name = "METRES", value_parser = distance)]
    max_distance: Option<f64>,
    /// Give up to a ten-thousandth of the objective for less tape moved.
    #[arg(long)]
    spare_tape: bool,
    /// The time at which reading begins, for deadlines that are points in time [default: the
    /// clock's].
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    now: Option<Timestamp>,
}

fn objective(text: &str) -> Result<Objective, String> {
    Objective::from_name(text).ok_or_else(|| {
        let names = Objective::ALL.map(Objective::name);
        format!("no such objective; there are: {}", names.join(", "))
    })
}

fn distance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(distance) if distance >= 0.0 && distance.is_finite() => Ok(distance),
        _ => Err("a number of metres, 0 or more".to_owned()),
    }
}

fn timestamp(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text)
        .ok_or_else(|| "a time with its zone, such as 2026-11-21T04:01:25Z".to_owned())
}

impl GoalArgs {
    /// Whether the default order will do.
    pub fn is_usual(&self) -> bool {
        self.objective == Objective::Total && self.max_distance.is_none() && !self.spare_tape
    }

    /// What the requests say that this objective leaves unused, if anything.
    pub fn unused(&self, batch: &Batch) -> Option<&'static str> {
        let priorities = batch.requests.iter().any(|request| request.priority != 0);
        let deadlines = batch.requests.iter().any(|r| r.deadline.is_some());
        match (self.objective, priorities, deadlines) {
            (Objective::Total, true, true) => Some(
                "priorities and deadlines change nothing here; --objective mean or deadline uses them",
            ),
            (Objective::Total, true, false) => {
                Some("priorities change nothing here; --objective mean uses them")
            }
            (Objective::Total | Objective::Mean, _, true) => {
                Some("deadlines change nothing here; --objective deadline uses them")
            }
            (Objective::Mean, false, false) => {
                Some("no request has a priority: all of them count alike")
            }
            _ => None,
        }
    }

    /// Whether the clock decides: another run gives other deadlines.
    pub fn reads_clock(&self, batch: &Batch) -> bool {
        let at = |deadline: &Option<Deadline>| matches!(deadline, Some(Deadline::At(_)));
        let in_time = || batch.requests.iter().any(|request| at(&request.deadline));
        self.objective == Objective::Deadline && self.now.is_none() && in_time()
    }

    /// The goal for a batch.
    ///
    /// # Errors
    /// Bad input: an objective that needs deadlines where there are none.
    pub fn of(&self, batch: &Batch, placed: &Placed) -> Result<Goal, CliError> {
        let wishes = wishes(batch, placed, self.now_us());
        let has_deadlines = wishes.deadline.iter().any(Option::is_some);
        if self.objective == Objective::Deadline && !has_deadlines && !wishes.deadline.is_empty() {
            return Err(
                CliError::input("--objective deadline: no request has a deadline").hint(
                    "add a column deadline (seconds from now, or 2026-11-21T04:01:25Z), or use --objective mean",
                ),
            );
        }
        let metres_per_lpos = placed.problem.tape().geometry.metres_per_lpos;
        let lpos = |distance: f64| (distance / metres_per_lpos.unwrap_or(1.0)) as u64;
        Ok(Goal {
            objective: self.objective,
            has_deadlines,
            wishes,
            distance_lpos: self.max_distance.map(lpos),
            is_in_lpos: self.max_distance.is_some() && metres_per_lpos.is_none(),
            spare_tape: self.spare_tape,
        })
    }

    fn now_us(&self) -> i64 {
        match &self.now {
            Some(now) => now.unix_us(),
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH);
                since.map_or(0, |since| since.as_micros() as i64)
            }
        }
    }
}

/// Weight and deadline of each request of the problem.
fn wishes(batch: &Batch, placed: &Placed, now_us: i64) -> Wishes {
    let of = |&(owner, _): &(usize, usize)| &batch.requests[owner];
    let requests = || placed.owners.iter().map(of);
    let priority: Vec<i64> = requests().map(|request| request.priority).collect();
    let due = |deadline: &Deadline| Micros::from_secs_f64(deadline.seconds_from(now_us));
    let deadline: Vec<Option<Micros>> = requests()
        .map(|request| request.deadline.as_ref().map(due))
        .collect();
    Wishes::new(&priority, &deadline)
}

/// An objective with what the requests want and the limits that were given.
pub struct Goal {
    /// What is to be least.
    pub objective: Objective,
    /// Whether any request is due at some time.
    pub has_deadlines: bool,
    /// Weights and deadlines.
    pub wishes: Wishes,
    /// The most tape that may be moved.
    distance_lpos: Option<u64>,
    /// Whether that was given in LPOS.
    is_in_lpos: bool,
    spare_tape: bool,
}

impl Goal {
    /// The order for an objective, from the one of least total, with what it comes to.
    pub fn pursue(
        &self,
        placed: &Placed,
        objective: Objective,
        best: &Row,
        search: &SearchArgs,
    ) -> (Row, Outcome) {
        let clock = Clock::new(search.budget_s());
        let out_of_time = || clock.is_out();
        let effort = Effort {
            out_of_time: &out_of_time,
            ..Effort::usual()
        };
        let starts = [best.plan.order.clone()];
        let least_total = best.total() - placed.unload();
        let limits = Limits {
            distance_lpos: self.distance_lpos,
            spare_tape: self.spare_tape,
            ..Limits::of(objective, least_total)
        };
        let wanted = (objective, &self.wishes);
        let found = order_for(
            &placed.problem,
            wanted,
            &limits,
            &starts,
            &effort,
            search.seed,
        );
        let origin = Origin::Objective(objective);
        let computed_s = best.computed_s + clock.elapsed_s();
        let row = Row::new(placed, origin, found.order.clone(), computed_s);
        let is_shortest = objective == Objective::Total && best.bound == Some(row.total());
        let row = Row {
            bound: best.bound,
            optimal: found.exact || is_shortest,
            cut_short: best.cut_short || (clock.ran_out() && !found.exact),
            ..row
        };
        (row, found)
    }

    /// Refuses an order that moves more tape than was allowed.
    ///
    /// # Errors
    /// A failure: the requests may be fine, no order was found that keeps to the limit.
    pub fn refuse_excess(&self, placed: &Placed, found: &Outcome) -> Result<(), CliError> {
        let moved = found.figures.distance_lpos;
        let Some(most) = self.distance_lpos.filter(|most| moved > *most) else {
            return Ok(());
        };
        let per_lpos = placed.problem.tape().geometry.metres_per_lpos;
        let unit = if per_lpos.is_some() { "m" } else { "LPOS" };
        let shown = |lpos: u64| lpos as f64 * per_lpos.unwrap_or(1.0);
        let least = shown(moved).ceil();
        Err(CliError::failed(format!(
            "--max-distance: no order was found that moves at most {:.0} {unit} of tape; the least found is {least:.0} {unit}",
            shown(most)
        ))
        .hint(format!("--max-distance {least:.0}, or read fewer requests at a time")))
    }

    /// What a person should know of the order that was found.
    pub fn notices(&self, best: &Row, found: &Row) -> Vec<String> {
        let mut notices = Vec::new();
        if self.is_in_lpos {
            notices.push(
                "--max-distance is in LPOS: the profile does not tell the length of the tape"
                    .to_owned(),
            );
        }
        let extra = Micros(found.total().0 - best.total().0);
        if extra.0 * 100 > best.total().0 * MEAN_EXTRA_PERCENT {
            notices.push(format!(
                "it takes {extra} longer than the order of least total, {}",
                best.total()
            ));
        }
        notices
    }

    /// The goal in one line.
    pub fn line(&self, placed: &Placed) -> String {
        let wanted = match self.objective {
            Objective::Total => "least total".to_owned(),
            Objective::Mean => format!(
                "requests read soonest on average, each counting 1 + priority; total at most {MEAN_EXTRA_PERCENT} % above the least"
            ),
            Objective::Deadline => {
                let deadlines = self.wishes.deadline.iter().flatten();
                let passed = deadlines.clone().filter(|due| **due < Micros::ZERO).count();
                let given = units::count(deadlines.count(), "deadline");
                let passed = match passed {
                    0 => String::new(),
                    passed => format!(" ({passed} passed already)"),
                };
                format!("least time after the deadlines; {given}{passed}")
            }
        };
        let limit = match self.distance_lpos {
            Some(most) => {
                let moved = units::tape_moved(most, &placed.problem.tape().geometry);
                format!("; at most {moved} of tape")
            }
            None => String::new(),
        };
        let spared = match self.spare_tape {
            true => "; a ten-thousandth given for less tape",
            false => "",
        };
        format!("{}: {wanted}{limit}{spared}", self.objective.name())
    }
}
