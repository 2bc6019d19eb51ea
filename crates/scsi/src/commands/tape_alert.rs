//! TapeAlert (log page 2Eh): 64 flags by which a drive asks for help (SSC-5, 4.2.20 and Annex A).

use crate::report::{Describe, Report};

/// The flags that are set, by number, 1 to 64. Reading the page clears them in most drives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TapeAlerts {
    /// The numbers, rising.
    pub set: Vec<u8>,
}

/// Names by number; numbers between are reserved. 40 to 46 are of the loaders of old.
const FLAGS: &[(u8, &str)] = &[
    (1, "read warning"),
    (2, "write warning"),
    (3, "hard error"),
    (4, "medium"),
    (5, "read failure"),
    (6, "write failure"),
    (7, "medium life"),
    (8, "not data grade"),
    (9, "write protect"),
    (10, "removal prevented"),
    (11, "cleaning medium"),
    (12, "unsupported format"),
    (13, "recoverable mechanical cartridge failure"),
    (14, "unrecoverable mechanical cartridge failure"),
    (15, "cartridge memory failure"),
    (16, "forced eject"),
    (17, "read-only format"),
    (18, "tape directory corrupted on load"),
    (19, "nearing medium life"),
    (20, "cleaning required"),
    (21, "cleaning requested"),
    (22, "expired cleaning medium"),
    (23, "invalid cleaning tape"),
    (24, "retension requested"),
    (25, "multi-port interface error on a primary port"),
    (26, "cooling fan failure"),
    (27, "power supply failure"),
    (28, "power consumption"),
    (29, "drive preventive maintenance required"),
    (30, "hardware A"),
    (31, "hardware B"),
    (32, "primary interface"),
    (33, "eject medium"),
    (34, "microcode update failed"),
    (35, "drive humidity"),
    (36, "drive temperature"),
    (37, "drive voltage"),
    (38, "predictive failure"),
    (39, "diagnostics required"),
    (40, "loader hardware A"),
    (41, "loader stray tape"),
    (42, "loader hardware B"),
    (43, "loader door"),
    (44, "loader hardware C"),
    (45, "loader magazine"),
    (46, "loader predictive failure"),
    (50, "lost statistics"),
    (51, "tape directory invalid at unload"),
    (52, "tape system area write failure"),
    (53, "tape system area read failure"),
    (54, "no start of data"),
    (55, "loading or threading failure"),
    (56, "unrecoverable unload failure"),
    (57, "automation interface failure"),
    (58, "microcode failure"),
    (59, "WORM volume, integrity check failed"),
    (60, "WORM volume, overwrite attempted"),
];

impl TapeAlerts {
    /// The page's code.
    pub const PAGE: u8 = 0x2e;

    /// What a flag is called.
    pub fn name(flag: u8) -> &'static str {
        FLAGS
            .iter()
            .find(|(number, _)| *number == flag)
            .map_or("reserved", |(_, name)| name)
    }
}

impl Describe for TapeAlerts {
    fn describe(&self, report: &mut Report) {
        if self.set.is_empty() {
            report.line("alerts", "none");
        }
        for flag in &self.set {
            report.line(format_args!("alert {flag}"), TapeAlerts::name(*flag));
        }
    }
}
