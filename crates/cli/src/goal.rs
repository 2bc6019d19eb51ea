//! What an order is to be good for: objective, priorities, deadlines, limits.

use crate::now::now_us;
use crate::{quantity, units};
use tapewise::{Aim, Batch, Found, Goal, Placed};
use tapewise_formats::deadline::Timestamp;
use tapewise_model::Micros;
use tapewise_order::{MEAN_EXTRA_PERCENT, Objective};

/// What the order is to be good for.
#[derive(clap::Args, Clone, Debug)]
pub struct GoalArgs {
    /// What to minimise: total (time until everything is read), mean (time until a request is read, on
    /// average; a request counts 1 + priority), or deadline (time by which deadlines are missed,
    /// weighted in the same way).
    #[arg(long, value_name = "WHAT", default_value = "total", value_parser = objective)]
    pub objective: Objective,
    /// Fail if the order would move more tape than this. The unit is LPOS if the profile does not have
    /// the length of the tape.
    #[arg(long, value_name = "METRES", value_parser = quantity::number_in(0.0..=f64::INFINITY))]
    max_distance: Option<f64>,
    /// Move less tape if that costs at most a ten-thousandth of the objective.
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

fn timestamp(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text)
        .ok_or_else(|| "give a time with its zone, such as 2026-11-21T04:01:25Z".to_owned())
}

impl GoalArgs {
    /// The same as the library takes it; the clock is asked unless --now is given.
    pub fn goal(&self) -> Goal {
        Goal {
            objective: self.objective,
            max_distance: self.max_distance,
            spare_tape: self.spare_tape,
            now_unix_us: self.now_us(),
        }
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

    /// Whether a time was given and no deadline counts from it.
    pub fn has_idle_now(&self) -> bool {
        self.now.is_some() && self.objective != Objective::Deadline
    }

    /// Whether the clock decides: another run gives other deadlines.
    pub fn reads_clock(&self, batch: &Batch) -> bool {
        self.objective == Objective::Deadline && self.now.is_none() && batch.has_points_in_time()
    }

    fn now_us(&self) -> i64 {
        match &self.now {
            Some(now) => now.unix_us(),
            None => now_us(),
        }
    }
}

/// What a person should know of the order that was found for a goal.
pub fn notices(aim: &Aim, found: &Found) -> Vec<String> {
    let mut notices = Vec::new();
    if aim.is_in_lpos {
        notices.push(
            "--max-distance is in LPOS: the profile does not tell the length of the tape"
                .to_owned(),
        );
    }
    if let Some(best) = &found.began_from {
        let extra = Micros(found.total().0 - best.total().0);
        if extra.0 * 100 > best.total().0 * MEAN_EXTRA_PERCENT {
            notices.push(format!(
                "it takes {extra} longer than the order of least total, {}",
                best.total()
            ));
        }
    }
    notices
}

/// The goal in one line.
pub fn line(aim: &Aim, placed: &Placed) -> String {
    let wanted = match aim.objective {
        Objective::Total => "least total".to_owned(),
        Objective::Mean => format!(
            "least mean time until a request is read, each counting 1 + priority; total at most {MEAN_EXTRA_PERCENT} % above that of the default order"
        ),
        Objective::Deadline => {
            let deadlines = aim.wishes.deadline.iter().flatten();
            let passed = deadlines.clone().filter(|due| **due < Micros::ZERO).count();
            let given = units::count(deadlines.count(), "deadline");
            let passed = match passed {
                0 => String::new(),
                passed => format!(" ({passed} passed already)"),
            };
            format!("least time after the deadlines; {given}{passed}")
        }
    };
    let limit = match aim.distance_lpos {
        Some(most) => {
            let moved = units::tape_moved(most, &placed.problem.tape().geometry);
            format!("; at most {moved} of tape")
        }
        None => String::new(),
    };
    let spared = if aim.spare_tape {
        "; up to a ten-thousandth more, for less tape"
    } else {
        ""
    };
    format!("{}: {wanted}{limit}{spared}", aim.objective.name())
}
