//! What is minimised, and what an order must keep to before that.

use tapewise_model::Micros;

/// How much longer than the least known total an order by mean completion may take, in per cent,
/// where [`Limits::of`] sets the limit.
pub const MEAN_EXTRA_PERCENT: i64 = 5;

/// What is minimised; on a tie always the total, then the tape moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The time until everything is read and the head is where it is to be left.
    Total,
    /// The weighted mean of the times at which requests are read.
    Mean,
    /// The weighted sum of the times by which requests are read after their deadlines.
    Deadline,
}

impl Objective {
    /// All of them, in the order in which tables list them.
    pub const ALL: [Objective; 3] = [Objective::Total, Objective::Mean, Objective::Deadline];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Objective::Total => "total",
            Objective::Mean => "mean",
            Objective::Deadline => "deadline",
        }
    }

    /// The objective of that name.
    pub fn from_name(name: &str) -> Option<Objective> {
        Objective::ALL
            .into_iter()
            .find(|objective| objective.name() == name)
    }
}

/// What an order must keep to, before anything is minimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tape moved, in LPOS units.
    pub distance_lpos: Option<u64>,
    /// Total time.
    pub total: Option<Micros>,
    /// Whether a ten-thousandth of the objective and of the total may be given for less tape moved.
    pub spare_tape: bool,
}

impl Limits {
    /// The usual limits: an order by mean completion takes at most [`MEAN_EXTRA_PERCENT`] longer
    /// than the least known total.
    pub fn of(objective: Objective, least_total: Micros) -> Limits {
        let longest = Micros(least_total.0 + least_total.0 * MEAN_EXTRA_PERCENT / 100);
        Limits {
            total: (objective == Objective::Mean).then_some(longest),
            ..Limits::default()
        }
    }
}
