//! Sessions word for word: help, lists, plans, tables, messages.

#[test]
fn sessions_read_as_they_are_documented() {
    let sessions = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/front_door/snapshots/*.trycmd"
    );
    trycmd::TestCases::new()
        .register_bin("tapewise", std::path::Path::new(crate::program::TAPEWISE))
        .case(sessions);
}

/// Printing the sessions again puts processor times back into lines that changed: mask them as `[..]`.
#[test]
fn sessions_hold_no_processor_times() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/front_door/snapshots");
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "trycmd") {
            continue;
        }
        let session = std::fs::read_to_string(&path).expect("a session");
        for line in session.lines() {
            let row = line.trim_end_matches("  <- the order given");
            assert!(!row.ends_with(" ms"), "{}: {line}", path.display());
        }
    }
}
