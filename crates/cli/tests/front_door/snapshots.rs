//! Sessions word for word: help, lists, plans, tables, messages.

#[test]
fn sessions_read_as_they_are_documented() {
    let sessions = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/front_door/snapshots/*.trycmd");
    trycmd::TestCases::new()
        .register_bin("tapewise", std::path::Path::new(crate::program::TAPEWISE))
        .case(sessions);
}
