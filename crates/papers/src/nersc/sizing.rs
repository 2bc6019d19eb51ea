//! How large the library gets, and how long a petabyte takes: arithmetic of the paper's discussion.

use crate::claims::Ours;
use tapewise_plot::Table;

/// Slots of the base frame and of an expansion frame, and how many of those it takes.
const SLOTS: [u32; 2] = [281, 440];
const EXPANSIONS: u32 = 5;
const DRIVES_PER_FRAME: u32 = 12;

/// "A transfer rate in the range of 30 MB/sec", compressed two to one.
const RATE_MB_S: f64 = 30.0;

/// A petabyte, decimal, in MB.
const PETABYTE_MB: f64 = 1e9;

/// Cartridges that were usual, and those of the test without and with compression, in GB.
const USUAL_GB: f64 = 40.0;
const NATIVE_GB: f64 = 100.0;
const COMPRESSED_GB: f64 = 300.0;

pub fn tables(ours: &mut Ours) -> Vec<Table> {
    let slots = SLOTS[0] + EXPANSIONS * SLOTS[1];
    let drives = DRIVES_PER_FRAME * (1 + EXPANSIONS);
    let days = PETABYTE_MB / (f64::from(drives) * RATE_MB_S) / 86_400.0;
    ours.set(
        "largest-library-week",
        days,
        format!("{drives} drives at {RATE_MB_S} MB/s without a pause; no mount, no filemark"),
    );
    let cartridges = |each_gb: f64| (PETABYTE_MB / 1000.0 / each_gb).floor();
    let mut table = Table::new(
        "The largest library, and a petabyte",
        &["what", "theirs", "ours"],
    );
    let mut row = |what: &str, theirs: &str, ours: String| {
        table.row([what.to_owned(), theirs.to_owned(), ours]);
    };
    row("slots of six frames", "2481", slots.to_string());
    row("drives", "72", drives.to_string());
    row(
        "TB without compression",
        "248.1",
        format!("{:.1}", f64::from(slots) * NATIVE_GB / 1000.0),
    );
    row("days for 1 PB on all drives", "7", format!("{days:.2}"));
    row(
        "cartridges of 300 GB for 1 PB",
        "3333",
        format!("{:.0}", cartridges(COMPRESSED_GB)),
    );
    row(
        "cartridges of 40 GB for 1 PB",
        "25000",
        format!("{:.0}", cartridges(USUAL_GB)),
    );
    table.note("the paper says \"in a week\" and counts whole cartridges");
    table.note(
        "3,333 cartridges are more than its 2,481 slots: a petabyte does not fit one library",
    );
    vec![table]
}
