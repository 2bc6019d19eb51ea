//! What a newcomer types in the first five minutes, in that order.

use crate::program::{Desk, demo, fixture};

#[test]
fn the_commands_of_the_readme_work() {
    let (desk, _) = demo();
    let help = desk.done("--help");
    for verb in ["order", "convert", "profile", "demo", "reproduce"] {
        assert!(help.text().contains(&format!("\n  {verb} ")), "{verb}");
        assert!(
            desk.done(&format!("{verb} --help"))
                .text()
                .contains("Usage: tapewise"),
            "{verb}"
        );
        assert!(
            !desk.done(&format!("{verb} -h")).text().is_empty(),
            "{verb}"
        );
    }
    assert!(desk.done("--version").text().starts_with("tapewise "));
    assert_eq!(desk.run("").code, 2);

    let explained = desk.done(
        "order --profile lto8 --layout ltfs --block-size 204800000 --explain demo/requests.csv -o order.txt",
    );
    assert!(
        explained.err.contains("NOT measured on this cartridge"),
        "{}",
        explained.err
    );
    assert!(
        explained.err.contains("no drive verified"),
        "{}",
        explained.err
    );
    assert_eq!(desk.read("order.txt").lines().count(), 200);

    std::fs::copy(
        fixture("ltfs/lto8-36files.xml"),
        desk.path().join("TAPE.xml"),
    )
    .expect("a copy");
    let all = desk
        .done("convert --ltfs-index TAPE.xml --all-files --to list")
        .text()
        .to_owned();
    desk.put(
        "clips.txt",
        all.lines()
            .step_by(3)
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    );
    let wanted = desk.read("clips.txt").lines().count();
    assert!(wanted >= 12);
    desk.done(
        "order --ltfs-index TAPE.xml --profile lto6 --files-from clips.txt --explain -o order.txt",
    );
    assert_eq!(desk.read("order.txt").lines().count(), wanted);
    desk.done(
        "order --ltfs-index TAPE.xml --profile lto6 --files-from clips.txt --to script \
         --script-from /mnt/ltfs --script-into /data/recalled -o copy.sh",
    );
    let script = desk.read("copy.sh");
    assert_eq!(
        script
            .lines()
            .filter(|line| line.starts_with("copy '"))
            .count(),
        wanted
    );
    assert_eq!(desk.shell("sh -n copy.sh").code, 0);

    desk.put(
        "requests.csv",
        "id,start_block,size_bytes\nb,9000,5000000\na,20,700\n",
    );
    let ran = desk.done("order --profile lto9 --block-size 262144 requests.csv");
    assert_eq!(ran.lines(), ["a", "b"]);
}

#[test]
fn the_commands_of_the_tutorial_work() {
    let desk = Desk::with_clips();
    let words = ["size of a block", "hint: add --block-size BYTES"];
    desk.refused("order --profile lto8 clips.csv", &words);
    let sized = "order --profile lto8 --block-size 524288";
    assert_eq!(desk.done(&format!("{sized} clips.csv")).lines().len(), 8);
    let table = desk.done(&format!("{sized} --explain --all clips.csv")).err;
    for order in [
        "as listed",
        "sorted by block",
        "OPT",
        "tapewise best",
        "READ, whole tape",
    ] {
        assert!(table.contains(order), "{order}: {table}");
    }
    desk.done(&format!("{sized} --json --quiet -o plan.json clips.csv"));
    assert!(
        desk.read("plan.json")
            .starts_with("{\n  \"format\": \"tapewise-plan\",")
    );
    assert!(
        desk.done("profile list")
            .text()
            .contains("0 of 33 drives verified")
    );
    assert!(
        desk.done("profile show lto8")
            .text()
            .starts_with("lto8: LTO-8")
    );
}
