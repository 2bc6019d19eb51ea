//! Any bytes through any decoder: `cargo +nightly fuzz run decoders` in `crates/scsi`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tapewise_scsi::commands::DECODERS;

fuzz_target!(|input: &[u8]| {
    if let Some((which, answer)) = input.split_first() {
        let decoder = DECODERS[usize::from(*which) % DECODERS.len()];
        let _ = (decoder.decode)(answer);
    }
});
