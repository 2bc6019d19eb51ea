//! Questions of the page.

use crate::papers::Figure;
use crate::sizing::{Setup, Wish};
use serde::Deserialize;

/// A question, as the page sends it.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// Which drives there are.
    Drives,
    /// Forget everything that was read.
    Clear,
    /// Read a file: an LTFS index, a list of names, or requests in any format.
    Read {
        /// The number by which the page's reader knows it.
        file: u32,
        /// Its name, for messages.
        name: String,
        /// Size of a block in bytes, for requests that do not say it.
        #[serde(default)]
        block_bytes: Option<u64>,
    },
    /// Find what is wanted, and place it on the tapes.
    Place {
        /// The drive's profile.
        drive: String,
        /// Size of a block in bytes, for requests and indexes, which do not say it.
        block_bytes: Option<u64>,
        /// Go on without names that are not found.
        ignore_missing: bool,
    },
    /// Find one order of one tape, and say what it takes.
    Order {
        /// The tape.
        tape: usize,
        /// `fifo`, `sort`, `cta` or `best`, as `--algorithm` names them.
        order: String,
        /// Seed of what is drawn.
        seed: u64,
    },
    /// The head's path in an order that was found.
    Path {
        /// The tape.
        tape: usize,
        /// The order.
        order: String,
    },
    /// Which tape goes into which drive, and when.
    Rota {
        /// Drives that read at once.
        drives: usize,
    },
    /// Which scenarios there are to begin with.
    Scenarios,
    /// The cases of a scenario, with what its sliders begin at.
    Cases {
        /// Its TOML.
        text: String,
    },
    /// How a library responds, after this many replications.
    Response {
        /// The scenario with what the sliders say.
        setup: Setup,
        /// Replications.
        replications: u64,
        /// The target.
        wish: Wish,
    },
    /// What happened around the slowest response of a replication.
    Timeline {
        /// The scenario with what the sliders say.
        setup: Setup,
        /// The replication.
        replication: u64,
    },
    /// A figure of a paper.
    Figure {
        /// Which, with what its sliders say.
        figure: Figure,
    },
    /// An order that was found, as text.
    Write {
        /// The tape.
        tape: usize,
        /// The order.
        order: String,
        /// `list`, `json`, `csv`, `script` or `powershell`.
        format: String,
        /// For a script: where the tape is mounted.
        from: String,
        /// For a script: where files go.
        into: String,
    },
}
