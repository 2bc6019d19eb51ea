//! The targets under libFuzzer: `TAPEWISE_FUZZ_TARGET` names the one that runs.

#![no_main]

use std::sync::LazyLock;
use tapewise_fuzz::{TARGETS, Target, find};

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("TAPEWISE_FUZZ_TARGET").unwrap_or_default();
    find(&name).unwrap_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("TAPEWISE_FUZZ_TARGET is one of: {}", names.join(" "));
        std::process::exit(2);
    })
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
