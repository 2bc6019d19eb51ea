//! Every parser and decoder of tapewise as a function of bytes that must not panic, hang or eat memory.
//!
//! `make fuzz SECONDS=60` runs them under libFuzzer, which keeps what reaches new code; `tests/replay.rs` runs what was
//! kept (`fixtures/fuzz/TARGET`) with the ordinary tests. Where a reader has a writer, the target also checks that what
//! was written reads back the same. A new reader is one function here and one line in [`TARGETS`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod calls;
mod catalogue;
mod devices;
mod emulated;
mod files;
mod knowledge;
mod volumes;

/// Something that reads bytes of anybody.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is also that of its directory in `fixtures/fuzz`.
    pub name: &'static str,
    /// Reads the bytes; whatever they are, it comes back.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($module:ident: $($name:ident)*;)*) => {
        &[$($(Target { name: stringify!($name), run: $module::$name },)*)*]
    };
}

/// All targets.
pub const TARGETS: &[Target] = targets![
    files: audit_csv bench_csv block_moves_csv bsr csv_requests cta_log cta_tapefile deadline detect event_log hsi
        jsonl list locate_csv ltfs_index ltfs_label ltfs_xattr map_file mhl plan_json rao rao_dump;
    catalogue: catalogue_file catalogue_steps;
    knowledge: fit_log profile scenario;
    devices: decode_any hex replay sense;
    emulated: commands iscsi_pdus;
    calls: capi;
    volumes: archive_settings byte_range coherency inner_path label sums tar;
];

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
