//! Drives and libraries, emulated in a directory: what the verbs do to them, and their exit codes.

use crate::program::{Desk, Ran};
use std::time::Duration;
use tapewise_emulator::{CartridgeSpec, Clock, Library, LibrarySpec};
use tapewise_scsi::TapeDrive;

/// Host bytes of a block, and the tape bytes that each stands for: a block is 1 GB of tape, so that a
/// thousand of them go over tens of wraps.
const BLOCK_BYTES: usize = 64;
const SCALE: u64 = 15_625_000;

/// A drive in the directory `lib` with a cartridge of so many blocks in it.
fn written(kind: &str, blocks: u64) -> Desk {
    let desk = Desk::new();
    let mut spec = LibrarySpec::one_drive(kind, 1);
    spec.cartridges = vec![CartridgeSpec {
        scale: SCALE,
        ..CartridgeSpec::numbered(kind, 1, 1)
    }];
    let directory = desk.path().join("lib");
    let library = Library::create(&directory, &spec, Clock::virtual_time()).expect("a library");
    let barcode = &spec.cartridges[0].barcode;
    library.load_cartridge(barcode).expect("a cartridge loaded");
    let transport = library.transport_to_drive(0).expect("a transport");
    let mut drive = TapeDrive::open(Box::new(transport)).expect("a drive");
    let ready = drive.wait_until_loaded(Duration::from_secs(3 * 3600));
    ready.expect("a drive that is ready");
    drive.rewind().expect("rewound");
    for block in 0..blocks {
        let data = [block as u8; BLOCK_BYTES];
        drive.write(&data).expect("a block written");
    }
    drive.write_filemarks(1, false).expect("a filemark written");
    drive.rewind().expect("rewound");
    drop(drive);
    drop(library);
    until_free(&desk);
    desk
}

/// Waits until nobody has the library that this process has closed: a program that another test starts
/// holds all our files until it runs.
pub fn until_free(desk: &Desk) {
    const BUSY: i32 = 4;
    while desk.run("drive status emulated:lib#drive0").code == BUSY {}
}

/// Runs what ends with a code and says so, and writes nothing on standard output.
fn fails(desk: &Desk, args: &str, code: i32, words: &[&str]) -> Ran {
    let ran = desk.run(args);
    assert_eq!(ran.code, code, "{args}: {}", ran.err);
    assert_eq!(ran.text(), "", "{args}");
    for word in words {
        assert!(
            ran.err.contains(word),
            "{args}: {word:?} not in\n{}",
            ran.err
        );
    }
    ran
}

#[test]
fn every_answer_shown_in_hex_is_read_again_and_says_the_same() {
    let desk = written("lto9", 20);
    let listed = desk.done("drive show --list --json").json();
    let mut asked = 0;
    for line in listed["commands"].as_array().expect("a list") {
        let name = line["command"].as_str().expect("a name");
        if name == "elements" {
            continue;
        }
        let dump = desk.run(&format!("drive show {name} emulated:lib --hex"));
        if dump.code != 0 {
            let kind = ["ILLEGAL REQUEST", "illegal request"];
            let is_unknown = kind.iter().any(|word| dump.err.contains(word));
            assert!(is_unknown, "{name}: {}", dump.err);
            continue;
        }
        asked += 1;
        desk.put("answer.hex", &dump.out);
        // READ POSITION and its like do not change between two looks; sense and logs may.
        let shown = desk.done(&format!("drive show {name} --inhex answer.hex --json"));
        let document = shown.json();
        assert_eq!(document["command"], name);
        desk.put("again.hex", document["hex"].as_str().expect("hex"));
        let again = desk.done(&format!("drive show {name} --inhex again.hex --json"));
        assert_eq!(again.text(), shown.text(), "{name}");
    }
    assert!(asked >= 18, "{asked} commands were answered");
}

#[test]
fn what_a_drive_does_not_list_is_not_sent_to_it() {
    let desk = written("lto5", 2);
    for name in ["wrap-ends", "access-order", "access-order-limits"] {
        let args = format!("drive show {name} emulated:lib");
        fails(&desk, &args, 3, &["was not sent", "does not list it"]);
    }
    fails(
        &desk,
        "drive show nonsense emulated:lib",
        2,
        &["no command \"nonsense\"", "--list"],
    );
    fails(
        &desk,
        "drive show inquiry emulated:lib --page 1",
        2,
        &["has no pages"],
    );
    desk.put("half.hex", "01 80 00 0a 31");
    fails(&desk, "drive show vpd --inhex half.hex", 2, &["VPD page"]);
}

#[test]
fn a_page_and_the_support_of_one_command_are_shown() {
    let desk = written("lto8", 2);
    let opcode = desk.done("drive show opcode emulated:lib --page a3/1f");
    assert!(opcode.text().contains("yes"), "{}", opcode.text());
    let opcode = desk.done("drive show opcode emulated:lib --page a4/1d");
    assert!(opcode.text().contains("no"), "{}", opcode.text());
    let page = desk.done("drive show vpd emulated:lib --page 80");
    assert!(page.text().starts_with("serial number"), "{}", page.text());
}

/// The index partition of an LTFS cartridge is rarely longer than one wrap; nor is the data partition of a small one,
/// where only places that the drive reports count.
#[test]
fn a_check_takes_an_ltfs_cartridge() {
    for scale in [20_000, 1] {
        let desk = Desk::new();
        let index = tapewise_house::fixture("ltfs/lto8-36files.xml");
        desk.put("index.xml", std::fs::read(index).expect("the fixture"));
        desk.done(&format!("emulate lib --ltfs index.xml --scale {scale}"));
        desk.done("drive check emulated:lib --quick -o report.json");
        let report: serde_json::Value =
            serde_json::from_str(&desk.read("report.json")).expect("JSON");
        let judged = &report["judged"]["errors"][0]["locates"];
        assert!(judged.is_u64(), "scale {scale}: {judged}");
    }
}

#[test]
fn a_check_reports_what_the_drive_said_and_how_far_our_times_are_off() {
    let desk = written("lto8", 600);
    let ran = desk.done("drive check emulated:lib -o report.json");
    assert_eq!(ran.text(), "");
    assert!(ran.err.contains("says nothing of any real drive"));
    let text = desk.read("report.json");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["tapewise_drive_report"], 1);
    assert_eq!(report["way"], "emulated");
    assert_eq!(report["cartridge"]["blocks"][0], 601);
    assert_eq!(report["judged"]["profile"], "lto8");
    assert_eq!(report["judged"]["found_by"], "product and density");
    let events = report["events"].as_array().expect("events");
    let locates = events
        .iter()
        .filter(|event| !event["purpose"].is_null())
        .count();
    let all = &report["judged"]["errors"][0];
    assert_eq!(all["kind"], "all");
    assert_eq!(all["locates"], locates);
    // No locate begins after ten minutes of the drive's clock.
    let began = |event: &serde_json::Value| event["at_us"].as_u64().expect("a time");
    let sampled = events.iter().filter(|event| !event["purpose"].is_null());
    assert!(sampled.clone().all(|event| began(event) < 600_000_000));
    assert!(locates >= 24, "{locates} locates");
    assert_eq!(report["ended"], "time-out");
    assert!(ran.err.contains("--minutes gives more"), "{}", ran.err);
    let sense = report["answers"]
        .as_array()
        .expect("answers")
        .iter()
        .filter(|answer| answer["command"] == "sense");
    assert!(sense.count() >= 3);
}

#[test]
fn no_name_is_in_a_report() {
    let desk = written("lto8", 200);
    desk.done("drive check emulated:lib --quick -o report.json");
    let status = desk
        .done("drive status --active emulated:lib --json")
        .json();
    let text = desk.read("report.json");
    for of in ["", "/cartridge"] {
        let key = format!("{of}/serial_number");
        let name = status.pointer(&key).and_then(|name| name.as_str());
        let name = name.expect("a serial number");
        let in_hex: Vec<String> = name.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(!text.contains(name), "{key} {name}");
        assert!(!text.contains(&in_hex.join(" ")), "{key} {name} in hex");
    }
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for of in ["drive", "cartridge"] {
        let pseudonym = report[of]["pseudonym"].as_str().expect("a pseudonym");
        assert_eq!(pseudonym.len(), 6, "{of}");
    }
}

#[test]
fn one_drive_and_one_cartridge_give_the_same_report_again() {
    let report = |_| {
        let desk = written("lto8", 200);
        desk.done("drive check emulated:lib --quick -o report.json");
        desk.read("report.json")
    };
    let [first, second] = [0, 1].map(report);
    assert_eq!(first, second);
}

#[test]
fn a_check_without_data_or_without_a_cartridge_says_so_and_leaves_no_file() {
    let desk = Desk::new();
    desk.done("emulate lib");
    fails(
        &desk,
        "drive check emulated:lib -o report.json",
        1,
        &["no data"],
    );
    desk.done("emulate robot --robot ibm3584 --drives 1 --slots 2 --cartridges 1");
    fails(
        &desk,
        "drive check emulated:robot -o report.json",
        5,
        &["not present"],
    );
    assert_eq!(desk.names(), ["lib", "robot"]);
}

#[test]
fn the_table_of_verified_drives_takes_reports_of_real_drives_only() {
    let desk = written("lto8", 200);
    std::fs::create_dir(desk.path().join("verified")).expect("a directory");
    let empty = desk.done("drive check --table verified");
    assert!(empty.text().contains("so far: **0**"), "{}", empty.text());
    desk.done("drive check emulated:lib --quick -o verified/a.json");
    fails(
        &desk,
        "drive check --table verified",
        2,
        &["a.json", "verifies no real drive"],
    );
    // As if it had come from a drive: twice the same one, so one drive is verified.
    let real = desk
        .read("verified/a.json")
        .replace("\"way\": \"emulated\"", "\"way\": \"sg\"");
    desk.put("verified/a.json", &real);
    desk.put("verified/b.json", &real);
    let table = desk.done("drive check --table verified");
    assert!(table.text().contains("so far: **1**"), "{}", table.text());
    let rows = table
        .lines()
        .into_iter()
        .filter(|line| line.contains("ULT3580-TD8") && line.contains("| lto8 |"));
    assert_eq!(rows.count(), 2, "{}", table.text());
    desk.put("verified/c.json", "{}");
    fails(&desk, "drive check --table verified", 2, &["c.json"]);
}

#[test]
fn the_readme_says_which_drives_are_verified() {
    let root = tapewise_house::root();
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
    let desk = Desk::new();
    let block = desk.done(&format!("drive check --table {}/verified", root.display()));
    assert!(
        readme.contains(block.text()),
        "`make verified` brings the README up to date; it should have\n{}",
        block.text()
    );
}

const REQUESTS: &str = "id,start_block,block_count\na,500,3\nb,20,1\nc,300,2\nd,100,4\n";

/// Orders [`REQUESTS`], whose blocks are 1 GB of tape each.
const ORDER: &str = "order requests.csv --profile lto9 --block-size 1000000000";

#[test]
fn a_drive_that_orders_is_asked_what_it_thinks_of_our_order() {
    let desk = written("lto9", 600);
    desk.put("requests.csv", REQUESTS);
    let plain = desk.done(ORDER);
    let judged = desk.done(&format!("{ORDER} --judge emulated:lib"));
    assert_eq!(judged.text(), plain.text());
    for line in plain.lines() {
        let row = judged.err.lines().find(|row| {
            let mut cells = row.split_whitespace();
            cells.nth(1) == Some(line)
        });
        assert!(
            row.is_some_and(|row| row.contains("00 00 00")),
            "{}",
            judged.err
        );
    }
    assert!(judged.err.contains("process 1, status"), "{}", judged.err);
    assert!(judged.err.contains("our own stand-in"), "{}", judged.err);
    assert!(
        !judged.err.contains("did not return the order"),
        "{}",
        judged.err
    );
}

#[test]
fn a_drive_that_orders_is_asked_also_where_no_profile_of_ours_places_the_requests() {
    let desk = written("ts1155", 600);
    desk.put("requests.csv", REQUESTS);
    let args =
        "order requests.csv --profile ts1155 --block-size 1000000000 --judge emulated:lib -o o.txt";
    let ran = fails(&desk, args, 2, &["process 1, status", "ts1155", "LPOS"]);
    let rows = ran.err.lines().filter(|row| row.contains("00 00 00"));
    let ids: Vec<&str> = rows
        .filter_map(|row| row.split_whitespace().nth(1))
        .collect();
    assert_eq!(ids, ["b", "d", "c", "a"]);
    assert_eq!(desk.names(), ["lib", "requests.csv"]);
}

#[test]
fn a_status_tells_numbers_as_numbers_with_their_units() {
    let desk = written("lto8", 200);
    let args = "drive status --active emulated:lib --json";
    let status = desk.done(args).json();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        let object = value.as_object().expect("an object");
        object.keys().cloned().collect()
    };
    // A contract: docs/reference/drive-status.md.
    let reference = tapewise_house::page("reference/drive-status.md");
    for part in ["", "/cartridge", "/drive_life", "/position"] {
        for key in keys(status.pointer(part).expect(part)) {
            assert!(reference.contains(&format!("`{key}`")), "{part}/{key}");
        }
    }
    assert_eq!(status["is_ready"], true);
    assert_eq!(status["position"]["block"], 0);
    let cartridge = &status["cartridge"];
    assert_eq!(cartridge["density_code"], 0x5e);
    assert_eq!(cartridge["is_write_protected"], false);
    assert!(cartridge["used_bytes"].as_u64() > Some(0));
    let rated = cartridge["rated_life"].as_array().expect("a list");
    let loads = rated.iter().find(|rated| rated["measure"] == "loads");
    let loads = loads.expect("a rating in loads");
    assert_eq!(loads["life"], 20_000.0);
    assert_eq!(loads["used"].as_f64(), cartridge["mounts"].as_f64());
    assert!(status["drive_life"]["tape_moved_m"].is_u64());
    let quiet = desk.done("drive status emulated:lib --json").json();
    assert!(quiet["state"].is_null() && quiet["cartridge"].is_null());
    assert_eq!(keys(&quiet), keys(&status));
}

#[test]
fn a_drive_that_does_not_order_is_not_asked_for_its_judgement() {
    let desk = written("lto8", 600);
    desk.put("requests.csv", REQUESTS);
    fails(
        &desk,
        &format!("{ORDER} --judge emulated:lib -o order.txt"),
        3,
        &["A4h/1Dh", "was not sent"],
    );
    assert_eq!(desk.names(), ["lib", "requests.csv"]);
    desk.refused(
        &format!("{ORDER} --judge emulated:lib --to rao"),
        &["no order to explain, draw or judge"],
    );
    desk.refused(
        &format!("{ORDER} --judge emulated:lib --head wrap=3,lpos=4000"),
        &["--judge", "as a block"],
    );
}
