//! Acceptance of a new drive or library: what was measured within a budget, as a report that can be taken up again and
//! compared with a former one.

mod compare;
mod report;

pub use compare::{Change, Comparison, RISK, Verdict, half_width};
pub use report::{
    AcceptanceReport, Ended, Kind, LeftOutPart, Part, Stage, VERSION, WrittenCartridge,
};
