//! `catalog index`: searches for a part of a name.

use crate::program::Desk;
use std::fmt::Write;

#[test]
fn with_an_index_a_part_of_a_name_finds_the_same_files() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 1 --slots 4 --cartridges 1");
    desk.done("catalog init A --drive emulated:lib#drive0 --changer emulated:lib --profile lto8");
    let nothing = desk.done("catalog index --archive A");
    assert!(nothing.text().contains("nothing to do"));
    let mut list = "path,volume,start_block,size_bytes\n".to_owned();
    for number in 0..262_200 {
        let reel = number % 977;
        let _ = writeln!(
            list,
            "reel{reel:03}/take-{number:06}.dpx,OLD001L8,{number},700"
        );
    }
    std::fs::write(desk.path().join("old.csv"), list).expect("a list");
    desk.done("catalog add --archive A --block-size 65536 old.csv");
    let ask = || {
        // The second one is newer than the index.
        ["*take-0815*", "*-262199.*", "*dpx*nothing*"].map(|pattern| {
            let ran = desk.run(&format!("catalog find --archive A --paths {pattern}"));
            ran.text().to_owned()
        })
    };
    let before = ask();
    let lines = before.each_ref().map(|text| text.lines().count());
    assert_eq!(lines, [10 * 10, 1, 0]);
    let indexed = desk.done("catalog index --archive A");
    assert_eq!(indexed.text(), "262144 names\n");
    assert_eq!(ask(), before);
    assert!(
        desk.done("catalog index --archive A")
            .text()
            .contains("nothing to do")
    );
    let anew = desk.done("catalog index --archive A --anew --json").json();
    assert_eq!(anew["names"], 262_144);
    desk.done("catalog check --archive A");
}
