//! The JSON plan: the contract between `tapewise order` and whatever carries the plan out.
//!
//! Every field and its unit is in `docs/reference/plan-json.md`. Within version 1 fields may be added, none changes
//! its meaning; readers ignore fields they do not know. Times are whole microseconds.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::format::{Content, Format};
use crate::json_error::without_position;
use crate::notice::Notice;
use crate::number::excerpt;

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "plan",
    title: "a tapewise plan",
    endings: &[],
    recognise: |head| {
        (head.text().starts_with('{') && head.text().contains("\"tapewise-plan\""))
            .then_some("it names the format tapewise-plan")
    },
    content: Content::Other,
};

/// What the `format` field says.
pub const PLAN_FORMAT: &str = "tapewise-plan";
/// The version of the contract written here.
pub const PLAN_VERSION: u64 = 1;
/// The largest plan read, in bytes; a step takes about 300.
const MAX_PLAN_BYTES: u64 = 1 << 30;

/// A whole plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanDocument {
    /// Always [`PLAN_FORMAT`].
    pub format: String,
    /// [`PLAN_VERSION`].
    pub version: u64,
    /// The version of tapewise that made the plan.
    pub tool_version: String,
    /// The seed of the search: the same seed and input give the same plan.
    pub seed: u64,
    /// The order and its version: `best/3`.
    pub algorithm: String,
    /// What the order is good for: `total`, `mean` or `deadline`.
    #[serde(default = "total")]
    pub objective: String,
    /// Whether the time ran out while the order was looked for: then another run may give another.
    #[serde(default)]
    pub cut_short: bool,
    /// The drive profile.
    pub profile: PlanProfile,
    /// The locate-time model: `lto-regression`.
    pub model: String,
    /// Where the physical positions come from.
    pub positions: PlanPositions,
    /// Where the head stands before the first step.
    pub head: PlanPlace,
    /// Where it has to stand after the last.
    pub end: PlanPlace,
    /// The block size, in bytes; `None` when it is not known.
    pub block_size: Option<u64>,
    /// The cartridge; `None` when the source does not say.
    pub volume: Option<String>,
    /// Sums over all steps.
    pub totals: PlanTotals,
    /// What it takes of the cartridge's life; `None` in plans of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<PlanWear>,
    /// The steps, in the order to carry them out.
    pub steps: Vec<PlanStep>,
    /// What was ignored, assumed or odd.
    pub notices: Vec<Notice>,
}

/// The drive profile of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanProfile {
    /// Its name: `lto8`.
    pub name: String,
    /// How it was verified: `estimate`, `published model`, …
    pub status: String,
}

/// Where the physical positions of a plan come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPositions {
    /// `recorded`, `end-of-wrap`, `probed`, `key-points`, `timed` or `nominal`.
    pub source: String,
    /// How far they may be off, in LPOS; `None` when it is not known.
    pub error_lpos: Option<u64>,
    /// One sentence for a person.
    pub note: String,
}

/// A place of the head.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanPlace {
    /// `bot`, `block`, `position`, `anywhere` or `unloaded`.
    pub at: String,
    /// The partition; `None` where it does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<u8>,
    /// The logical object identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// The wrap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap: Option<u32>,
    /// The longitudinal position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lpos: Option<u64>,
}

/// Sums over all steps of a plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PlanTotals {
    /// Requests.
    pub requests: u64,
    /// Extents read.
    pub extents: u64,
    /// Bytes delivered; what requests share counts for each of them.
    pub bytes: u64,
    /// Time of positioning, reading through gaps included, in microseconds.
    pub locate_us: u64,
    /// Time of reading what was asked for, in microseconds.
    pub read_us: u64,
    /// Time from the first step to the end, in microseconds.
    pub total_us: u64,
    /// The total when map and locate times are as far off as they may be, in microseconds.
    pub worst_us: u64,
    /// A total that no order falls below with these times, in microseconds; `None` where none was computed.
    pub bound_us: Option<u64>,
    /// Whether it is proven that no order is better for the objective, with these times.
    #[serde(default)]
    pub optimal: bool,
    /// The way of the tape under the head, in metres; `None` when the profile does not give it.
    pub distance_m: Option<f64>,
    /// The way of the tape under the head, in LPOS.
    pub distance_lpos: u64,
    /// How often the head changes the wrap.
    pub wrap_changes: u64,
}

/// What a plan takes of the life of its cartridge.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PlanWear {
    /// The way of the tape under the head, as passes from one end to the other.
    pub passes: f64,
    /// Loads: the one in which it is carried out.
    pub loads: u64,
    /// For each measure in which the profile says how long such a cartridge lives.
    pub rated: Vec<PlanRated>,
}

/// What a plan takes of a rated life, in one measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanRated {
    /// `passes`, `metres` or `loads`.
    pub measure: String,
    /// What the cartridge is rated for, in that measure.
    pub life: u64,
    /// The share of it that this plan takes, 1 for all of it.
    pub share: f64,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanAction {
    /// Position to a block.
    Locate,
    /// Read on and throw away, where that is sooner than a locate.
    ReadThrough,
    /// Read and keep.
    Read,
    /// Go to where the head is to be left.
    Finish,
}

/// One extent of one request that a step is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanServed {
    /// The id of the request.
    pub id: String,
    /// Which of its extents, from 0.
    pub extent: u64,
    /// The bytes of the extent that the step delivers; 0 unless the action is read.
    pub bytes: u64,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Its number, from 1, without gaps.
    pub n: u64,
    /// What it does.
    pub action: PlanAction,
    /// What it is for: several extents where requests share blocks.
    pub serves: Vec<PlanServed>,
    /// The partition.
    pub partition: u8,
    /// The first block.
    pub start_block: u64,
    /// The number of blocks; 0 for a locate.
    pub block_count: u64,
    /// The bytes read; 0 unless the action is read.
    pub bytes: u64,
    /// The wrap where the step begins; for a locate, the target's.
    pub wrap: u32,
    /// The longitudinal position where the step begins; for a locate, the target's.
    pub lpos: u64,
    /// The wrap where the step ends.
    pub end_wrap: u32,
    /// The longitudinal position where the step ends.
    pub end_lpos: u64,
    /// When it begins, in microseconds after the plan begins.
    pub begin_us: u64,
    /// How long it takes, in microseconds.
    pub duration_us: u64,
}

/// Why a plan could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file could not be read or written.
    #[error("cannot read or write: {0}")]
    Io(#[from] io::Error),
    /// Larger than any plan.
    #[error("larger than {limit_bytes} bytes; this is not a plan of tapewise")]
    TooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// Not JSON, or a field of the wrong kind.
    #[error("line {line}, column {column}: {what}")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// JSON of another kind.
    #[error("this is not a plan of tapewise: its format is {found}, expected \"{PLAN_FORMAT}\"")]
    WrongFormat {
        /// The `format` field, shortened, or `missing`.
        found: String,
    },
    /// A version this program does not know.
    #[error(
        "the plan is of version {found}, this program reads version {PLAN_VERSION}; use a newer tapewise, or make the plan again"
    )]
    WrongVersion {
        /// The `version` field, or `missing`.
        found: String,
    },
    /// Steps that are not numbered 1, 2, 3, …: a plan that was edited or cut.
    #[error(
        "step {n} stands where step {expected} should; the plan was changed or cut, make it again"
    )]
    StepNumber {
        /// The number found.
        n: u64,
        /// The number expected.
        expected: u64,
    },
}

/// What plans were for before they said so.
fn total() -> String {
    "total".to_string()
}

/// The two fields that say whether to read on; everything else is ignored.
#[derive(Deserialize)]
struct Head {
    format: Option<serde_json::Value>,
    version: Option<serde_json::Value>,
}

impl PlanDocument {
    /// Reads a plan; the format and version are looked at before anything else.
    ///
    /// # Errors
    /// When it is no plan, of another version, or its steps were changed or cut.
    pub fn from_reader(input: impl Read) -> Result<Self, PlanError> {
        let mut bytes = Vec::new();
        input.take(MAX_PLAN_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_PLAN_BYTES {
            return Err(PlanError::TooLarge {
                limit_bytes: MAX_PLAN_BYTES,
            });
        }
        let head: Head = serde_json::from_slice(&bytes).map_err(not_json)?;
        let shown = |value: Option<serde_json::Value>| {
            value.map_or("missing".to_string(), |value| excerpt(&value.to_string()))
        };
        if head.format.as_ref().and_then(|format| format.as_str()) != Some(PLAN_FORMAT) {
            return Err(PlanError::WrongFormat {
                found: shown(head.format),
            });
        }
        if head.version.as_ref().and_then(|version| version.as_u64()) != Some(PLAN_VERSION) {
            return Err(PlanError::WrongVersion {
                found: shown(head.version),
            });
        }
        let plan: PlanDocument = serde_json::from_slice(&bytes).map_err(not_json)?;
        plan.check()?;
        Ok(plan)
    }

    /// Writes the plan, indented, its fields always in the same order, with a line feed at the end.
    ///
    /// # Errors
    /// When writing fails, or the steps are not as [`PlanDocument::from_reader`] wants them.
    pub fn to_writer(&self, out: &mut impl Write) -> Result<(), PlanError> {
        self.check()?;
        serde_json::to_writer_pretty(&mut *out, self)
            .map_err(|error| PlanError::Io(error.into()))?;
        out.write_all(b"\n")?;
        Ok(())
    }

    fn check(&self) -> Result<(), PlanError> {
        for (at, step) in self.steps.iter().enumerate() {
            let expected = at as u64 + 1;
            if step.n != expected {
                return Err(PlanError::StepNumber {
                    n: step.n,
                    expected,
                });
            }
        }
        Ok(())
    }
}

fn not_json(error: serde_json::Error) -> PlanError {
    PlanError::NotJson {
        line: error.line(),
        column: error.column(),
        what: without_position(&error),
    }
}
