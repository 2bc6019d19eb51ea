//! The whole way of files onto tape and back on tgtd over iSCSI: its drives neither locate nor tell where
//! they are, its changer has no ACCESS bit.

// The target is that of the tests of tapewise-scsi, which use more of it.

use super::{empty_cache, make_files_of, recall_and_compare};
use crate::program::Desk;
use tapewise_house::tgt::{Target, barcode};

/// Cartridges of the library that hold a volume after two copies of a few files were stored.
const COPIES: u16 = 2;

#[test]
fn files_go_to_a_real_target_and_come_back_and_cartridges_stand_in_their_slots() {
    // Three drives, for this target cuts the last one's identifier off: it cannot be matched.
    let Some(target) = Target::start("an archive on tgtd", 3) else {
        return;
    };
    let desk = Desk::new();
    desk.done(&format!(
        "catalog init A --drive {} --drive {} --changer {} --profile lto8 --copies {COPIES} --segment-size 4194304",
        target.unit(1),
        target.unit(2),
        target.changer()
    ));
    let mut files = make_files_of(&desk, "reel", 12, 2_000_000);
    desk.done("store --archive A reel");
    files.extend(make_files_of(&desk, "more", 6, 500_000));
    let stored = desk.done("store --archive A more");
    for said in ["stored     6 files in the cache", "on tape    6 files"] {
        assert!(stored.text().contains(said), "{}", stored.text());
    }
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
    for slot in 1..=COPIES {
        let verified = desk.done(&format!("catalog verify --archive A {}", barcode(slot)));
        let said = verified.text();
        assert!(
            said.contains("18 copies right") && said.contains("0 lost"),
            "{said}"
        );
    }
    desk.done("catalog check --archive A");
    // The last verb too brought back what it had taken.
    let inventory = desk.done(&format!("library inventory {} --json", target.changer()));
    let drives = inventory.json()["drives"].clone();
    let is_empty = |drive: &serde_json::Value| drive["full"] == false;
    assert!(
        drives.as_array().expect("drives").iter().all(is_empty),
        "{drives}"
    );
}
